package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
)

// small is a policy under which a few messages of talk make a compaction due.
func small() *memory.Policy { return &memory.Policy{ContextWindow: 1300, Threshold: 1} }

// counting is a summarizer that numbers its summaries.
type counting struct {
	prompts []string
	err     error
	during  func()
}

func (c *counting) summarize(_ context.Context, r *memory.SummaryRequest) (string, error) {
	c.prompts = append(c.prompts, r.Prompt)
	if c.during != nil {
		c.during()
	}
	return fmt.Sprintf("summary %d", len(c.prompts)), c.err
}

func words(n int) string { return strings.Repeat("word ", n) }

// filled is a session with ten exchanges behind it.
func (b *sessionBundle) filled(t testing.TB, opts *memory.SessionOptions) *memory.Session {
	t.Helper()
	s := b.session(t, opts)
	for i := range 10 {
		exchange(t, s, member("acme"), fmt.Sprint("question ", i, " ", words(40)), fmt.Sprint("answer ", i, " ", words(40)))
	}
	return s
}

func TestSessionCompactsInsideATurn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newSessionBundle(t)
	acme := keyFor(t, "app", "acme")
	b.book.add(acme, "likes tea")
	c := &counting{}
	s := b.filled(t, &memory.SessionOptions{ID: "session", Policy: small(), Summarize: c.summarize})
	turn := begin(t, s, said("turn", member("acme"), "the question at hand"))
	b.book.add(acme, "likes coffee")
	report, err := turn.Compact(ctx, &memory.CompactCall{ModelID: "model"})
	require.NoError(t, err)
	require.Equal(t, memory.CompactSummarized, report.Outcome)
	assert.Less(t, report.After, report.Before)
	view := texts(turn.View())
	assert.Equal(t, "summary 1", view[1])
	assert.Equal(t, []string{"likes tea\nlikes coffee", "the question at hand"}, view[len(view)-2:],
		"what was recalled anew stands before the question")
	assert.NotContains(t, view, "likes tea", "it took the place of the earlier record")
	assert.NotContains(t, strings.Join(c.prompts, ""), "likes tea")
	requested, completed := b.book.of("capture compaction"), b.book.of("recall compacted")
	require.Len(t, requested, 1)
	require.Len(t, completed, 1)
	assert.Equal(t, "eve-memory-operation-v1:session:10:turn:0:compaction.requested:profile", requested[0].operation)
	assert.Equal(t, []string{"the question at hand"}, texts(requested[0].messages[requested[0].turn.Start:]))

	report, err = turn.Compact(ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, memory.CompactNotDue, report.Outcome)
	require.NoError(t, turn.Append(memory.AssistantMessage(words(2000))))
	require.NoError(t, turn.Deliver(said("", member("acme"), "go on")))
	report, err = turn.Compact(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, memory.CompactSummarized, report.Outcome)
	requested = b.book.of("capture compaction")
	require.Len(t, requested, 2)
	assert.NotEqual(t, requested[0].operation, requested[1].operation, "two compactions of one turn are two operations")
	assert.Contains(t, c.prompts[len(c.prompts)-1], "summary ", "the earlier summary is handed over")
	require.NoError(t, turn.Append(memory.AssistantMessage("done")))
	turn.View()
	require.NoError(t, turn.Complete(ctx))
	assert.Len(t, b.book.of("capture"), 11)
}

func TestSessionCompactsByWhatTheModelsProviderCounted(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newSessionBundle(t)
	c := &counting{}
	s := b.filled(t, &memory.SessionOptions{Policy: &memory.Policy{ContextWindow: 5000, Threshold: 1}, Summarize: c.summarize})
	turn := begin(t, s, said("turn", member("acme"), "hello"))
	report, err := turn.Compact(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, memory.CompactNotDue, report.Outcome)
	require.NoError(t, turn.Counted(4900, 0))
	require.NoError(t, turn.Append(call("1")))
	require.NoError(t, turn.Append(toolText("1", "ok")))
	report, err = turn.Compact(ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, memory.CompactSummarized, report.Outcome)
	report, err = turn.Compact(ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, memory.CompactNotDue, report.Outcome, "the count of another history is forgotten")
	turn.Fail()
}

func TestSessionCompactionThatFreesNothingIsNotTriedAgainInItsTurn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newSessionBundle(t)
	c := &counting{}
	s := b.session(t, &memory.SessionOptions{Policy: small(), Summarize: c.summarize})
	turn := begin(t, s, said("turn", member("acme"), words(5000)))
	for range 3 {
		report, err := turn.Compact(ctx, nil)
		require.NoError(t, err)
		assert.Equal(t, memory.CompactNothingFreed, report.Outcome)
	}
	require.NoError(t, turn.Append(memory.AssistantMessage(words(5000))))
	report, err := turn.Compact(ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, memory.CompactNothingFreed, report.Outcome)
	assert.Empty(t, c.prompts)
	require.NoError(t, turn.Complete(ctx))

	turn = begin(t, s, said("next", member("acme"), "and now?"))
	report, err = turn.Compact(ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, memory.CompactSummarized, report.Outcome, "another turn tries again")
	turn.Fail()
}

func TestSessionCompactionThatIsNotEnoughWaitsForGrowth(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newSessionBundle(t)
	c := &counting{}
	s := b.session(t, &memory.SessionOptions{Policy: small(), Summarize: c.summarize})
	exchange(t, s, member("acme"), words(500), words(500))
	turn := begin(t, s, said("turn", member("acme"), words(5000)))
	report, err := turn.Compact(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, memory.CompactSummarized, report.Outcome)
	asked := len(c.prompts)
	for i := range 5 {
		require.NoError(t, turn.Append(memory.AssistantMessage(fmt.Sprint("step ", i))))
		report, err = turn.Compact(ctx, nil)
		require.NoError(t, err)
		assert.Equal(t, memory.CompactNotDue, report.Outcome)
	}
	assert.Len(t, c.prompts, asked, "no summary for every model call")
	require.NoError(t, turn.Append(memory.AssistantMessage(words(500))))
	report, err = turn.Compact(ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, memory.CompactSummarized, report.Outcome)
	turn.Fail()
}

func TestSessionFailureOfACompactionFailsItsTurn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newSessionBundle(t)
	c := &counting{err: errors.New("refused")}
	s := b.filled(t, &memory.SessionOptions{Policy: small(), Summarize: c.summarize})
	turn := begin(t, s, said("turn", member("acme"), "hello"))
	before := s.History()
	_, err := turn.Compact(ctx, nil)
	assert.ErrorIs(t, err, memory.ErrSummary)
	assert.Equal(t, before, s.History(), "the history is as it was")
	assert.ErrorIs(t, turn.Complete(ctx), memory.ErrTurnNotOpen)
	assert.Len(t, b.book.of("capture"), 10, "a failed turn is not captured")
	c.err = nil
	turn = begin(t, s, said("next", member("acme"), "again"))
	report, err := turn.Compact(ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, memory.CompactSummarized, report.Outcome)
	turn.Fail()
}

func TestSessionFailureOfARecallAfterACompactionFailsItsTurn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newSessionBundle(t)
	h, err := b.book.Attach(memory.SlotInfo{})
	require.NoError(t, err)
	h.RecallCompacted = func(context.Context, *memory.CompactionCompleted) ([]memory.Item, error) { return nil, errDown }
	b.slots[0].Provider = h
	b.rebuild(t)
	c := &counting{}
	s := b.filled(t, &memory.SessionOptions{Policy: small(), Summarize: c.summarize})
	turn := begin(t, s, said("turn", member("acme"), "hello"))
	before := s.History()
	report, err := turn.Compact(ctx, nil)
	require.ErrorIs(t, err, errDown)
	assert.Nil(t, report)
	assert.NotEmpty(t, c.prompts, "the summary was made")
	assert.Equal(t, before, s.History(), "the history is as it was")
	assert.ErrorIs(t, turn.Complete(ctx), memory.ErrTurnNotOpen)
	assert.Len(t, b.book.of("capture"), 10, "a failed turn is not captured")
}

func TestSessionKeepsWhatIsSaidDuringACompaction(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newSessionBundle(t)
	c := &counting{}
	s := b.filled(t, &memory.SessionOptions{Policy: small(), Summarize: c.summarize})
	turn := begin(t, s, said("turn", member("acme"), "hello"))
	c.during = func() {
		assert.NoError(t, turn.Append(memory.AssistantMessage("meanwhile")))
		assert.NoError(t, turn.Deliver(said("", member("acme"), "listen")))
		assert.NoError(t, turn.Append(memory.AssistantMessage("yes")))
		c.during = nil
	}
	_, err := turn.Compact(ctx, nil)
	require.NoError(t, err)
	view := texts(turn.View())
	assert.Equal(t, []string{"hello", "meanwhile", "yes", "listen"}, view[len(view)-4:])
	plain, err := s.View()
	require.NoError(t, err)
	assert.Equal(t, view, texts(plain))
	turn.Fail()
}

func TestSessionTurnThatFailsDuringACompactionStaysFailed(t *testing.T) {
	t.Parallel()
	b := newSessionBundle(t)
	c := &counting{}
	s := b.filled(t, &memory.SessionOptions{Policy: small(), Summarize: c.summarize})
	turn := begin(t, s, said("turn", member("acme"), "hello"))
	c.during = func() { turn.Fail() }
	_, err := turn.Compact(context.Background(), nil)
	assert.ErrorIs(t, err, memory.ErrTurnNotOpen)
	assert.Len(t, s.History(), 21)
}

func TestSessionCaptureOfACompactionDoesNotSeeAnotherCallersDelivery(t *testing.T) {
	t.Parallel()
	b := newSessionBundle(t)
	c := &counting{}
	s := b.filled(t, &memory.SessionOptions{Policy: small(), Summarize: c.summarize})
	turn := begin(t, s, said("turn", member("acme"), "hello"))
	require.NoError(t, turn.Deliver(said("", member("globex"), "GLOBEX words")))
	_, err := turn.Compact(context.Background(), nil)
	require.NoError(t, err)
	for _, c := range b.book.of("capture compaction") {
		assert.NotContains(t, texts(c.messages), "GLOBEX words")
	}
	assert.Contains(t, texts(turn.View()), "GLOBEX words")
	turn.Fail()
}

func TestSessionCompactBetweenTurnsReportsAFailedRecallAndKeepsTheCheckpoint(t *testing.T) {
	t.Parallel()
	b := newSessionBundle(t)
	c := &counting{}
	b.slots[0].Provider = memory.Handlers{
		Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) { return nil, nil },
		RecallCompacted: func(context.Context, *memory.CompactionCompleted) ([]memory.Item, error) {
			return nil, errors.New("down")
		},
	}
	b.rebuild(t)
	s := b.filled(t, &memory.SessionOptions{Policy: small(), Summarize: c.summarize})
	report, err := s.Compact(context.Background(), &memory.CompactCall{Current: member("acme")})
	assert.ErrorIs(t, err, memory.ErrProvider)
	require.NotNil(t, report)
	assert.Equal(t, memory.CompactSummarized, report.Outcome)
	assert.Equal(t, "summary", strings.Fields(s.History()[1].Text())[0])
}

func TestSessionDropsPiledUpRecordsBetweenModelCalls(t *testing.T) {
	t.Parallel()
	b := newSessionBundle(t)
	s := b.session(t, &memory.SessionOptions{Policy: &memory.Policy{ContextWindow: 10_000_000}})
	acme := keyFor(t, "app", "acme")
	for i := range 20 {
		b.book.add(acme, fmt.Sprint("line ", i, " ", words(500)))
		exchange(t, s, member("acme"), "hello", "hi")
	}
	turn := begin(t, s, said("", member("acme"), "hello"))
	before := turn.View()
	report, err := turn.Compact(context.Background(), nil)
	require.NoError(t, err)
	assert.Equal(t, memory.CompactCanonicalized, report.Outcome)
	assert.ElementsMatch(t, texts(before), texts(turn.View()), "the model sees what it saw")
	assert.Len(t, s.History(), 42)
	assert.Empty(t, b.book.of("capture compaction"), "nothing is lost, so nobody is asked to capture")
	require.NoError(t, turn.Append(memory.AssistantMessage("hi")))
	require.NoError(t, turn.Complete(context.Background()))
	c := b.book.of("capture")[20]
	assert.Equal(t, []string{"hello", "hi"}, texts(c.messages[c.turn.Start:]))
}

func TestSessionRecallsNothingBetweenACallAndItsResults(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, kind := range []string{memory.KindUser, "", "context.note"} {
		t.Run("kind "+kind, func(t *testing.T) {
			t.Parallel()
			b := newSessionBundle(t)
			s := b.session(t, &memory.SessionOptions{Policy: small(), Summarize: new(counting).summarize})
			say := func(text string) *memory.OpenTurn {
				return begin(t, s, &memory.Delivery{Current: member("acme"), Input: []memory.Message{memory.NewMessage(memory.RoleUser, kind, text)}})
			}
			for i := range 10 {
				turn := say(fmt.Sprint("question ", i, " ", words(40)))
				require.NoError(t, turn.Append(memory.AssistantMessage(words(40))))
				require.NoError(t, turn.Complete(ctx))
			}
			turn := say("the question at hand")
			require.NoError(t, turn.Append(call("1")))
			b.book.add(keyFor(t, "app", "acme"), "likes tea")
			report, err := turn.Compact(ctx, nil)
			require.NoError(t, err)
			require.Equal(t, memory.CompactSummarized, report.Outcome)
			view := turn.View()
			require.Contains(t, texts(view), "likes tea")
			require.Len(t, view[len(view)-1].ToolCalls(), 1)
			require.Len(t, turn.Pending(), 1)
			require.NoError(t, turn.Append(toolText("1", "ok"), memory.AssistantMessage("done")))
			require.NoError(t, turn.Complete(ctx))
		})
	}
}

func TestPolicyMeasuresMediaWithoutTheSessionsLock(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newSessionBundle(t)
	var turn *memory.OpenTurn
	var s *memory.Session
	asked := 0
	policy := small()
	policy.Media = func(*memory.MediaPart) (int64, bool) {
		asked++
		_, err := s.Snapshot()
		require.NoError(t, err)
		require.NotEmpty(t, s.History())
		require.NotEmpty(t, turn.View())
		require.Empty(t, turn.Pending())
		return 10, true
	}
	image := decode(t, `{"role":"user","kind":"user","content":[{"type":"image","image":"https://example.com/1.png"}]}`)
	c := &counting{}
	s = b.filled(t, &memory.SessionOptions{Policy: policy, Summarize: c.summarize})
	turn = begin(t, s, &memory.Delivery{Current: member("acme"), Input: []memory.Message{image}})
	report, err := turn.Compact(ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, memory.CompactSummarized, report.Outcome)
	compacting := asked
	require.NotZero(t, compacting)
	require.NoError(t, turn.Counted(1, 0))
	assert.Greater(t, asked, compacting)
	turn.Fail()
}

func TestSessionForgetsACountThatIsOlderThanACompaction(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newSessionBundle(t)
	var turn *memory.OpenTurn
	policy := small()
	counted := false // a count is being measured
	policy.Media = func(*memory.MediaPart) (int64, bool) {
		if counted {
			counted = false
			report, err := turn.Compact(ctx, nil)
			require.NoError(t, err)
			require.Equal(t, memory.CompactSummarized, report.Outcome)
		}
		return 10, true
	}
	image := decode(t, `{"role":"user","kind":"user","content":[{"type":"image","image":"https://example.com/1.png"}]}`)
	c := &counting{}
	s := b.filled(t, &memory.SessionOptions{Policy: policy, Summarize: c.summarize})
	turn = begin(t, s, &memory.Delivery{Current: member("acme"), Input: []memory.Message{image}})
	counted = true
	require.NoError(t, turn.Counted(1_000_000, 0))
	report, err := turn.Compact(ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, memory.CompactNotDue, report.Outcome, "the count was that of the longer history")
	turn.Fail()
}

// TestSessionCapturesAllOfATurnWhoseInputWasSummarized is about the place where a turn begins, once its input is no longer
// there to find it by.
func TestSessionCapturesAllOfATurnWhoseInputWasSummarized(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	note := memory.NewMessage(memory.RoleUser, "context.note", "a note from nobody") // not a person's
	for name, c := range map[string]struct {
		input   []memory.Message
		deliver *memory.Delivery
		own     []string // what the compaction keeps of the turn and its caller
	}{
		"another caller's delivery is kept instead": {nil, said("", member("globex"), "GLOBEX words"), nil},
		"the caller's own delivery is kept instead": {nil, said("", member("acme"), "ACME words"), []string{"ACME words"}},
		"nothing of the turn is kept":               {[]memory.Message{note}, nil, nil},
	} {
		for _, dies := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, dies=%t", name, dies), func(t *testing.T) {
				t.Parallel()
				b := newSessionBundle(t)
				opts := &memory.SessionOptions{Policy: small(), Summarize: new(counting).summarize}
				s := b.filled(t, opts)
				d := said("turn", member("acme"), "hello")
				if c.input != nil {
					d.Input = c.input
				}
				turn := begin(t, s, d)
				require.NoError(t, turn.Append(memory.AssistantMessage("early "+words(800))))
				if c.deliver != nil {
					require.NoError(t, turn.Deliver(c.deliver))
					turn.View()
				}
				summarize := func() {
					report, err := turn.Compact(ctx, nil)
					require.NoError(t, err)
					require.Equal(t, memory.CompactSummarized, report.Outcome)
				}
				restart := func() {
					if dies {
						s = b.restored(t, s, opts)
						turn = begin(t, s, &memory.Delivery{TurnID: "turn", Current: member("acme")})
					}
				}
				summarize()
				require.NotContains(t, texts(turn.View()), d.Input[0].Text())
				restart()
				require.NoError(t, turn.Append(memory.AssistantMessage("middle "+words(800)), call("1"), toolText("1", "late result")))
				restart()
				summarize()
				require.NoError(t, turn.Append(memory.AssistantMessage("late")))
				restart()
				require.NoError(t, turn.Complete(ctx))

				recalls := b.book.of("recall compacted")
				require.Len(t, recalls, 2)
				assert.Equal(t, append([]string{}, c.own...), texts(recalls[0].messages[recalls[0].turn.Start:]))
				requests := b.book.of("capture compaction")
				require.Len(t, requests, 2)
				middle := append(slices.Clone(c.own), "middle "+words(800), "", "")
				assert.Equal(t, middle, texts(requests[1].messages[requests[1].turn.Start:]))
				captures := b.book.of("capture")
				last := captures[len(captures)-1]
				own := last.messages[last.turn.Start:]
				assert.Equal(t, append(slices.Clone(c.own), "", "", "late"), texts(own))
			})
		}
	}
}
