package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
)

var contextRules = []Rule{
	{
		Name: "context-cancelled",
		Text: "With a context that was cancelled every method returns promptly with an error matching context.Canceled, and nothing happens.",
		check: func(p *probe) {
			ctx, cancel := context.WithCancel(p.ctx())
			cancel()
			p.checkEnded(ctx, context.Canceled)
		},
	},
	{
		Name: "context-expired",
		Text: "With a context whose deadline has passed every method returns promptly with an error matching context.DeadlineExceeded, and nothing happens.",
		check: func(p *probe) {
			ctx, cancel := context.WithDeadline(p.ctx(), time.Now().Add(-time.Second))
			defer cancel()
			p.checkEnded(ctx, context.DeadlineExceeded)
		},
	},
	{
		Name: "context-during",
		Text: "When a context ends during a call, the call returns promptly, as a success, a conflict, or an error matching ctx.Err(); " +
			"what it reported as written is written, what it reported as a conflict is not; and the store goes on working.",
		check: checkEndedDuring,
	},
}

// checkEnded calls every method with ctx, which has ended, and wants that error and no effect.
func (p *probe) checkEnded(ctx context.Context, want error) {
	version := p.create(key(1), "one")
	calls := map[string]func() error{
		"Read":                    func() error { _, _, err := p.store.Read(ctx, key(1)); return err },
		"Read of nothing":         func() error { _, _, err := p.store.Read(ctx, key(2)); return err },
		"Write":                   func() error { _, err := p.store.Write(ctx, key(1), []byte("two"), version); return err },
		"Write of a new document": func() error { _, err := p.store.Write(ctx, key(2), []byte("two"), ""); return err },
		"Delete":                  func() error { return p.store.Delete(ctx, key(1), version) },
	}
	for name, call := range calls {
		for _, err := range p.promptly(name, func() []error { return []error{call()} }) {
			require.ErrorIs(p, err, want, name)
			p.requireSane(err)
		}
	}
	p.requireStored(key(1), "one", version)
	p.requireAbsent(key(2))
}

// checkEndedDuring lets writers compete for one document with contexts that end while they are at it.
func checkEndedDuring(p *probe) {
	const rounds = 5
	for round := range rounds {
		before := p.create(key(round), "before")
		ctx, cancel := context.WithTimeout(p.ctx(), time.Duration(round)*time.Millisecond)
		versions := make([]string, contenders)
		errs := p.promptly("Write with a context that ends", func() []error {
			return concurrently(contenders, func(i int) (err error) {
				versions[i], err = p.store.Write(ctx, key(round), fmt.Appendf(nil, "by %d", i), before)
				return err
			})
		})
		cancel()
		p.requireOutcome(key(round), before, versions, errs)
		p.requireUsable(key(round))
	}
}

// requireOutcome fails unless what is stored is what the results of the writes allow.
func (p *probe) requireOutcome(k, before string, versions []string, errs []error) {
	content, version, err := p.store.Read(p.ctx(), k)
	require.NoError(p, err)
	stored := string(content)
	written := -1
	for i, err := range errs {
		p.requireSane(err)
		switch {
		case err == nil:
			require.Equal(p, -1, written, "two writes with one expected version succeeded")
			written = i
			require.Equal(p, fmt.Sprintf("by %d", i), stored, "a write that succeeded is not there")
			require.Equal(p, versions[i], version)
		case errors.Is(err, docstore.ErrConflict):
			require.NotEqual(p, fmt.Sprintf("by %d", i), stored, "a write that was reported as a conflict is there")
		default:
			require.ErrorIs(p, err, context.DeadlineExceeded)
		}
	}
	if stored == "before" {
		require.Equal(p, before, version)
	}
}

// requireUsable fails unless k can be written. A write whose caller has gone may still arrive, so a few conflicts are fine.
func (p *probe) requireUsable(k string) {
	const tries = 5
	var err error
	for range tries {
		var version string
		_, version, err = p.store.Read(p.ctx(), k)
		require.NoError(p, err)
		if _, err = p.store.Write(p.ctx(), k, []byte("after"), version); !errors.Is(err, docstore.ErrConflict) {
			break
		}
	}
	require.NoError(p, err, "Write after contexts ended")
}
