package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
)

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
func broken(t *testing.T, open func() docstore.Store, opts *Options) map[string]string {
	o := opts.withDefaults()
	failures := map[string]string{}
	for _, rule := range Rules() {
		store := open()
		if rule.unmet(&o, store) != "" {
			continue
		}
		var to recorder
		done := make(chan struct{})
		go func() {
			defer close(done)
			rule.run(t, &to, store, &o)
		}()
		<-done
		if len(to.messages) > 0 {
			failures[rule.Name] = strings.Join(to.messages, "\n")
			require.Contains(t, failures[rule.Name], rule.Text, "the message says which rule was broken")
		}
	}
	return failures
}

// document of a broken store.
type stored struct {
	content []byte
	version string
}

// store is an in-memory store that is right until one of its parts is replaced by a broken one.
type store struct {
	mu        sync.Mutex
	documents map[string]stored
	writes    int
	lose      func(apply func()) // loses the reply of the next write

	name    func(key string) string
	check   func(key string) error
	ended   func(ctx context.Context) error
	match   func(actual, expected string) bool
	create  func(exists bool) bool // whether a create may go on
	deletes func(actual, expected string) bool
	version func(writes int, content []byte) string
	keep    func(content []byte) []byte
	give    func(content []byte) []byte
	unknown func(key, expected string) error
	late    bool // writes before it looks at the version
}

func newStore(breakIt func(s *store)) *store {
	equal := func(actual, expected string) bool { return actual == expected }
	s := &store{
		documents: map[string]stored{},
		name:      func(key string) string { return key },
		check:     docstore.CheckKey,
		ended:     func(ctx context.Context) error { return ctx.Err() },
		match:     equal,
		create:    func(exists bool) bool { return !exists },
		deletes:   equal,
		version:   func(writes int, _ []byte) string { return fmt.Sprintf("v%d", writes) },
		keep:      slices.Clone[[]byte],
		give:      func(content []byte) []byte { return append([]byte{}, content...) },
		unknown:   func(string, string) error { return fmt.Errorf("%w: no reply", docstore.ErrUnknownOutcome) },
	}
	breakIt(s)
	return s
}

func (s *store) Read(ctx context.Context, key string) ([]byte, string, error) {
	if err := errors.Join(s.check(key), s.ended(ctx)); err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.documents[s.name(key)]
	if !ok {
		return nil, "", fs.ErrNotExist
	}
	return s.give(d.content), d.version, nil
}

func (s *store) Write(ctx context.Context, key string, content []byte, expected string) (string, error) {
	if err := errors.Join(s.check(key), s.ended(ctx)); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	actual, exists := s.documents[s.name(key)]
	matches := s.match(actual.version, expected)
	if expected == "" {
		matches = s.create(exists)
	}
	if !matches && !s.late {
		return "", &docstore.ConflictError{Key: key, Expected: expected, Actual: actual.version}
	}
	s.writes++
	next := stored{content: s.keep(content), version: s.version(s.writes, content)}
	if s.lose != nil {
		lose := s.lose
		s.lose = nil
		lose(func() { s.documents[s.name(key)] = next })
		return "", s.unknown(key, expected)
	}
	s.documents[s.name(key)] = next
	if !matches {
		return "", &docstore.ConflictError{Key: key, Expected: expected, Actual: actual.version}
	}
	return next.version, nil
}

func (s *store) Delete(ctx context.Context, key, expected string) error {
	if err := errors.Join(s.check(key), s.ended(ctx)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	actual, exists := s.documents[s.name(key)]
	if exists && !s.deletes(actual.version, expected) {
		return &docstore.ConflictError{Key: key, Expected: expected, Actual: actual.version}
	}
	delete(s.documents, s.name(key))
	return nil
}

func (s *store) loseReply(applied bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lose = func(apply func()) {
		if applied {
			apply()
		}
	}
}

var losing = &Options{
	Patience:  5 * time.Second,
	LoseReply: func(_ *testing.T, s docstore.Store, applied bool) { s.(*store).loseReply(applied) },
}

func TestEveryBrokenStoreFailsTheRuleThatItBreaks(t *testing.T) {
	t.Parallel()
	always := func(string, string) bool { return true }
	for name, c := range map[string]struct {
		breakIt func(s *store)
		want    []string // among the rules that fail
	}{
		"last writer wins": {
			func(s *store) { s.match = always },
			[]string{"write-stale", "write-unknown-version", "race-one-write-wins", "race-counter"},
		},
		"version by timestamp": {
			func(s *store) {
				s.version = func(int, []byte) string { return time.Now().Format(time.RFC3339Nano) }
			},
			[]string{"version-is-no-time"},
		},
		"version by timestamp in milliseconds": {
			func(s *store) {
				s.version = func(int, []byte) string { return fmt.Sprint(time.Now().UnixMilli()) }
			},
			[]string{"version-is-no-time", "version-changes"},
		},
		"version by the size of the content": {
			func(s *store) {
				s.version = func(_ int, content []byte) string { return fmt.Sprintf("s%d", len(content)) }
			},
			[]string{"version-changes", "version-not-reused-after-delete"},
		},
		"create that overwrites": {
			func(s *store) { s.create = func(bool) bool { return true } },
			[]string{"create-existing", "race-one-create-wins"},
		},
		"conflict reported after the write happened": {
			func(s *store) { s.late = true },
			[]string{"write-stale", "create-existing", "write-absent", "write-deleted"},
		},
		"keys folded to lower case": {
			func(s *store) { s.name = strings.ToLower },
			[]string{"key-case"},
		},
		"keys compared without what a file name may lose": {
			func(s *store) { s.name = func(key string) string { return strings.ReplaceAll(key, "-", "_") } },
			[]string{"key-alike"},
		},
		"keys not checked": {
			func(s *store) { s.check = func(string) error { return nil } },
			[]string{"key-invalid"},
		},
		"read that returns a shared buffer": {
			func(s *store) { s.give = func(content []byte) []byte { return content } },
			[]string{"read-result-is-the-callers"},
		},
		"write that keeps the caller's buffer": {
			func(s *store) { s.keep = func(content []byte) []byte { return content } },
			[]string{"write-argument-is-the-callers"},
		},
		"truncated content": {
			func(s *store) {
				s.keep = func(content []byte) []byte { return slices.Clone(content[:min(len(content), 4096)]) }
			},
			[]string{"content-sizes"},
		},
		"content cut at NUL": {
			func(s *store) {
				s.keep = func(content []byte) []byte {
					text, _, _ := strings.Cut(string(content), "\x00")
					return []byte(text)
				}
			},
			[]string{"content-bytes"},
		},
		"content made valid": {
			func(s *store) {
				s.keep = func(content []byte) []byte { return []byte(strings.ToValidUTF8(string(content), "\ufffd")) }
			},
			[]string{"content-bytes"},
		},
		"content trimmed": {
			func(s *store) {
				s.keep = func(content []byte) []byte { return []byte(strings.TrimSpace(string(content))) }
			},
			[]string{"content-exact"},
		},
		"an empty content is an absent document": {
			func(s *store) {
				s.create = func(bool) bool { return len(s.documents[s.name(key(2))].content) == 0 }
			},
			[]string{"content-empty"},
		},
		"ignored context": {
			func(s *store) { s.ended = func(context.Context) error { return nil } },
			[]string{"context-cancelled", "context-expired"},
		},
		"an error of its own when the context ends": {
			func(s *store) {
				s.ended = func(ctx context.Context) error {
					if ctx.Err() != nil {
						return errors.New("interrupted")
					}
					return nil
				}
			},
			[]string{"context-cancelled", "context-expired", "context-during"},
		},
		"delete without condition": {
			func(s *store) { s.deletes = always },
			[]string{"delete-stale", "delete-unconditional", "race-one-delete-or-write-wins"},
		},
		"an unknown outcome disguised as a conflict": {
			func(s *store) {
				s.unknown = func(key, expected string) error { return &docstore.ConflictError{Key: key, Expected: expected} }
			},
			[]string{"outcome-unknown-applied", "outcome-unknown-not-applied", "outcome-unknown-create"},
		},
		"an unknown outcome that is a conflict too": {
			func(s *store) {
				s.unknown = func(key, expected string) error {
					return errors.Join(docstore.ErrUnknownOutcome, &docstore.ConflictError{Key: key, Expected: expected})
				}
			},
			[]string{"outcome-unknown-applied"},
		},
		"an unknown outcome reported as success": {
			func(s *store) { s.unknown = func(string, string) error { return nil } },
			[]string{"outcome-unknown-not-applied"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failures := broken(t, func() docstore.Store { return newStore(c.breakIt) }, losing)
			for _, rule := range c.want {
				require.Contains(t, failures, rule)
			}
		})
	}
}

func TestARightStoreBreaksNoRule(t *testing.T) {
	t.Parallel()
	require.Empty(t, broken(t, func() docstore.Store { return newStore(func(*store) {}) }, losing))
}

// lister lists the keys of a right store, wrongly.
type lister struct {
	*store
	list func(keys []string, cursor string, limit int) ([]string, string, error)
}

func (l *lister) List(_ context.Context, cursor string, limit int) ([]string, string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var keys []string
	for k := range l.documents {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return l.list(keys, cursor, limit)
}

func TestEveryBrokenListingFailsTheRuleThatItBreaks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		list func(keys []string, cursor string, limit int) ([]string, string, error)
		want string
	}{
		"pages without a limit": {
			func(keys []string, _ string, _ int) ([]string, string, error) { return keys, "", nil },
			"list-all",
		},
		"only the first page": {
			func(keys []string, _ string, limit int) ([]string, string, error) {
				return keys[:max(0, min(limit, len(keys)))], "", nil
			},
			"list-all",
		},
		"cursor by position": {
			func(keys []string, cursor string, limit int) ([]string, string, error) {
				var at int
				_, _ = fmt.Sscan(cursor, &at)
				at = min(at, len(keys))
				end := min(at+max(limit, 0), len(keys))
				if end == len(keys) {
					return keys[at:], "", nil
				}
				return keys[at:end], fmt.Sprint(end), nil
			},
			"list-while-changing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func() docstore.Store { return &lister{store: newStore(func(*store) {}), list: c.list} }
			failures := broken(t, open, nil)
			require.Contains(t, failures, c.want)
			require.Contains(t, failures, "list-limit")
			require.Contains(t, failures, "list-context")
		})
	}
}
