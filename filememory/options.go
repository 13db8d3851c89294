package filememory

import (
	"context"
	"fmt"

	"github.com/recollect-go/recollect/memory"
)

// DefaultMaxCharacters is the limit of the recalled message unless Options say otherwise.
const DefaultMaxCharacters = 4000

// Options configures New. nil means all defaults.
type Options struct {
	// MaxCharacters is the largest recalled message, heading and guidance included, in UTF-16 units. 0 means
	// DefaultMaxCharacters. It is checked when a text is saved: a document that is over it already is recalled whole and
	// can be shortened.
	MaxCharacters int

	// ReadOnly gives the model no tools. The host can still save and remove.
	ReadOnly bool

	// Validate may refuse a text, such as one that looks like a password, by returning an error, whose text the model
	// sees. It gets the text as it would be stored, before any storage is touched. nil accepts every text.
	Validate func(ctx context.Context, r *ValidateRequest) error

	// ApproveSave and ApproveRemove decide whether a person must agree before the tool runs. nil: never. See memory.Tool.
	ApproveSave   func(ctx context.Context, call *memory.ToolCall) (bool, error)
	ApproveRemove func(ctx context.Context, call *memory.ToolCall) (bool, error)
}

// ValidateRequest is a text that is about to be saved.
type ValidateRequest struct {
	Slot string
	Key  string
	Text string
}

func (o *Options) check() error {
	if o.MaxCharacters < 0 {
		return fmt.Errorf("%w: MaxCharacters is %d; it must be positive, or 0 for %d",
			ErrOptionInvalid, o.MaxCharacters, DefaultMaxCharacters)
	}
	return nil
}
