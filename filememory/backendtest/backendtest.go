package backendtest

import (
	"testing"
	"time"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/docstore/storetest"
)

// Options says what a backend can do. nil means all defaults.
type Options struct {
	// MaxBytes is the size of the largest content to try. 0 means filememory.MaxDocumentBytes, which every backend must keep.
	MaxBytes int

	// Bounded: a content of more than MaxBytes is refused by the backend.
	Bounded bool

	// TextOnly: contents that are not valid UTF-8, or have a NUL, are refused by the backend. They must be refused, not
	// changed. A file memory is valid UTF-8 but may have a NUL in it.
	TextOnly bool

	// NoEmpty: a content of no bytes is refused by the backend. It must be refused, not taken for an absent document. A
	// file memory is never empty.
	NoEmpty bool

	// Patience is how long a call may take at most. 0 means 10 seconds.
	Patience time.Duration

	// Reopen returns a second backend over the same documents, as another process would open it, and leaves closing it to
	// t.Cleanup. nil: the backend has only one opening, as one in memory has.
	Reopen func(t *testing.T, backend filememory.Backend) filememory.Backend

	// LoseReply makes the next Write of backend lose its reply: with applied, after the write has happened, otherwise
	// before. A proxy or a transport that drops a connection can do it. nil: the rules about unknown outcomes are
	// skipped.
	LoseReply func(t *testing.T, backend filememory.Backend, applied bool)

	// Skip names rules that are not checked, each with the reason, which the skipped subtest reports. It is for a backend
	// that is known to break a rule, and such a backend must say so where it is constructed.
	Skip map[string]string
}

// Run checks every rule in a subtest of its name. open returns an empty backend; it is called once for each rule and
// leaves cleaning up to t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) filememory.Backend, opts *Options) {
	t.Helper()
	storetest.Run(t, func(t *testing.T) docstore.Store { return open(t) }, opts.forStores())
}

func (o *Options) forStores() *storetest.Options {
	if o == nil {
		o = &Options{}
	}
	out := &storetest.Options{
		MaxBytes: o.MaxBytes, Bounded: o.Bounded, TextOnly: o.TextOnly, NoEmpty: o.NoEmpty, Patience: o.Patience, Skip: o.Skip,
	}
	if out.MaxBytes == 0 {
		out.MaxBytes = filememory.MaxDocumentBytes
	}
	if o.Reopen != nil {
		out.Reopen = func(t *testing.T, store docstore.Store) docstore.Store { return o.Reopen(t, store) }
	}
	if o.LoseReply != nil {
		out.LoseReply = func(t *testing.T, store docstore.Store, applied bool) { o.LoseReply(t, store, applied) }
	}
	return out
}
