package notes

import (
	"context"
	"errors"
	"fmt"

	"github.com/recollect-go/recollect/memory"
)

// Defaults of ProviderOptions.
const (
	DefaultFacts      = 8
	DefaultUtterances = 4
	DefaultMaxBytes   = 4000
	DefaultReplays    = 64
)

// ProviderOptions configures NewProvider. nil means all defaults.
type ProviderOptions struct {
	// Facts and Utterances are how many notes of each kind a recall shows at most. Facts come first and are never displaced
	// by utterances. 0 means the default, a negative number none.
	Facts      int
	Utterances int

	// MaxBytes is how many bytes of UTF-8 the items of a recall have together at most, their headings included. A note is
	// shown whole or not at all, and what was left out for its size is named. Default: DefaultMaxBytes; at least 500.
	MaxBytes int

	// NoRecall leaves it to the model to look: nothing is recalled by itself, the tools are offered.
	NoRecall bool

	// Replays is how many recalls of a scope are kept, the newest, so that one that is repeated returns the same although
	// notes were added since. 0 means DefaultReplays. A negative number keeps none: then a turn whose start is repeated may
	// have to be resumed, see memory.ErrReplay.
	Replays int

	// Capture says what of a turn is kept as utterances. The zero value keeps what people said, or nothing if there is an
	// Extractor.
	Capture Capture

	// Extractor makes facts of a turn. nil: none.
	Extractor Extractor

	// Validate may refuse a text, such as one that looks like a password, by returning an error. The save tool shows that
	// error to the model. Captured messages and extracted facts that are refused are left out. nil accepts every text.
	Validate func(ctx context.Context, r *ValidateRequest) error

	// ReadOnly offers no tools that change anything, and captures nothing.
	ReadOnly bool

	// ApproveSave and ApproveForget decide whether a person must agree before the tool runs. ApproveSave nil: never.
	// ApproveForget nil: always, but for the preview of a broad forget, for which it is not asked; NeverAsk turns it off.
	// See memory.Tool.
	ApproveSave   func(ctx context.Context, call *memory.ToolCall) (bool, error)
	ApproveForget func(ctx context.Context, call *memory.ToolCall) (bool, error)
}

// NeverAsk is an approval that is never needed.
func NeverAsk(context.Context, *memory.ToolCall) (bool, error) { return false, nil }

// Capture says which messages of a turn are kept.
type Capture uint8

const (
	// CaptureDefault is CaptureUser, or CaptureNothing if there is an Extractor.
	CaptureDefault Capture = iota
	// CaptureNothing keeps no messages.
	CaptureNothing
	// CaptureUser keeps what people said.
	CaptureUser
	// CaptureConversation keeps that and what the model answered.
	CaptureConversation
)

// ValidateRequest is a text that is about to be stored.
type ValidateRequest struct {
	Slot   string
	Key    string
	Kind   Kind
	Source Source
	Text   string
}

// Provider is the searchable memory of a Store. It is a memory.Provider, may serve several slots, and may be used
// concurrently.
type Provider struct {
	store *Store
	opts  ProviderOptions
}

var _ memory.Provider = (*Provider)(nil)

// NewProvider returns the provider that keeps its notes in store, or an error matching ErrOption that lists every problem.
func NewProvider(store *Store, opts *ProviderOptions) (*Provider, error) {
	var o ProviderOptions
	if opts != nil {
		o = *opts
	}
	o.withDefaults()
	var problems []error
	if store == nil {
		problems = append(problems, fmt.Errorf("%w: no store", ErrOption))
	}
	if o.MaxBytes < minBytes {
		problems = append(problems, fmt.Errorf("%w: MaxBytes is %d, less than %d", ErrOption, o.MaxBytes, minBytes))
	}
	if o.Capture > CaptureConversation {
		problems = append(problems, fmt.Errorf("%w: Capture is %d", ErrOption, o.Capture))
	}
	if o.ReadOnly && (o.Extractor != nil || o.Capture > CaptureNothing) {
		problems = append(problems, fmt.Errorf("%w: a read-only memory captures nothing", ErrOption))
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return &Provider{store: store, opts: o}, nil
}

func (o *ProviderOptions) withDefaults() {
	orDefault := func(value *int, otherwise int) {
		if *value == 0 {
			*value = otherwise
		}
		*value = max(*value, 0)
	}
	orDefault(&o.Facts, DefaultFacts)
	orDefault(&o.Utterances, DefaultUtterances)
	orDefault(&o.Replays, DefaultReplays)
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.Capture == CaptureDefault {
		o.Capture = CaptureUser
		if o.Extractor != nil || o.ReadOnly {
			o.Capture = CaptureNothing
		}
	}
}

// Attach returns the handlers for a slot. A slot's name has at most 56 characters, so that the names of the tools fit.
func (p *Provider) Attach(slot memory.SlotInfo) (memory.Handlers, error) {
	if name := slot.ToolName(longestTool); len(name) > 64 {
		return memory.Handlers{}, fmt.Errorf("%w: slot %q: the tool %q would have more than 64 characters", ErrOption, slot.Name, name)
	}
	h := memory.Handlers{
		Recall:          p.recall,
		RecallCompacted: p.recallCompacted,
		Tools:           p.tools,
		Erase:           func(ctx context.Context, r *memory.EraseRequest) error { return p.store.Erase(ctx, r.Key) },
		Export:          p.export,
	}
	if p.opts.Extractor != nil || p.opts.Capture > CaptureNothing {
		h.CaptureTurn, h.CaptureCompaction = p.captureTurn, p.captureCompaction
	}
	return h, nil
}
