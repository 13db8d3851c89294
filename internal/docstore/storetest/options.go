package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recollect-go/recollect/internal/docstore"
)

// Options says what a store can do. nil means all defaults.
type Options struct {
	// MaxBytes is the size of the largest content to try. 0 means 65536.
	MaxBytes int

	// Bounded: a content of more than MaxBytes is refused by the store.
	Bounded bool

	// TextOnly: contents that are not valid UTF-8, or have a NUL, are refused by the store. They must be refused, not changed.
	TextOnly bool

	// NoEmpty: a content of no bytes is refused by the store. It must be refused, not taken for an absent document.
	NoEmpty bool

	// Patience is how long a call may take at most. 0 means 10 seconds.
	Patience time.Duration

	// Reopen returns a second store over the same documents, as another process would open it. nil: the store has only
	// one opening.
	Reopen func(t *testing.T, store docstore.Store) docstore.Store

	// LoseReply makes the next Write of store lose its reply: with applied, after the write has happened, otherwise
	// before. nil: rules about unknown outcomes are skipped.
	LoseReply func(t *testing.T, store docstore.Store, applied bool)

	// Skip names rules that are not checked, each with the reason, which the skipped subtest reports. A name that is no rule's,
	// and an empty reason, fail the test.
	Skip map[string]string
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.MaxBytes == 0 {
		out.MaxBytes = 65536
	}
	if out.Patience == 0 {
		out.Patience = 10 * time.Second
	}
	return out
}

// CheckSkip returns an error that lists every entry of an Options.Skip that names no rule or gives no reason, or nil.
func CheckSkip(skip map[string]string, isRule func(name string) bool) error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(skip)) {
		if !isRule(name) {
			problems = append(problems, fmt.Errorf("Options.Skip names a rule that does not exist: %q", name))
		}
		if strings.TrimSpace(skip[name]) == "" {
			problems = append(problems, fmt.Errorf("Options.Skip gives no reason for %q", name))
		}
	}
	return errors.Join(problems...)
}

// IsRule reports whether a rule has this name.
func IsRule(name string) bool {
	return slices.ContainsFunc(Rules(), func(r Rule) bool { return r.Name == name })
}
