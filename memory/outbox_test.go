package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
	"github.com/recollect-go/recollect/state"
)

// tampered is a store whose calls can be made to go wrong.
type tampered struct {
	memory.OutboxStore
	write  func(memory.OutboxStore) (before bool, err error)
	remove error
	list   error
}

func (s *tampered) Write(ctx context.Context, key string, content []byte, expected string) (string, error) {
	if s.write == nil {
		return s.OutboxStore.Write(ctx, key, content, expected)
	}
	before, err := s.write(s.OutboxStore)
	if before {
		return "", err
	}
	version, failed := s.OutboxStore.Write(ctx, key, content, expected)
	return version, errors.Join(failed, err)
}

func (s *tampered) Delete(ctx context.Context, key, expected string) error {
	if s.remove != nil {
		return s.remove
	}
	return s.OutboxStore.Delete(ctx, key, expected)
}

func (s *tampered) List(ctx context.Context, cursor string, limit int) ([]string, string, error) {
	if s.list != nil {
		return nil, "", s.list
	}
	return s.OutboxStore.List(ctx, cursor, limit)
}

func outbox(t testing.TB, store memory.OutboxStore) *memory.Outbox {
	t.Helper()
	o, err := memory.NewOutbox(store, nil)
	require.NoError(t, err)
	return o
}

func stats(t testing.TB, o *memory.Outbox) memory.OutboxStats {
	t.Helper()
	s, err := o.Stats(context.Background())
	require.NoError(t, err)
	return *s
}

func pending(t testing.TB, o *memory.Outbox) []memory.PendingTurn {
	t.Helper()
	turns, next, err := o.Pending(context.Background(), "", 100)
	require.NoError(t, err)
	require.Empty(t, next)
	return turns
}

// keeper is a provider that keeps the rule of CaptureTurn: an operation is captured once.
type keeper struct {
	mu       sync.Mutex
	fails    error // returned instead
	asked    []*memory.TurnCompleted
	captured map[string]string // operation id: key and texts
}

func (k *keeper) handlers() memory.Handlers {
	return captures(func(_ context.Context, r *memory.TurnCompleted) error {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.asked = append(k.asked, r)
		if k.fails != nil {
			return k.fails
		}
		if k.captured == nil {
			k.captured = make(map[string]string)
		}
		if _, ok := k.captured[r.ID]; !ok {
			k.captured[r.ID] = r.Key + " " + strings.Join(texts(r.Messages[r.Turn.Start:]), "|")
		}
		return nil
	})
}

func (k *keeper) failing(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fails = err
}

func (k *keeper) counts() (asked, captured int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.asked), len(k.captured)
}

func (k *keeper) slot(name string) memory.Slot {
	return memory.Slot{Name: name, Provider: k.handlers()}
}

var errDown = errors.New("the service is down")

func TestOutboxIsEmptyAfterCapturesThatSucceed(t *testing.T) {
	t.Parallel()
	o := outbox(t, state.InMemory())
	var a, b keeper
	bundle := newBundle(t, &memory.Options{Outbox: o}, a.slot("a"), b.slot("b"), memory.Slot{Name: "silent", Provider: recalls()})
	for range 2 {
		bundle.start("q")
		bundle.reply("a")
		require.NoError(t, bundle.complete())
	}
	require.Equal(t, memory.OutboxStats{TurnsCompleted: 2, CapturesDue: 4, CapturesDone: 4}, stats(t, o))
	require.Empty(t, pending(t, o))
	require.Len(t, a.captured, 2)
	require.Len(t, b.captured, 2)
}

func TestOutboxCountsTurnsWithoutCapturesSoThatOneThatStoppedIsSeen(t *testing.T) {
	t.Parallel()
	o := outbox(t, state.InMemory())
	var k keeper
	slot := k.slot("a")
	slot.Scope = byCurrent
	b := newBundle(t, &memory.Options{Outbox: o}, slot)
	b.start("of nobody")
	require.NoError(t, b.complete())
	require.Equal(t, memory.OutboxStats{TurnsCompleted: 1}, stats(t, o))
}

func TestOutboxKeepsTheCapturesThatFailed(t *testing.T) {
	t.Parallel()
	o := outbox(t, state.InMemory())
	var good, bad, tolerated keeper
	bad.fails, tolerated.fails = errDown, errDown
	loose := tolerated.slot("loose")
	loose.BestEffort = true
	b := newBundle(t, &memory.Options{Outbox: o}, good.slot("good"), bad.slot("bad"), loose,
		memory.Slot{Name: "rude", Provider: captures(func(context.Context, *memory.TurnCompleted) error { panic("secret") })})
	began := time.Now()
	b.start("q")
	err := b.complete()
	require.ErrorIs(t, err, errDown)
	require.ErrorIs(t, err, memory.ErrProvider)
	require.NotContains(t, err.Error(), "loose")
	require.ErrorIs(t, b.complete(), memory.ErrTurnNotOpen, "the turn is complete nevertheless")

	turns := pending(t, o)
	require.Len(t, turns, 1)
	assert.Equal(t, []string{"session_1", scope.RootNode, "turn_1"}, []string{turns[0].SessionID, turns[0].Node, turns[0].TurnID})
	var names []string
	for _, c := range turns[0].Captures {
		names = append(names, c.Slot)
		assert.EqualValues(t, 1, c.Attempts)
		assert.Equal(t, must(scope.Derive(app, scope.String("u_42"))).Key, c.Key)
		assert.Greater(t, c.Due.Sub(began), memory.DefaultOutboxBackoff/2-time.Second)
		assert.Less(t, c.Due.Sub(began), memory.DefaultOutboxBackoff+time.Minute)
	}
	assert.Equal(t, []string{"bad", "loose", "rude"}, names)
	s := stats(t, o)
	assert.Equal(t, turns[0].CompletedAt, s.OldestPending)
	s.OldestPending = time.Time{}
	assert.Equal(t, memory.OutboxStats{TurnsCompleted: 1, CapturesDue: 4, CapturesDone: 1, AttemptsFailed: 3, Pending: 3}, s)

	bad.failing(nil)
	report, err := b.m.DrainOutbox(t.Context())
	require.NoError(t, err)
	require.Equal(t, &memory.DrainReport{Records: 1, Done: 1, Failed: 2}, report)
	require.Len(t, pending(t, o)[0].Captures, 2)
	_, captured := good.counts()
	require.Equal(t, 1, captured, "what succeeded is not asked again")
}

func TestOutboxGivesEveryAttemptTheSameRequest(t *testing.T) {
	t.Parallel()
	o := outbox(t, state.InMemory())
	k := keeper{fails: errDown}
	slot := k.slot("p")
	h := k.handlers()
	h.Recall = recalls(memory.Item{ID: "d", Content: "recalled"}).Recall
	slot.Provider, slot.Scope = h, byCurrent
	b := newBundle(t, &memory.Options{Outbox: o}, slot)
	b.session.Current = tenant("acme")
	b.session.Current.Attributes["level"] = 7
	b.session.Initiator = user("u_1")
	b.session.Channel = map[string]any{"thread": "1"}
	b.history = []memory.Message{memory.UserMessage("of another turn")}
	b.start("q")
	b.history = append(b.history, decode(t, `{"role":"assistant","content":[{"type":"text","text":"a"}],"id":1.0,"metadata":{"x":[]}}`))
	require.ErrorIs(t, b.complete(), errDown)
	for range 2 {
		_, err := b.m.DrainOutbox(t.Context())
		require.NoError(t, err)
	}
	require.Len(t, k.asked, 3)
	for _, r := range k.asked {
		assert.Equal(t, "eve-memory-operation-v1:session_1:1:turn_1:turn.completed:p", r.ID)
		assert.Equal(t, keyOf(app, "acme"), r.Key)
		assert.Equal(t, []string{"q", "a"}, texts(r.Messages), "the turn's own messages, without records")
		assert.Equal(t, 0, r.Turn.Start)
		assert.Equal(t, []string{"q"}, texts(r.Turn.Input))
		assert.Equal(t, 7.0, r.Session.Current.Attributes["level"])
		assert.Nil(t, r.Session.Channel)
		assert.Equal(t, encoded(t, k.asked[0].Messages), encoded(t, r.Messages))
		assert.Equal(t, k.asked[0].Session, r.Session)
		assert.Equal(t, []any{k.asked[0].Operation.Scope, k.asked[0].Namespace}, []any{r.Operation.Scope, r.Namespace})
	}
	assert.JSONEq(t, `{"role":"assistant","content":[{"type":"text","text":"a"}],"id":1.0,"metadata":{"x":[]}}`, encoded(t, k.asked[2].Messages[1]))
}

func encoded(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

func TestTurnThatCannotBeRecordedStaysOpenAndNothingRuns(t *testing.T) {
	t.Parallel()
	store := &tampered{OutboxStore: state.InMemory(), write: func(memory.OutboxStore) (bool, error) { return true, errDown }}
	o := outbox(t, store)
	var k keeper
	b := newBundle(t, &memory.Options{Outbox: o}, k.slot("p"))
	b.start("q")
	require.ErrorIs(t, b.complete(), errDown)
	require.Empty(t, k.asked)
	require.Equal(t, memory.OutboxStats{}, stats(t, o))
	store.write = nil
	require.NoError(t, b.complete())
	require.Len(t, k.captured, 1)

	k.captured, k.asked = nil, nil
	b.session.Current = &scope.Principal{Type: "user", ID: "u", Attributes: map[string]any{"f": func() {}}}
	b.start("q")
	require.Error(t, b.complete(), "an attribute that cannot be stored")
	require.Empty(t, k.asked)
}

func TestTurnThatIsTooLargeForTheOutboxIsRefusedWithItsSize(t *testing.T) {
	t.Parallel()
	o, err := memory.NewOutbox(state.InMemory(), &memory.OutboxOptions{MaxBytes: 1000})
	require.NoError(t, err)
	var k keeper
	b := newBundle(t, &memory.Options{Outbox: o}, k.slot("p"))
	b.start(strings.Repeat("secret", 1000))
	err = b.complete()
	require.ErrorIs(t, err, memory.ErrOutboxRecord)
	require.ErrorContains(t, err, "at most 1000")
	require.NotContains(t, err.Error(), "secret")
	require.Empty(t, k.asked)
}

func TestSessionWhoseTurnCannotBeRecordedCanCompleteItLater(t *testing.T) {
	t.Parallel()
	store := &tampered{OutboxStore: state.InMemory(), write: func(memory.OutboxStore) (bool, error) { return true, errDown }}
	var k keeper
	b := newBundle(t, &memory.Options{Outbox: outbox(t, store)}, k.slot("p"))
	s, err := b.m.NewSession(nil)
	require.NoError(t, err)
	turn, err := s.Begin(t.Context(), &memory.Delivery{Input: []memory.Message{memory.UserMessage("q")}})
	require.NoError(t, err)
	require.NoError(t, turn.Append(memory.AssistantMessage("a")))
	require.ErrorIs(t, turn.Complete(t.Context()), errDown)
	store.write = nil
	require.NoError(t, turn.Complete(t.Context()))
	require.ErrorIs(t, turn.Complete(t.Context()), memory.ErrTurnNotOpen)
	require.Len(t, k.captured, 1)
}

func TestRecordOfUnknownOutcomeIsFoundAgain(t *testing.T) {
	t.Parallel()
	for _, stored := range []bool{true, false} {
		times := 0
		store := &tampered{OutboxStore: state.InMemory(), write: func(memory.OutboxStore) (bool, error) {
			if times++; times > 1 {
				return false, nil
			}
			return !stored, state.ErrUnknownOutcome
		}}
		o := outbox(t, store)
		var k keeper
		b := newBundle(t, &memory.Options{Outbox: o}, k.slot("p"))
		b.start("q")
		require.NoError(t, b.complete())
		require.Equal(t, memory.OutboxStats{TurnsCompleted: 1, CapturesDue: 1, CapturesDone: 1}, stats(t, o))
		require.Len(t, k.asked, 1)
	}
}

func TestCaptureThatCannotBeRemovedIsReportedAndRunsAgain(t *testing.T) {
	t.Parallel()
	store := &tampered{OutboxStore: state.InMemory(), remove: errDown}
	o := outbox(t, store)
	var k keeper
	b := newBundle(t, &memory.Options{Outbox: o}, k.slot("p"))
	b.start("q")
	require.ErrorIs(t, b.complete(), errDown)
	require.ErrorIs(t, b.complete(), memory.ErrTurnNotOpen)
	require.Equal(t, 1, stats(t, o).Pending)
	store.remove = nil
	report, err := b.m.DrainOutbox(t.Context())
	require.NoError(t, err)
	require.Equal(t, &memory.DrainReport{Records: 1, Done: 1}, report)
	require.Equal(t, []int{2, 1}, []int{len(k.asked), len(k.captured)})
	require.Empty(t, pending(t, o))
}

func TestTurnCompletedAgainAfterACrashKeepsItsFirstRecord(t *testing.T) {
	t.Parallel()
	o := outbox(t, state.InMemory())
	k := keeper{fails: errDown}
	var done keeper
	b := newBundle(t, &memory.Options{Outbox: o}, k.slot("p"), done.slot("done"))
	b.start("q")
	open, history := b.book, b.history
	b.reply("first answer")
	require.ErrorIs(t, b.complete(), errDown)

	b.book, b.history = open, history // what the host has stored
	b.reply("another answer")
	k.failing(nil)
	require.NoError(t, b.complete())
	require.Equal(t, []string{"q", "first answer"}, texts(k.asked[1].Messages))
	require.Len(t, done.asked, 1, "what is done is not asked again")
	require.Empty(t, pending(t, o))
	require.EqualValues(t, 2, stats(t, o).CapturesDue)
}

func TestRunOutboxRetriesWithGrowingPausesUntilItSucceeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, err := memory.NewOutbox(state.InMemory(), &memory.OutboxOptions{
			Interval: time.Second, Backoff: time.Minute, MaxPause: 8 * time.Minute,
		})
		require.NoError(t, err)
		var at []time.Duration
		began := time.Now()
		var j journal
		b := newBundle(t, &memory.Options{Outbox: o, Logger: j.logger()}, memory.Slot{
			Name: "p", Provider: captures(func(context.Context, *memory.TurnCompleted) error {
				if at = append(at, time.Since(began)); len(at) < 8 {
					return errDown
				}
				return nil
			}),
		})
		b.start("q")
		require.ErrorIs(t, b.complete(), errDown)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- b.m.RunOutbox(ctx) }()
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		require.Len(t, at, 8)
		require.Zero(t, at[1], "at start everything is tried")
		pause := time.Minute * 2
		for i := 2; i < len(at); i++ {
			wait := at[i] - at[i-1]
			require.GreaterOrEqual(t, wait, pause/2)
			require.LessOrEqual(t, wait, pause+time.Second)
			pause = min(2*pause, 8*time.Minute)
		}
		require.Empty(t, pending(t, o))
		require.EqualValues(t, 7, stats(t, o).AttemptsFailed)
		require.Contains(t, strings.Join(j.all(), "\n"), "capture from the outbox failed")
		stop()
		require.NoError(t, <-ended)
	})
}

func TestRunOutboxLeavesAloneWhatAnotherProcessIsAtWorkOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := state.InMemory()
		var calls atomic.Int64
		slow := memory.Slot{Name: "p", Provider: captures(func(context.Context, *memory.TurnCompleted) error {
			calls.Add(1)
			time.Sleep(20 * time.Second)
			return nil
		})}
		one := newBundle(t, &memory.Options{Outbox: outbox(t, store)}, slow)
		two := newBundle(t, &memory.Options{Outbox: outbox(t, store)}, slow)
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = two.m.RunOutbox(ctx) }()
		time.Sleep(20 * time.Second)
		one.start("q")
		go func() { _ = one.complete() }() // the other looks at it at second 30
		time.Sleep(time.Minute)
		synctest.Wait()
		require.EqualValues(t, 1, calls.Load())
		require.Empty(t, pending(t, outbox(t, store)))
		stop()
		synctest.Wait()
	})
}

func TestRunOutboxTakesOverWhatADeadProcessHasLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := state.InMemory()
		var k keeper
		alive := newBundle(t, &memory.Options{Outbox: outbox(t, store)}, k.slot("p"))
		record := sampleRecord(t, func(r map[string]any) {
			r["captures"].([]any)[0].(map[string]any)["due"] = time.Now().Add(time.Minute).Format(time.RFC3339Nano) // as a claim is
		})
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = alive.m.RunOutbox(ctx) }()
		synctest.Wait()
		_, err := store.Write(ctx, sampleKey, record, "")
		require.NoError(t, err)
		time.Sleep(45 * time.Second)
		asked, _ := k.counts()
		require.Zero(t, asked, "the claim holds")
		time.Sleep(time.Minute)
		_, captured := k.counts()
		require.Equal(t, 1, captured)
		stop()
		synctest.Wait()
	})
}

func TestRunOutboxThatIsStoppedLeavesWhatItWasAtWorkOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := outbox(t, state.InMemory())
		var up atomic.Bool
		b := newBundle(t, &memory.Options{Outbox: o}, memory.Slot{
			Name: "p", Provider: captures(func(ctx context.Context, _ *memory.TurnCompleted) error {
				if !up.Load() {
					return errDown
				}
				<-ctx.Done()
				return ctx.Err()
			}),
		})
		b.start("q")
		require.ErrorIs(t, b.complete(), errDown)
		up.Store(true)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- b.m.RunOutbox(ctx) }()
		time.Sleep(time.Second)
		stop()
		require.NoError(t, <-ended)
		turns := pending(t, o)
		require.Len(t, turns, 1)
		require.EqualValues(t, 1, turns[0].Captures[0].Attempts, "an attempt that was cut off does not count")
		require.False(t, turns[0].Captures[0].Due.After(time.Now()))
		require.EqualValues(t, 1, stats(t, o).AttemptsFailed)

		ctx, stop = context.WithCancel(t.Context())
		stop()
		_, err := b.m.DrainOutbox(ctx)
		require.ErrorIs(t, err, memory.ErrCancelled)
	})
}

func TestCapturesThatNobodyHereCanMakeStayAndAreNamed(t *testing.T) {
	t.Parallel()
	o := outbox(t, state.InMemory())
	k := keeper{fails: errDown}
	b := newBundle(t, &memory.Options{Outbox: o}, k.slot("old"), k.slot("mute"), k.slot("here"))
	b.start("q")
	require.ErrorIs(t, b.complete(), errDown)
	k.failing(nil)
	b.replace(&memory.Options{Outbox: o}, memory.Slot{Name: "mute", Provider: recalls()}, k.slot("here"))
	report, err := b.m.DrainOutbox(t.Context())
	require.NoError(t, err)
	require.Equal(t, &memory.DrainReport{Records: 1, Done: 1, Stranded: []string{"mute", "old"}}, report)
	require.Len(t, pending(t, o)[0].Captures, 2)

	b.replace(&memory.Options{Outbox: o, Node: "child"}, k.slot("old"), k.slot("mute"))
	report, err = b.m.DrainOutbox(t.Context())
	require.NoError(t, err)
	require.Equal(t, &memory.DrainReport{}, report, "records of another node are not this one's business")

	b.replace(&memory.Options{Outbox: o}, k.slot("old"), k.slot("mute"))
	report, err = b.m.DrainOutbox(t.Context())
	require.NoError(t, err)
	require.Equal(t, &memory.DrainReport{Records: 1, Done: 2}, report)
	require.Empty(t, pending(t, o))
	require.Len(t, k.captured, 3)
}

func TestTwoProcessesDrainingOneOutboxCaptureOnce(t *testing.T) {
	t.Parallel()
	store := state.InMemory()
	k := keeper{fails: errDown}
	b := newBundle(t, &memory.Options{Outbox: outbox(t, store)}, k.slot("p"), k.slot("q"))
	const turns = 50
	for i := range turns {
		b.start(fmt.Sprintf("turn %d", i))
		require.ErrorIs(t, b.complete(), errDown)
	}
	k.failing(nil)
	var group sync.WaitGroup
	for range 4 {
		other := newBundle(t, &memory.Options{Outbox: outbox(t, store)}, k.slot("p"), k.slot("q"))
		group.Go(func() {
			_, err := other.m.DrainOutbox(context.Background())
			assert.NoError(t, err)
		})
	}
	group.Wait()
	require.Len(t, k.captured, 2*turns)
	_, err := b.m.DrainOutbox(t.Context()) // a record that one process claimed while another finished it is gone, or is found now
	require.NoError(t, err)
	require.Empty(t, pending(t, outbox(t, store)))
}

func TestDrainGoesOnAfterARecordThatCannotBeRead(t *testing.T) {
	t.Parallel()
	store := state.InMemory()
	o := outbox(t, store)
	k := keeper{fails: errDown}
	b := newBundle(t, &memory.Options{Outbox: o}, k.slot("p"))
	b.start("q")
	require.ErrorIs(t, b.complete(), errDown)
	k.failing(nil)
	damaged := "memout1_" + strings.Repeat("A", 43)
	_, err := store.Write(t.Context(), damaged, []byte(`{"format":"recollect-outbox","version":1}`), "")
	require.NoError(t, err)
	checkpoint := "memstate1_" + strings.Repeat("A", 43)
	_, err = store.Write(t.Context(), checkpoint, []byte(`{}`), "")
	require.NoError(t, err)

	report, err := b.m.DrainOutbox(t.Context())
	require.ErrorIs(t, err, memory.ErrMalformed)
	require.Equal(t, &memory.DrainReport{Records: 1, Done: 1, Unreadable: []string{damaged}}, report)
	require.Equal(t, 1, stats(t, o).Unreadable)
	turns := pending(t, o)
	require.Len(t, turns, 1)
	require.ErrorIs(t, turns[0].Err, memory.ErrMalformed)
	require.NoError(t, o.Discard(t.Context(), damaged))
	require.Empty(t, pending(t, o))
	_, _, err = store.Read(t.Context(), checkpoint)
	require.NoError(t, err, "documents of others are left alone")

	broken := &tampered{OutboxStore: store, list: errDown}
	b.replace(&memory.Options{Outbox: outbox(t, broken)}, k.slot("p"))
	_, err = b.m.DrainOutbox(t.Context())
	require.ErrorIs(t, err, errDown)
	_, err = outbox(t, broken).Stats(t.Context())
	require.ErrorIs(t, err, errDown)
}

func TestDiscardGivesUpWhatItNames(t *testing.T) {
	t.Parallel()
	o := outbox(t, state.InMemory())
	k := keeper{fails: errDown}
	b := newBundle(t, &memory.Options{Outbox: o}, k.slot("a"), k.slot("b"), k.slot("c"))
	b.start("q")
	require.ErrorIs(t, b.complete(), errDown)
	id := pending(t, o)[0].ID
	require.NoError(t, o.Discard(t.Context(), id, "a", "unknown"))
	require.Len(t, pending(t, o)[0].Captures, 2)
	require.NoError(t, o.Discard(t.Context(), id))
	require.NoError(t, o.Discard(t.Context(), id))
	require.NoError(t, o.Discard(t.Context(), id, "b"))
	require.Empty(t, pending(t, o))
	require.EqualValues(t, 3, stats(t, o).CapturesDropped)
	require.ErrorIs(t, o.Discard(t.Context(), "memstate1_x"), memory.ErrInvalidRequest)
}

func TestOutboxPagesItsPendingTurns(t *testing.T) {
	t.Parallel()
	o := outbox(t, state.InMemory())
	k := keeper{fails: errDown}
	b := newBundle(t, &memory.Options{Outbox: o}, k.slot("a"))
	for range 7 {
		b.start("q")
		require.ErrorIs(t, b.complete(), errDown)
	}
	seen := make(map[string]bool)
	for cursor := ""; ; {
		turns, next, err := o.Pending(t.Context(), cursor, 3)
		require.NoError(t, err)
		for _, turn := range turns {
			seen[turn.ID] = true
		}
		if cursor = next; next == "" {
			break
		}
	}
	require.Len(t, seen, 7)
}

func TestOutboxNeedsAStoreAndSensibleOptions(t *testing.T) {
	t.Parallel()
	_, err := memory.NewOutbox(nil, &memory.OutboxOptions{Interval: -1, Backoff: -1, MaxPause: -1, MaxBytes: -1, Parallel: -1})
	require.ErrorIs(t, err, memory.ErrConfig)
	for _, what := range []string{"no store", "Interval", "Backoff", "MaxPause", "MaxBytes", "Parallel"} {
		require.ErrorContains(t, err, what)
	}
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: recalls()})
	_, err = b.m.DrainOutbox(t.Context())
	require.ErrorIs(t, err, memory.ErrInvalidRequest)
	require.ErrorIs(t, b.m.RunOutbox(t.Context()), memory.ErrInvalidRequest)
}

const sampleKey = "memout1_HWLzO14l5YLmeY23q3-AC88J-HNB_8xElZNM2u64ILk"

// sampleRecord returns the record in testdata, changed.
func sampleRecord(t testing.TB, change func(map[string]any)) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/outbox_v1.json")
	require.NoError(t, err)
	var r map[string]any
	require.NoError(t, json.Unmarshal(text, &r))
	change(r)
	text, err = json.Marshal(r)
	require.NoError(t, err)
	return text
}

func TestTurnOfAnotherCallerUnderTheSameIDsIsRefusedAndNotLost(t *testing.T) {
	t.Parallel()
	o := outbox(t, state.InMemory())
	own, shared := new(keeper), &keeper{fails: errDown}
	slots := func() []memory.Slot {
		profile := own.slot("profile")
		profile.Scope = byCurrent
		return []memory.Slot{profile, shared.slot("workspace")}
	}
	first := newBundle(t, &memory.Options{Outbox: o}, slots()...)
	first.session.Current = tenant("acme")
	first.start("words of acme")
	require.ErrorIs(t, first.complete(), errDown)

	for _, other := range []*scope.Principal{tenant("evil"), {Type: "user", ID: "u_43", Attributes: tenant("acme").Attributes}, nil} {
		second := newBundle(t, &memory.Options{Outbox: o}, slots()...)
		second.session.Current = other
		second.start("words of another")
		err := second.complete()
		require.ErrorIs(t, err, memory.ErrInvalidRequest)
		require.NotContains(t, err.Error(), "acme")
		require.Len(t, own.asked, 1)
		require.EqualValues(t, 1, stats(t, o).TurnsCompleted, "the turn is open")
	}
	second := newBundle(t, &memory.Options{Outbox: o}, slots()...)
	second.session.Current = tenant("evil")
	second.start("words of evil")
	require.Error(t, second.complete())
	shared.failing(nil)
	_, err := first.m.DrainOutbox(t.Context())
	require.NoError(t, err)
	require.NoError(t, second.complete(), "when the other is done")
	require.Len(t, own.asked, 2)
	require.Equal(t, keyOf(app, "evil"), own.asked[1].Key)
}

func TestDrainReturnsTheErrorOfAStoreThatKeepsACaptureThatIsDone(t *testing.T) {
	t.Parallel()
	store := &tampered{OutboxStore: state.InMemory()}
	o := outbox(t, store)
	k := keeper{fails: errDown}
	b := newBundle(t, &memory.Options{Outbox: o}, k.slot("p"))
	b.start("q")
	require.ErrorIs(t, b.complete(), errDown)
	_, err := b.m.DrainOutbox(t.Context())
	require.NoError(t, err, "a capture that failed again is counted")

	k.failing(nil)
	store.remove = errors.New("read-only store")
	report, err := b.m.DrainOutbox(t.Context())
	require.ErrorIs(t, err, store.remove)
	require.Equal(t, &memory.DrainReport{Records: 1, Done: 1}, report)
	require.Len(t, pending(t, o), 1)
}

func TestRunOutboxTriesWhatAWrongClockHasPutOffForYears(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := state.InMemory()
		var k keeper
		b := newBundle(t, &memory.Options{Outbox: outbox(t, store)}, k.slot("p"))
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = b.m.RunOutbox(ctx) }()
		synctest.Wait()
		record := sampleRecord(t, func(r map[string]any) {
			r["captures"].([]any)[0].(map[string]any)["due"] = time.Now().AddDate(10, 0, 0).Format(time.RFC3339Nano)
		})
		_, err := store.Write(ctx, sampleKey, record, "")
		require.NoError(t, err)
		time.Sleep(time.Minute)
		_, captured := k.counts()
		require.Equal(t, 1, captured)
		stop()
		synctest.Wait()
	})
}

func TestPauseWithoutABoundNeverOverflows(t *testing.T) {
	t.Parallel()
	o, err := memory.NewOutbox(state.InMemory(), &memory.OutboxOptions{MaxPause: math.MaxInt64})
	require.NoError(t, err)
	k := keeper{fails: errDown}
	b := newBundle(t, &memory.Options{Outbox: o}, k.slot("p"))
	b.start("q")
	require.ErrorIs(t, b.complete(), errDown)
	for range 40 {
		_, err := b.m.DrainOutbox(t.Context())
		require.NoError(t, err)
	}
	require.Greater(t, time.Until(pending(t, o)[0].Captures[0].Due), 24*time.Hour)
}

func TestDrainDoesNotWaitForAStoreWithoutEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &stalled{OutboxStore: state.InMemory()}
		o := outbox(t, store)
		k := keeper{fails: errDown}
		b := newBundle(t, &memory.Options{Outbox: o}, k.slot("p"))
		b.start("q")
		require.ErrorIs(t, b.complete(), errDown)
		k.failing(nil)
		for _, call := range []string{"list", "read", "write"} {
			store.stall.Store(call)
			_, err := b.m.DrainOutbox(t.Context())
			require.ErrorIs(t, err, context.DeadlineExceeded, call)
			require.NotErrorIs(t, err, memory.ErrCancelled, call)
		}
		store.stall.Store("")
		report, err := b.m.DrainOutbox(t.Context())
		require.NoError(t, err)
		require.Equal(t, &memory.DrainReport{Records: 1, Done: 1}, report)
	})
}

// stalled is a store of which one kind of call lasts as long as its context.
type stalled struct {
	memory.OutboxStore
	stall atomic.Value
}

func (s *stalled) wait(ctx context.Context, call string) error {
	if s.stall.Load() != call {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (s *stalled) List(ctx context.Context, cursor string, limit int) ([]string, string, error) {
	if err := s.wait(ctx, "list"); err != nil {
		return nil, "", err
	}
	return s.OutboxStore.List(ctx, cursor, limit)
}

func (s *stalled) Read(ctx context.Context, key string) ([]byte, string, error) {
	if err := s.wait(ctx, "read"); err != nil {
		return nil, "", err
	}
	return s.OutboxStore.Read(ctx, key)
}

func (s *stalled) Write(ctx context.Context, key string, content []byte, expected string) (string, error) {
	if err := s.wait(ctx, "write"); err != nil {
		return "", err
	}
	return s.OutboxStore.Write(ctx, key, content, expected)
}

func TestSlotThatHangsDoesNotHoldUpADrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := outbox(t, state.InMemory())
		good := keeper{fails: errDown}
		var hangs atomic.Bool
		b := newBundle(t, &memory.Options{Outbox: o}, good.slot("good"), memory.Slot{
			Name: "hangs", Provider: captures(func(ctx context.Context, _ *memory.TurnCompleted) error {
				if hangs.Load() {
					<-ctx.Done()
				}
				return errDown
			}),
		})
		const turns = 40
		for range turns {
			b.start("q")
			require.ErrorIs(t, b.complete(), errDown)
		}
		good.failing(nil)
		hangs.Store(true)
		began := time.Now()
		report, err := b.m.DrainOutbox(t.Context())
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(began), 3*memory.DefaultCaptureTimeout)
		require.Equal(t, turns, report.Done, "another slot goes on")
		require.Equal(t, turns, report.Failed+report.Waiting)
		require.Less(t, report.Failed, 12)

		hangs.Store(false)
		report, err = b.m.DrainOutbox(t.Context())
		require.NoError(t, err)
		require.Equal(t, turns, report.Failed, "the next drain tries again, and failing at once costs no time")
	})
}

// paged is a store that returns a few keys at a time.
type paged struct{ memory.OutboxStore }

func (s *paged) List(ctx context.Context, cursor string, limit int) ([]string, string, error) {
	return s.OutboxStore.List(ctx, cursor, min(limit, 3))
}

func TestDrainReadsEveryPageOfItsStore(t *testing.T) {
	t.Parallel()
	o := outbox(t, &paged{state.InMemory()})
	k := keeper{fails: errDown}
	b := newBundle(t, &memory.Options{Outbox: o}, k.slot("p"))
	for range 10 {
		b.start("q")
		require.ErrorIs(t, b.complete(), errDown)
	}
	require.Equal(t, 10, stats(t, o).Pending)
	k.failing(nil)
	report, err := b.m.DrainOutbox(t.Context())
	require.NoError(t, err)
	require.Equal(t, &memory.DrainReport{Records: 10, Done: 10}, report)
}

func TestRecordUnderTheKeyOfAnotherTurnIsUnreadable(t *testing.T) {
	t.Parallel()
	store := state.InMemory()
	var k keeper
	b := newBundle(t, &memory.Options{Outbox: outbox(t, store)}, k.slot("p"))
	other := "memout1_" + strings.Repeat("A", 43)
	_, err := store.Write(t.Context(), other, sampleRecord(t, func(map[string]any) {}), "")
	require.NoError(t, err)
	report, err := b.m.DrainOutbox(t.Context())
	require.ErrorIs(t, err, memory.ErrMalformed)
	require.Equal(t, &memory.DrainReport{Unreadable: []string{other}}, report)
	require.Empty(t, k.asked)
}

func TestDrainLeavesAloneWhatThisProcessIsAtWorkOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		b := newBundle(t, &memory.Options{Outbox: outbox(t, state.InMemory())}, memory.Slot{
			Name: "p", Provider: captures(func(context.Context, *memory.TurnCompleted) error {
				calls.Add(1)
				time.Sleep(10 * time.Second)
				return nil
			}),
		})
		b.start("q")
		go func() { assert.NoError(t, b.complete()) }()
		time.Sleep(time.Second)
		report, err := b.m.DrainOutbox(t.Context())
		require.NoError(t, err)
		require.Equal(t, &memory.DrainReport{}, report)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.EqualValues(t, 1, calls.Load())
	})
}

func TestCaptureThatIsDiscardedWhileItRunsIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	o := outbox(t, state.InMemory())
	kept := keeper{fails: errDown}
	for _, slots := range [][]string{nil, {"p"}} {
		b := newBundle(t, &memory.Options{Outbox: o}, kept.slot("kept"), memory.Slot{
			Name: "p", Provider: captures(func(ctx context.Context, _ *memory.TurnCompleted) error {
				assert.NoError(t, o.Discard(ctx, sampleKey, slots...))
				return errDown
			}),
		})
		b.start("q")
		require.ErrorIs(t, b.complete(), errDown)
		turns := pending(t, o)
		if slots == nil {
			require.Empty(t, turns)
			continue
		}
		require.Len(t, turns, 1)
		require.Len(t, turns[0].Captures, 1)
		require.Equal(t, "kept", turns[0].Captures[0].Slot)
	}
}

func TestTurnOfAnotherScopeUnderTheSameIDsIsRefused(t *testing.T) {
	t.Parallel()
	o := outbox(t, state.InMemory())
	k := keeper{fails: errDown}
	first := newBundle(t, &memory.Options{Outbox: o}, k.slot("p"))
	first.start("words of one")
	require.ErrorIs(t, first.complete(), errDown)

	slot := k.slot("p")
	slot.Scope = scope.String("u_43")
	second := newBundle(t, &memory.Options{Outbox: o}, slot)
	second.start("words of another")
	require.ErrorIs(t, second.complete(), memory.ErrInvalidRequest)
	require.Len(t, k.asked, 1)
}

func TestRunOutboxLogsTheErrorOfItsStoreAndGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &stalled{OutboxStore: state.InMemory()}
		var j journal
		var k keeper
		b := newBundle(t, &memory.Options{Outbox: outbox(t, store), Logger: j.logger()}, k.slot("p"))
		_, err := store.Write(t.Context(), sampleKey, sampleRecord(t, func(map[string]any) {}), "")
		require.NoError(t, err)
		store.stall.Store("list")
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- b.m.RunOutbox(ctx) }()
		time.Sleep(2 * time.Minute)
		require.Contains(t, strings.Join(j.all(), "\n"), "draining the outbox failed")
		store.stall.Store("")
		time.Sleep(2 * time.Minute)
		_, captured := k.counts()
		require.Equal(t, 1, captured)
		stop()
		require.NoError(t, <-ended)
	})
}

func TestOutboxReturnsTheErrorsOfItsStore(t *testing.T) {
	t.Parallel()
	store := &tampered{OutboxStore: state.InMemory()}
	o := outbox(t, store)
	k := keeper{fails: errDown}
	b := newBundle(t, &memory.Options{Outbox: o}, k.slot("p"))
	b.start("q")
	require.ErrorIs(t, b.complete(), errDown)
	id := pending(t, o)[0].ID
	store.list, store.remove = errDown, errDown
	_, _, err := o.Pending(t.Context(), "", 10)
	require.ErrorIs(t, err, errDown)
	require.ErrorIs(t, o.Discard(t.Context(), id), errDown)
	require.ErrorIs(t, o.Discard(t.Context(), id, "p"), errDown)
	store.list, store.remove = nil, nil
	require.Len(t, pending(t, o), 1)
	require.Zero(t, stats(t, o).CapturesDropped)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = o.Pending(ctx, "", 10)
	require.ErrorIs(t, err, context.Canceled)
	_, err = o.Stats(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// counted is a store that notes its calls.
type counted struct {
	memory.OutboxStore
	calls []string
}

func (s *counted) Read(ctx context.Context, key string) ([]byte, string, error) {
	s.calls = append(s.calls, "read")
	return s.OutboxStore.Read(ctx, key)
}

func (s *counted) Write(ctx context.Context, key string, content []byte, expected string) (string, error) {
	s.calls = append(s.calls, "write")
	return s.OutboxStore.Write(ctx, key, content, expected)
}

func (s *counted) Delete(ctx context.Context, key, expected string) error {
	s.calls = append(s.calls, "delete")
	return s.OutboxStore.Delete(ctx, key, expected)
}

func TestOrdinaryTurnCostsAWriteAndADelete(t *testing.T) {
	t.Parallel()
	store := &counted{OutboxStore: state.InMemory()}
	var k, l keeper
	b := newBundle(t, &memory.Options{Outbox: outbox(t, store)}, k.slot("p"), l.slot("q"))
	b.start("q")
	require.NoError(t, b.complete())
	require.Equal(t, []string{"write", "delete"}, store.calls)
}
