package statetest

import (
	"testing"
	"time"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/docstore/storetest"
	"github.com/recollect-go/recollect/state"
)

// Options says what a store can do. nil means all defaults.
type Options struct {
	// MaxBytes is the size of the largest content to try. 0 means state.DefaultMaxBytes, which every store should keep.
	MaxBytes int

	// Bounded: a content of more than MaxBytes is refused by the store.
	Bounded bool

	// TextOnly: contents that are not valid UTF-8, or have a NUL, are refused by the store. They must be refused, not
	// changed. A checkpoint is valid UTF-8 without a NUL.
	TextOnly bool

	// NoEmpty: a content of no bytes is refused by the store. It must be refused, not taken for an absent document. A
	// checkpoint is never empty.
	NoEmpty bool

	// Patience is how long a call may take at most. 0 means 10 seconds.
	Patience time.Duration

	// Reopen returns a second store over the same documents, as another process would open it, and leaves closing it to
	// t.Cleanup. nil: the store has only one opening, as one in memory has.
	Reopen func(t *testing.T, store state.Store) state.Store

	// LoseReply makes the next Write of store lose its reply: with applied, after the write has happened, otherwise before.
	// A proxy or a transport that drops a connection can do it. nil: the rules about unknown outcomes are skipped.
	LoseReply func(t *testing.T, store state.Store, applied bool)

	// Skip names rules that are not checked, each with the reason, which the skipped subtest reports. It is for a store that
	// is known to break a rule, and such a store must say so where it is constructed. A name that is no rule's, and an empty
	// reason, fail the test.
	Skip map[string]string
}

func (o *Options) withDefaults() *Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.MaxBytes == 0 {
		out.MaxBytes = state.DefaultMaxBytes
	}
	return &out
}

// forStores returns the options for the rules of the contract.
func (o *Options) forStores() *storetest.Options {
	out := &storetest.Options{
		MaxBytes: o.MaxBytes, Bounded: o.Bounded, TextOnly: o.TextOnly, NoEmpty: o.NoEmpty, Patience: o.Patience,
		Skip: map[string]string{},
	}
	for name, reason := range o.Skip {
		if !isSessionRule(name) {
			out.Skip[name] = reason
		}
	}
	if o.Reopen != nil {
		out.Reopen = func(t *testing.T, store docstore.Store) docstore.Store { return o.Reopen(t, store) }
	}
	if o.LoseReply != nil {
		out.LoseReply = func(t *testing.T, store docstore.Store, applied bool) { o.LoseReply(t, store, applied) }
	}
	return out
}

func isSessionRule(name string) bool {
	for _, rule := range sessionRules {
		if rule.name == name {
			return true
		}
	}
	return false
}

func isRule(name string) bool { return isSessionRule(name) || storetest.IsRule(name) }
