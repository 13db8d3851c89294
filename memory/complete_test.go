package memory_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

func captures(f func(context.Context, *memory.TurnCompleted) error, items ...memory.Item) memory.Handlers {
	h := recalls(items...)
	h.CaptureTurn = f
	return h
}

func TestCaptureSeesTheProjectedTurn(t *testing.T) {
	t.Parallel()
	var seen *memory.TurnCompleted
	h := captures(func(_ context.Context, r *memory.TurnCompleted) error {
		seen = r
		return nil
	}, memory.Item{Content: "record"})
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: h})
	b.history = []memory.Message{memory.UserMessage("earlier"), memory.AssistantMessage("words of another turn")}
	b.start("q")
	b.reply("a")
	require.NoError(t, b.complete())
	require.Equal(t, []string{"earlier", "words of another turn", "record", "q", "a"}, texts(seen.Messages))
	require.Equal(t, []string{"q", "a"}, texts(seen.Messages[seen.Turn.Start:]), "the turn's own messages")
	require.Equal(t, "eve-memory-operation-v1:session_1:1:turn_1:turn.completed:p", seen.ID)
	require.Equal(t, []string{"q"}, texts(seen.Turn.Input))
	for _, m := range seen.Messages {
		require.Nil(t, m.Metadata())
	}
}

func TestTurnsOwnMessagesBeginAtItsLastInput(t *testing.T) {
	t.Parallel()
	start := -1
	h := captures(func(_ context.Context, r *memory.TurnCompleted) error {
		start = r.Turn.Start
		return nil
	})
	for name, c := range map[string]struct {
		history []memory.Message
		input   []memory.Message
		want    int
	}{
		"the same words earlier": {
			[]memory.Message{memory.UserMessage("yes"), memory.AssistantMessage("a"), memory.UserMessage("yes"), memory.AssistantMessage("b")},
			[]memory.Message{memory.UserMessage("yes")}, 2,
		},
		"several messages": {
			[]memory.Message{memory.UserMessage("q"), memory.NewMessage("user", "context", "c"), memory.UserMessage("q"), memory.AssistantMessage("b")},
			[]memory.Message{memory.NewMessage("user", "context", "c"), memory.UserMessage("q")}, 1,
		},
		"cut by a compaction": {
			[]memory.Message{memory.UserMessage("other"), memory.AssistantMessage("x"), memory.UserMessage("q"), memory.AssistantMessage("b")},
			[]memory.Message{memory.NewMessage("user", "context", "c"), memory.UserMessage("q")}, 2,
		},
		"stored with more members": {
			[]memory.Message{memory.AssistantMessage("x"), decode(t, `{"content":"q","kind":"user","role":"user","id":7}`), memory.AssistantMessage("b")},
			[]memory.Message{memory.UserMessage("q")}, 1,
		},
		"no input, so nothing is known to be its own": {
			[]memory.Message{memory.AssistantMessage("x"), memory.UserMessage("another caller's"), memory.AssistantMessage("b")}, nil, 3,
		},
		"an event that a compaction has dropped, behind another caller's words": {
			[]memory.Message{memory.UserMessage("another caller's"), memory.AssistantMessage("b")},
			[]memory.Message{memory.NewMessage("user", "event", "alarm")}, 2,
		},
		"the end of its input, where a compaction has dropped the beginning": {
			[]memory.Message{memory.UserMessage("another caller's"), memory.NewMessage("user", "event", "2"), memory.AssistantMessage("b")},
			[]memory.Message{memory.NewMessage("user", "event", "1"), memory.NewMessage("user", "event", "2")}, 1,
		},
		"stored by a host that escapes and orders JSON in another way": {
			[]memory.Message{
				memory.UserMessage("x"), memory.AssistantMessage("x"),
				decode(t, `{"role":"user","kind":"event","content":[{"text":"a\u0026b","type":"text"}]}`), memory.AssistantMessage("b"),
			},
			[]memory.Message{decode(t, `{"role":"user","kind":"event","content":[{"type":"text","text":"a&b"}]}`)}, 2,
		},
		"nobody's": {[]memory.Message{memory.AssistantMessage("x")}, nil, 1},
	} {
		b := newBundle(t, nil, memory.Slot{Name: "p", Provider: h})
		b.start("q")
		r := b.current()
		r.History, r.Turn.Input = c.history, c.input
		_, err := b.m.CompleteTurn(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, c.want, start, name)
	}
}

func TestCapturesRunConcurrentlyAndAllAreAwaited(t *testing.T) {
	t.Parallel()
	var group sync.WaitGroup
	group.Add(3)
	boom := errors.New("boom")
	var j journal
	slot := func(name string, err error) memory.Slot {
		return memory.Slot{Name: name, Provider: captures(func(_ context.Context, r *memory.TurnCompleted) error {
			group.Done()
			group.Wait()
			j.add("%s", name)
			clear(r.Messages)
			return err
		})}
	}
	var completed *memory.Event
	b := newBundle(t, &memory.Options{Logger: j.logger(), Observer: &memory.Observer{Happened: func(_ context.Context, e *memory.Event) {
		if e.Kind == memory.EventTurnCompleted {
			completed = e
		}
	}}}, slot("a", boom), slot("b", nil), slot("c", errors.New("bang")))
	b.start("q")
	err := b.complete()
	require.ErrorIs(t, err, boom)
	require.ErrorIs(t, err, memory.ErrProvider)
	require.ErrorContains(t, err, `slot "a"`)
	require.ErrorContains(t, err, "bang")
	require.Equal(t, err, completed.Err, "the observer is told")
	require.Contains(t, strings.Join(j.all(), "\n"), "capture of a completed turn failed")
	require.ErrorIs(t, b.complete(), memory.ErrTurnNotOpen, "the turn stays complete")
}

func TestCaptureOutlivesTheRequestsContext(t *testing.T) {
	t.Parallel()
	type key struct{}
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: captures(func(ctx context.Context, _ *memory.TurnCompleted) error {
		if ctx.Value(key{}) != "kept" {
			return errors.New("the values are gone")
		}
		return ctx.Err()
	})})
	b.start("q")
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "kept"))
	cancel()
	_, err := b.m.CompleteTurn(ctx, b.current())
	require.NoError(t, err)
}

func TestCaptureHasATimeoutOfItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		done := false
		b := newBundle(t, &memory.Options{CaptureTimeout: time.Minute},
			memory.Slot{Name: "deaf", Provider: captures(func(context.Context, *memory.TurnCompleted) error {
				time.Sleep(time.Hour)
				return nil
			})},
			memory.Slot{Name: "quick", Provider: captures(func(context.Context, *memory.TurnCompleted) error {
				done = true
				return nil
			})})
		b.start("q")
		began := time.Now()
		err := b.complete()
		require.ErrorIs(t, err, memory.ErrTimeout)
		require.ErrorIs(t, err, memory.ErrProvider)
		require.NotErrorIs(t, err, memory.ErrCancelled)
		require.Equal(t, time.Minute, time.Since(began))
		require.True(t, done)
		time.Sleep(2 * time.Hour)
	})
}

func TestTurnThatIsNotOpenIsNotCaptured(t *testing.T) {
	t.Parallel()
	captured := 0
	provider := captures(func(context.Context, *memory.TurnCompleted) error {
		captured++
		return nil
	})
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: provider})

	b.start("completed twice")
	require.NoError(t, b.complete())
	require.ErrorIs(t, b.complete(), memory.ErrTurnNotOpen)
	require.Equal(t, 1, captured)

	b.start("older")
	older := b.current()
	b.start("newer")
	older.Bookkeeping = b.book
	_, err := b.m.CompleteTurn(t.Context(), older)
	require.ErrorIs(t, err, memory.ErrTurnNotOpen)
	require.NoError(t, b.complete())

	failing := provider
	failing.Recall = recallFails(errors.New("boom")).Recall
	b.replace(nil, memory.Slot{Name: "p", Provider: failing})
	_, err = b.m.StartTurn(t.Context(), b.request("failed start"))
	require.Error(t, err)
	require.ErrorIs(t, b.complete(), memory.ErrTurnNotOpen)

	b.book = memory.Bookkeeping{}
	require.ErrorIs(t, b.complete(), memory.ErrTurnNotOpen, "nor after a clear")
	require.Equal(t, 2, captured)
}

func TestCompactionPhasesOfATurn(t *testing.T) {
	t.Parallel()
	var j journal
	h := recalls(memory.Item{ID: "d", Content: "v1"}, memory.Item{Content: "loose"})
	h.CaptureCompaction = func(_ context.Context, r *memory.CompactionRequested) error {
		j.add("%s %v %s %d %d", r.ID, texts(r.Messages), r.ModelID, r.InputTokens, r.Turn.Start)
		clear(r.Messages)
		return nil
	}
	h.RecallCompacted = func(_ context.Context, r *memory.CompactionCompleted) ([]memory.Item, error) {
		j.add("%s %v %s %d", r.ID, texts(r.Messages), r.ModelID, r.Turn.Start)
		clear(r.Messages)
		return []memory.Item{{ID: "d", Content: "v2"}}, nil
	}
	var events []memory.Event
	b := newBundle(t, &memory.Options{Observer: &memory.Observer{Happened: func(_ context.Context, e *memory.Event) { events = append(events, *e) }}},
		memory.Slot{Name: "p", Provider: h}, memory.Slot{Name: "silent", Provider: recalls(memory.Item{ID: "s", Content: "silent"})})
	b.start("q")
	b.reply("a")
	step := 3
	c := b.compaction("sum")
	c.Turn, c.StepIndex, c.InputTokens = &b.turn, &step, 1000
	c.Checkpoint = append(c.Checkpoint, memory.UserMessage("q"), memory.AssistantMessage("a"))
	book, err := b.m.RequestCompaction(t.Context(), c)
	require.NoError(t, err)
	c.Bookkeeping = book
	view, err := b.m.CompleteCompaction(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, []string{
		"eve-memory-operation-v1:session_1:1:turn_1:3:compaction.requested:p [v1 loose silent q a] model 1000 3",
		"eve-memory-operation-v1:session_1:1:turn_1:3:compaction.completed:p [v1 loose silent summary sum q a] model 5",
	}, j.all())
	require.Equal(t, []string{"v1", "loose", "silent", "summary", "sum", "v2", "q", "a"}, texts(view.History))
	require.Equal(t, []string{"loose", "silent", "summary", "sum", "v2", "q", "a"}, texts(view.Messages), "locks are merged: the silent slot keeps its own")
	require.Equal(t, []string{"v2"}, texts(view.Records))
	last := events[len(events)-1]
	require.Equal(t, memory.Event{
		Kind: memory.EventCompactionCompleted, SessionID: "session_1", Node: scope.RootNode, TurnID: "turn_1", Records: 1, Messages: 8, Before: 5,
	}, last)
	b.history, b.book = view.History, view.Bookkeeping
	b.store()
	require.NoError(t, b.complete())
	records, _, err := memory.Canonical(b.history)
	require.NoError(t, err)
	require.Equal(t, []string{"loose", "silent", "v2"}, texts(records), "the next compaction keeps the newest keyed value only")
}

func TestTwoCompactionsOfOneTurnAreTwoOperations(t *testing.T) {
	t.Parallel()
	n := 0
	h := recalls()
	h.RecallCompacted = func(context.Context, *memory.CompactionCompleted) ([]memory.Item, error) {
		n++
		return []memory.Item{{Content: strings.Repeat("x", n)}}, nil
	}
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: h})
	b.start("q")
	compact := func(step *int) error {
		c := b.compaction("s")
		c.Turn, c.StepIndex = &b.turn, step
		view, err := b.m.CompleteCompaction(t.Context(), c)
		if err == nil {
			b.history, b.book = view.History, view.Bookkeeping
		}
		return err
	}
	zero, one := 0, 1
	require.NoError(t, compact(nil))
	require.NoError(t, compact(&zero))
	require.NoError(t, compact(&one))
	require.ErrorIs(t, compact(&one), memory.ErrReplay)
	negative := -1
	require.ErrorIs(t, compact(&negative), memory.ErrInvalidRequest)
}

func TestStandaloneCompactionLocksAnewForTheCurrentCaller(t *testing.T) {
	t.Parallel()
	h := recalls(memory.Item{Content: "of a"})
	var j journal
	h.CaptureCompaction = func(_ context.Context, r *memory.CompactionRequested) error {
		j.add("%s %v %v", r.ID, r.Scope.Parts(), texts(r.Messages))
		if r.Turn != nil {
			return errors.New("there is no turn")
		}
		return nil
	}
	h.RecallCompacted = func(_ context.Context, r *memory.CompactionCompleted) ([]memory.Item, error) {
		j.add("%s %v", r.ID, r.Scope.Parts())
		return []memory.Item{{Content: "new"}}, nil
	}
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: h, Scope: byCurrent})
	b.session.Current = user("a")
	b.start("q")
	b.reply("answer")
	require.NoError(t, b.complete())
	b.session.Current = user("b")
	c := b.compaction("sum")
	book, err := b.m.RequestCompaction(t.Context(), c)
	require.NoError(t, err)
	c.Bookkeeping = book
	view, err := b.m.CompleteCompaction(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, []string{
		"eve-memory-operation-v1:session_1:2:standalone:compaction.requested:p [b] [q answer]",
		"eve-memory-operation-v1:session_1:2:standalone:compaction.completed:p [b]",
	}, j.all())
	require.Equal(t, []string{"of a", "summary", "sum", "new"}, texts(view.History), "hidden records stay, new ones go to the end")
	require.Equal(t, []string{"summary", "sum", "new"}, texts(view.Messages))
}

func TestFailureOfACompactionChangesNothing(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	h := recalls(memory.Item{Content: "record"})
	h.CaptureCompaction = func(context.Context, *memory.CompactionRequested) error { return boom }
	h.RecallCompacted = func(context.Context, *memory.CompactionCompleted) ([]memory.Item, error) { panic(boom) }
	for _, bestEffort := range []bool{false, true} {
		b := newBundle(t, nil, memory.Slot{Name: "p", Provider: h, BestEffort: bestEffort})
		b.start("q")
		before := through(t, b.book)
		c := b.compaction("s")
		c.Turn = &b.turn
		book, errCapture := b.m.RequestCompaction(t.Context(), c)
		view, errRecall := b.m.CompleteCompaction(t.Context(), c)
		require.Equal(t, before, through(t, book))
		require.Equal(t, before, through(t, b.book))
		if bestEffort {
			require.NoError(t, errCapture)
			require.NoError(t, errRecall)
			require.Equal(t, []string{"record", "summary", "s"}, texts(view.Messages))
			continue
		}
		require.ErrorIs(t, errCapture, boom)
		require.ErrorIs(t, errCapture, memory.ErrProvider)
		require.ErrorIs(t, errRecall, boom)
		require.Nil(t, view)
	}
}

func TestCompactionOfATurnThatIsNotOpenIsRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: recalls()})
	b.start("q")
	require.NoError(t, b.complete())
	c := b.compaction("s")
	c.Turn = &b.turn
	_, err := b.m.RequestCompaction(t.Context(), c)
	require.ErrorIs(t, err, memory.ErrTurnNotOpen)
	_, err = b.m.CompleteCompaction(t.Context(), c)
	require.ErrorIs(t, err, memory.ErrTurnNotOpen)
}

func TestCompactionIsCancelledWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := recalls()
		h.CaptureCompaction = func(context.Context, *memory.CompactionRequested) error {
			time.Sleep(time.Hour)
			return nil
		}
		b := newBundle(t, nil, memory.Slot{Name: "p", Provider: h})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := b.m.RequestCompaction(ctx, b.compaction("s"))
		require.ErrorIs(t, err, memory.ErrCancelled)
		time.Sleep(2 * time.Hour)
	})
}
