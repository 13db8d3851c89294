package docstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// scripted is a store whose writes fail as told before they succeed.
type scripted struct {
	*Memory
	reads, writes atomic.Int32
	fail          []func(s *Memory, content []byte, expected string) error
}

func (s *scripted) Read(ctx context.Context, key string) ([]byte, string, error) {
	s.reads.Add(1)
	return s.Memory.Read(ctx, key)
}

func (s *scripted) Write(ctx context.Context, key string, content []byte, expected string) (string, error) {
	n := int(s.writes.Add(1))
	if n <= len(s.fail) {
		return "", s.fail[n-1](s.Memory, content, expected)
	}
	return s.Memory.Write(ctx, key, content, expected)
}

func conflict(*Memory, []byte, string) error { return &ConflictError{Key: testKey} }

func unknownNotApplied(*Memory, []byte, string) error { return unknown(errors.New("no reply")) }

func unknownApplied(m *Memory, content []byte, expected string) error {
	if _, err := m.Write(context.Background(), testKey, content, expected); err != nil {
		return err
	}
	return unknown(errors.New("no reply"))
}

// somebodyElse writes first, and then the outcome is unknown.
func somebodyElse(m *Memory, _ []byte, expected string) error {
	if _, err := m.Write(context.Background(), testKey, []byte("theirs"), expected); err != nil {
		return err
	}
	return unknown(errors.New("no reply"))
}

func repeat(n int, fail func(*Memory, []byte, string) error) []func(*Memory, []byte, string) error {
	all := make([]func(*Memory, []byte, string) error, n)
	for i := range all {
		all[i] = fail
	}
	return all
}

func then(first func(*Memory, []byte, string) error, rest []func(*Memory, []byte, string) error) []func(*Memory, []byte, string) error {
	return append([]func(*Memory, []byte, string) error{first}, rest...)
}

func down(*Memory, []byte, string) error { return errDown }

// late is a write whose reply is lost and that arrives only between the next look and the next write.
func late() []func(*Memory, []byte, string) error {
	var content []byte
	var expected string
	return []func(*Memory, []byte, string) error{
		func(_ *Memory, sent []byte, version string) error {
			content, expected = sent, version
			return unknown(errors.New("no reply"))
		},
		func(m *Memory, again []byte, version string) error {
			if _, err := m.Write(context.Background(), testKey, content, expected); err != nil {
				return err
			}
			_, err := m.Write(context.Background(), testKey, again, version)
			return err
		},
	}
}

// appendMine decides to add a word to whatever is there.
func appendMine(current []byte) ([]byte, error) {
	return append(append([]byte{}, current...), "+mine"...), nil
}

func TestUpdateStartsAgainUntilItKnowsThatItWrote(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail          []func(*Memory, []byte, string) error
		reads, writes int32
		want          string
		err           error
	}{
		"nobody interferes":                    {nil, 1, 1, "+mine", nil},
		"one conflict":                         {repeat(1, conflict), 2, 2, "+mine", nil},
		"eight conflicts":                      {repeat(8, conflict), 9, 9, "+mine", nil},
		"nine conflicts":                       {repeat(9, conflict), 9, 9, "", ErrConflict},
		"unknown, and it had happened":         {repeat(1, unknownApplied), 2, 1, "+mine", nil},
		"unknown, and it had not happened":     {repeat(1, unknownNotApplied), 2, 2, "+mine", nil},
		"unknown, and somebody else was first": {repeat(1, somebodyElse), 2, 2, "theirs+mine", nil},
		"unknown for ever":                     {repeat(9, unknownNotApplied), 9, 9, "", ErrUnknownOutcome},
		"unknown, and it happens after a look": {late(), 3, 2, "+mine", nil},
		"unknown, then refused, then written":  {then(unknownNotApplied, repeat(1, down)), 3, 3, "+mine", nil},
		"unknown, then refused for ever":       {then(unknownNotApplied, repeat(8, down)), 9, 9, "", ErrUnknownOutcome},
		"unknown, then conflicts for ever":     {then(unknownNotApplied, repeat(8, conflict)), 9, 9, "", ErrUnknownOutcome},
		"refused":                              {repeat(1, down), 1, 1, "", errDown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{Memory: NewMemory(), fail: c.fail}
				err := NewUpdater(s).Update(t.Context(), testKey, appendMine)
				require.ErrorIs(t, err, c.err)
				require.False(t, errors.Is(err, ErrUnknownOutcome) && errors.Is(err, ErrConflict), "both: %v", err)
				require.Equal(t, c.reads, s.reads.Load(), "reads")
				require.Equal(t, c.writes, s.writes.Load(), "writes")
				content, _, err := s.Memory.Read(t.Context(), testKey)
				if c.want != "" {
					require.NoError(t, err)
				}
				require.Equal(t, c.want, string(content))
			})
		})
	}
}

// unreadable is a store that loses the reply of its first write and cannot be read afterwards.
type unreadable struct {
	*Memory
	wrote bool
}

var errDown = errors.New("store is down")

func (u *unreadable) Read(ctx context.Context, key string) ([]byte, string, error) {
	if u.wrote {
		return nil, "", errDown
	}
	return u.Memory.Read(ctx, key)
}

func (u *unreadable) Write(context.Context, string, []byte, string) (string, error) {
	u.wrote = true
	return "", unknown(errors.New("no reply"))
}

func (u *unreadable) Delete(context.Context, string, string) error {
	u.wrote = true
	return unknown(errors.New("no reply"))
}

func TestAnOutcomeThatNobodyCanLookUpStaysUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		err := NewUpdater(&unreadable{Memory: NewMemory()}).Update(t.Context(), testKey, appendMine)
		require.ErrorIs(t, err, ErrUnknownOutcome)
		require.ErrorIs(t, err, errDown)

		store := &unreadable{Memory: NewMemory()}
		_, err = store.Memory.Write(t.Context(), testKey, []byte("one"), "")
		require.NoError(t, err)
		err = NewUpdater(store).Erase(t.Context(), testKey)
		require.ErrorIs(t, err, ErrUnknownOutcome)
		require.ErrorIs(t, err, errDown)
	})
}

func TestUpdateStopsWaitingWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{Memory: NewMemory(), fail: repeat(9, conflict)}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		err := NewUpdater(s).Update(ctx, testKey, appendMine)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Less(t, s.writes.Load(), int32(9))
	})
}

func TestUpdateWaitsForItsTurnOnlyAsLongAsTheContextLasts(t *testing.T) {
	t.Parallel()
	updater := NewUpdater(NewMemory())
	require.NoError(t, updater.Update(t.Context(), testKey, func([]byte) ([]byte, error) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := updater.Update(ctx, testKey, func([]byte) ([]byte, error) { t.Error("asked"); return nil, nil })
		require.ErrorIs(t, err, context.Canceled)
		return []byte("one"), nil
	}))
}

// nilly is a store that returns nil for an empty content.
type nilly struct{ *Memory }

func (n nilly) Read(ctx context.Context, key string) ([]byte, string, error) {
	content, version, err := n.Memory.Read(ctx, key)
	if len(content) == 0 {
		content = nil
	}
	return content, version, err
}

func TestAnEmptyDocumentIsNotTakenForAnAbsentOne(t *testing.T) {
	t.Parallel()
	store := nilly{NewMemory()}
	_, err := store.Write(t.Context(), testKey, nil, "")
	require.NoError(t, err)
	require.NoError(t, NewUpdater(store).Update(t.Context(), testKey, func(current []byte) ([]byte, error) {
		require.NotNil(t, current)
		return nil, nil
	}))
	require.NoError(t, NewUpdater(store).Erase(t.Context(), testKey))
	_, _, err = store.Read(t.Context(), testKey)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestUpdateReturnsTheErrorOfADecisionAndWritesNothing(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	dir := openDir(t, t.TempDir(), nil)
	for name, store := range map[string]Store{"memory": NewMemory(), "dir": dir} {
		err := NewUpdater(store).Update(t.Context(), testKey, func(current []byte) ([]byte, error) {
			require.Nil(t, current, "an absent document is nil")
			return []byte("ignored"), refused
		})
		require.Equal(t, refused, err, name)
		err = NewUpdater(store).Update(t.Context(), testKey, func([]byte) ([]byte, error) { return nil, nil })
		require.NoError(t, err, name)
		_, _, err = store.Read(t.Context(), testKey)
		require.Error(t, err, name)

		_, err = store.Write(t.Context(), testKey, nil, "")
		require.NoError(t, err)
		err = NewUpdater(store).Update(t.Context(), testKey, func(current []byte) ([]byte, error) {
			require.NotNil(t, current, "an empty document is not nil")
			return nil, nil
		})
		require.NoError(t, err, name)
	}
	requireFiles(t, dir.root.Name(), testKey)
}

func TestUpdateRefusesAnInvalidKeyAndACancelledContext(t *testing.T) {
	t.Parallel()
	for _, store := range []Store{NewMemory(), openDir(t, t.TempDir(), nil)} {
		updater := NewUpdater(store)
		decide := func([]byte) ([]byte, error) { t.Error("asked"); return nil, nil }
		require.ErrorIs(t, updater.Update(t.Context(), "../x", decide), ErrInvalidKey)
		require.ErrorIs(t, updater.Erase(t.Context(), "../x"), ErrInvalidKey)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, updater.Update(ctx, testKey, decide), context.Canceled)
		require.ErrorIs(t, updater.Erase(ctx, testKey), context.Canceled)
	}
}

func TestWritersOfOneUpdaterDoNotMakeEachOtherStartAgain(t *testing.T) {
	t.Parallel()
	const writers, writes = 8, 50
	s := &scripted{Memory: NewMemory()}
	updater := NewUpdater(s)
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range writes {
				if err := updater.Update(t.Context(), testKey, addOne); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	require.EqualValues(t, writers*writes, s.writes.Load())
	content, _, err := s.Memory.Read(t.Context(), testKey)
	require.NoError(t, err)
	require.Equal(t, strconv.Itoa(writers*writes), string(content))
}

func addOne(current []byte) ([]byte, error) {
	n := 0
	if current != nil {
		var err error
		if n, err = strconv.Atoi(string(current)); err != nil {
			return nil, err
		}
	}
	return strconv.AppendInt(nil, int64(n+1), 10), nil
}

func TestEraseRemovesWhateverIsThereThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &changing{Memory: NewMemory(), times: 3}
		_, err := s.Memory.Write(t.Context(), testKey, []byte("one"), "")
		require.NoError(t, err)
		require.NoError(t, NewUpdater(s).Erase(t.Context(), testKey))
		_, _, err = s.Memory.Read(t.Context(), testKey)
		require.Error(t, err)
		require.NoError(t, NewUpdater(s).Erase(t.Context(), testKey))
	})
}

// changing is a store whose document changes before each of some deletes.
type changing struct {
	*Memory
	times int
}

func (c *changing) Delete(ctx context.Context, key, expected string) error {
	if c.times > 0 {
		c.times--
		if _, err := c.Memory.Write(ctx, key, fmt.Appendf(nil, "%d", c.times), expected); err != nil {
			return err
		}
	}
	return c.Memory.Delete(ctx, key, expected)
}

func TestAQueueServesInOrderAndForgetsWhoGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var q queues
		require.NoError(t, q.enter(t.Context(), "key"))
		require.NoError(t, q.enter(t.Context(), "another key"), "keys do not wait for each other")
		q.leave("another key")

		var order []int
		for i := range 3 {
			go func() {
				if err := q.enter(t.Context(), "key"); err != nil {
					t.Error(err)
				}
				order = append(order, i)
				q.leave("key")
			}()
			synctest.Wait()
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, q.enter(ctx, "key"), context.Canceled)
		q.leave("key")
		synctest.Wait()
		require.Equal(t, []int{0, 1, 2}, order)
		require.Empty(t, q.byKey, "nothing is kept for a key that nobody uses")
	})
}
