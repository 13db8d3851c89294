package statetest

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/state"
)

func TestInMemoryObeysTheRules(t *testing.T) {
	t.Parallel()
	Run(t, func(*testing.T) state.Store { return state.InMemory() }, nil)
}

func TestDirObeysTheRules(t *testing.T) {
	t.Parallel()
	roots := map[state.Store]string{}
	open := func(t *testing.T, root string) state.Store {
		store, err := state.Dir(root, nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		roots[store] = root
		return store
	}
	Run(t, func(t *testing.T) state.Store { return open(t, t.TempDir()) }, &Options{
		Bounded: true,
		Reopen:  func(t *testing.T, store state.Store) state.Store { return open(t, roots[store]) },
	})
}

func TestAStoreBehindALossyConnectionObeysTheRules(t *testing.T) {
	t.Parallel()
	Run(t, func(*testing.T) state.Store { return newFaulty(nil) }, lossy)
}

func TestSkippedRulesNameTheirReason(t *testing.T) {
	t.Parallel()
	o := (&Options{Skip: map[string]string{"session-large": "small machine", "create": "no reason"}}).withDefaults()
	require.Equal(t, map[string]string{"create": "no reason"}, o.forStores().Skip)
}

// faulty is an in-memory store that is right until it is told to fail in one way.
type faulty struct {
	mu        sync.Mutex
	documents map[string]document
	writes    int

	name    func(key string) string
	blind   bool // every expectation matches
	late    bool // writes before it reports a conflict
	silent  bool // a lost reply looks like success
	keep    func(content []byte) []byte
	deletes bool // Delete only pretends
	cut     bool // the next write loses its reply
	applied bool // and is applied
}

type document struct {
	content []byte
	version string
}

func newFaulty(breakIt func(*faulty)) *faulty {
	f := &faulty{documents: map[string]document{}, keep: bytes.Clone, name: func(key string) string { return key }}
	if breakIt != nil {
		breakIt(f)
	}
	return f
}

// lossy keeps contents small, since the rules for large ones are checked by the tests above.
var lossy = &Options{MaxBytes: 1 << 18, LoseReply: func(_ *testing.T, store state.Store, applied bool) {
	f := store.(*faulty)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut, f.applied = true, applied
}}

func (f *faulty) begin(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return docstore.CheckKey(key)
}

func (f *faulty) Read(ctx context.Context, key string) ([]byte, string, error) {
	if err := f.begin(ctx, key); err != nil {
		return nil, "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.documents[f.name(key)]
	if !ok {
		return nil, "", fs.ErrNotExist
	}
	return append([]byte{}, d.content...), d.version, nil
}

func (f *faulty) Write(ctx context.Context, key string, content []byte, expected string) (string, error) {
	if err := f.begin(ctx, key); err != nil {
		return "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	actual := f.documents[f.name(key)].version
	conflict := &state.ConflictError{Key: key, Expected: expected, Actual: actual}
	matches := actual == expected || f.blind
	if !matches && !f.late {
		return "", conflict
	}
	cut := f.cut
	f.cut = false
	f.writes++
	next := document{content: append([]byte{}, f.keep(content)...), version: fmt.Sprintf("v%d", f.writes)}
	if !cut || f.applied {
		f.documents[f.name(key)] = next
	}
	switch {
	case !matches:
		return "", conflict
	case cut && !f.silent:
		return "", fmt.Errorf("%w: no reply", state.ErrUnknownOutcome)
	}
	return next.version, nil
}

func (f *faulty) Delete(ctx context.Context, key, expected string) error {
	if err := f.begin(ctx, key); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.documents[f.name(key)]
	switch {
	case !ok || f.deletes:
		return nil
	case d.version != expected && !f.blind:
		return &state.ConflictError{Key: key, Expected: expected, Actual: d.version}
	}
	delete(f.documents, f.name(key))
	return nil
}

// recorder takes a rule's failures in the place of a *testing.T.
type recorder struct {
	mu       sync.Mutex
	messages []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.messages = append(r.messages, fmt.Sprintf(format, args...))
}

func (r *recorder) FailNow() { runtime.Goexit() }

// broken returns, by rule, how a store fails.
func broken(t *testing.T, breakIt func(*faulty)) map[string]string {
	o := lossy.withDefaults()
	failures := map[string]string{}
	for _, rule := range sessionRules {
		store := newFaulty(breakIt)
		if rule.unmet(o, store) != "" {
			continue
		}
		var to recorder
		done := make(chan struct{})
		go func() {
			defer close(done)
			rule.run(t, &to, store, o)
		}()
		<-done
		if len(to.messages) > 0 {
			failures[rule.name] = strings.Join(to.messages, "\n")
			require.Contains(t, failures[rule.name], rule.text, "the message says which rule was broken")
		}
	}
	return failures
}

func TestEveryBrokenStoreFailsTheSessionRuleThatItBreaks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		breakIt func(*faulty)
		want    []string
	}{
		"last writer wins":                  {func(f *faulty) { f.blind = true }, []string{"session-two-runners", "session-many-runners"}},
		"conflict reported after the write": {func(f *faulty) { f.late = true }, []string{"session-two-runners"}},
		"truncated content": {
			func(f *faulty) { f.keep = func(content []byte) []byte { return content[:min(len(content), 1<<16)] } },
			[]string{"session-large"},
		},
		"text made ASCII": {
			func(f *faulty) {
				f.keep = func(content []byte) []byte {
					return bytes.Map(func(r rune) rune {
						if r > 0x7F {
							return '?'
						}
						return r
					}, content)
				}
			},
			[]string{"session-text"},
		},
		"one document for all keys": {
			func(f *faulty) { f.name = func(string) string { return "" } },
			[]string{"session-apart", "session-reset"},
		},
		"an unknown outcome taken for success": {func(f *faulty) { f.silent = true }, []string{"session-lost-reply"}},
		"delete that only pretends":            {func(f *faulty) { f.deletes = true }, []string{"session-reset"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failures := broken(t, c.breakIt)
			for _, rule := range c.want {
				require.Contains(t, failures, rule)
			}
		})
	}
}

func TestARightStoreBreaksNoSessionRule(t *testing.T) {
	t.Parallel()
	require.Empty(t, broken(t, nil))
}
