package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

// compactBundle is a memory with one slot whose handlers a test can set, and a summarizer that notes what it is asked.
type compactBundle struct {
	handlers memory.Handlers
	asked    []*memory.SummaryRequest
	summary  string
	err      error
	policy   memory.Policy
	history  []memory.Message
	books    memory.Bookkeeping
	force    bool
	turn     *memory.Turn
}

func newCompactBundle() *compactBundle {
	return &compactBundle{
		handlers: memory.Handlers{Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) { return nil, nil }},
		summary:  "SUMMARY",
		policy:   memory.Policy{ContextWindow: 4000, Threshold: 1},
	}
}

func (b *compactBundle) memory(t testing.TB) *memory.Memory {
	t.Helper()
	m, err := memory.New([]memory.Slot{{
		Name: "profile", Provider: b.handlers, Scope: scope.Tuple("acme", "u_42"), Namespace: scope.Namespace("app"),
	}}, nil)
	require.NoError(t, err)
	return m
}

func (b *compactBundle) summarize(_ context.Context, r *memory.SummaryRequest) (string, error) {
	b.asked = append(b.asked, r)
	return b.summary, b.err
}

func (b *compactBundle) run(t testing.TB) (*memory.CompactResult, error) {
	t.Helper()
	step := 0
	return b.memory(t).Compact(context.Background(), &memory.CompactRequest{
		Compaction: memory.Compaction{
			Session: memory.SessionInfo{ID: "session"}, Turn: b.turn, StepIndex: &step, ModelID: "model", History: b.history, Bookkeeping: b.books,
		},
		Policy: &b.policy, Summarize: b.summarize, Force: b.force,
	})
}

func (b *compactBundle) mustRun(t testing.TB) *memory.CompactResult {
	t.Helper()
	result, err := b.run(t)
	require.NoError(t, err)
	return result
}

// talk returns a conversation of n messages of about 400 bytes each.
func talk(n int) []memory.Message {
	var messages []memory.Message
	for i := range n {
		text := fmt.Sprintf("message %d %s", i, strings.Repeat("w", 370))
		if i%2 == 0 {
			messages = append(messages, memory.UserMessage(text))
		} else {
			messages = append(messages, memory.AssistantMessage(text))
		}
	}
	return messages
}

func call(id string) memory.Message {
	return memory.AssistantMessage("", memory.ToolCallPart{CallID: id, Name: "run", Input: json.RawMessage(`{"command":"ls"}`)})
}

func TestCompactDoesNothingBelowTheLimit(t *testing.T) {
	t.Parallel()
	b := newCompactBundle()
	b.history = talk(4)
	result := b.mustRun(t)
	assert.Equal(t, memory.CompactNotDue, result.Outcome)
	assert.Equal(t, b.history, result.History)
	assert.Empty(t, b.asked)
}

func TestCompactSummarizesTheOlderPartAndKeepsTheRecentVerbatim(t *testing.T) {
	t.Parallel()
	b := newCompactBundle()
	b.history = talk(41)
	result := b.mustRun(t)
	assert.Equal(t, memory.CompactSummarized, result.Outcome)
	require.Len(t, result.History, 12)
	assert.Equal(t, memory.KindCheckpoint, result.History[0].Kind())
	assert.Equal(t, memory.RoleUser, result.History[0].Role())
	assert.Equal(t, "SUMMARY", result.History[1].Text())
	assert.Equal(t, memory.RoleAssistant, result.History[1].Role())
	assert.Equal(t, b.history[31:], result.History[2:], "the ten most recent messages")
	var asked []memory.Message
	prompts := ""
	for _, r := range b.asked {
		asked, prompts = append(asked, r.Messages...), prompts+r.Prompt
	}
	assert.Equal(t, b.history[:31], asked)
	assert.Less(t, result.After, result.Before)
	assert.LessOrEqual(t, result.After, b.policy.Limit())
	for _, m := range b.history[:31] {
		assert.Contains(t, prompts, m.Text(), "what was said is handed over in full")
	}
	for _, word := range []string{"Progress", "Decisions", "Constraints", "References"} {
		assert.Contains(t, b.asked[0].Instructions, word)
	}
}

func TestCompactHandsThePreviousSummaryOverWhole(t *testing.T) {
	t.Parallel()
	b := newCompactBundle()
	b.history = talk(41)
	b.summary = "FIRST " + strings.Repeat("long summary ", 300) + " END"
	first := b.mustRun(t)
	b.asked, b.history = nil, append(first.History, talk(31)...)
	previous := b.summary
	b.summary = "SECOND"
	second := b.mustRun(t)
	require.NotEmpty(t, b.asked)
	assert.Equal(t, previous, b.asked[0].Previous)
	assert.Contains(t, b.asked[0].Prompt, previous)
	assert.Equal(t, "SECOND", second.History[1].Text())
	for _, m := range b.asked[0].Messages {
		assert.NotEqual(t, memory.KindCheckpoint, m.Kind(), "the old checkpoint is no message to be summarized")
	}
	for _, m := range second.History[2:] {
		assert.NotEqual(t, memory.KindCheckpoint, m.Kind(), "there is one checkpoint")
	}
}

func TestCompactRefusesASummaryThatIsNone(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*compactBundle){
		"empty":     func(b *compactBundle) { b.summary = "" },
		"blank":     func(b *compactBundle) { b.summary = " \u3000\n\ufeff" },
		"not UTF-8": func(b *compactBundle) { b.summary = "\xff" },
		"error":     func(b *compactBundle) { b.err = errors.New("refused") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newCompactBundle()
			b.history = talk(41)
			prepare(b)
			result, err := b.run(t)
			assert.Nil(t, result)
			require.ErrorIs(t, err, memory.ErrSummary)
			if b.err != nil {
				assert.ErrorIs(t, err, b.err)
			}
		})
	}
}

func TestCompactTurnsAPanicOfTheSummarizerIntoAnError(t *testing.T) {
	t.Parallel()
	b := newCompactBundle()
	_, err := b.memory(t).Compact(context.Background(), &memory.CompactRequest{
		Compaction: memory.Compaction{Session: memory.SessionInfo{ID: "session"}, History: talk(41)},
		Policy:     &b.policy,
		Summarize:  func(context.Context, *memory.SummaryRequest) (string, error) { panic("secret") },
	})
	var panicked *memory.PanicError
	require.ErrorAs(t, err, &panicked)
	assert.ErrorIs(t, err, memory.ErrSummary)
	assert.NotContains(t, err.Error(), "secret")
}

func TestCompactIsCancelledByItsContextAlone(t *testing.T) {
	t.Parallel()
	b := newCompactBundle()
	b.history, b.err = talk(41), context.Canceled
	_, err := b.run(t)
	assert.NotErrorIs(t, err, memory.ErrCancelled, "the summarizer's own cancellation is a failure")

	b.err = memory.ErrCancelled
	_, err = b.run(t)
	assert.ErrorIs(t, err, memory.ErrSummary)
	assert.NotErrorIs(t, err, memory.ErrCancelled)
	ctx, cancel := context.WithCancel(context.Background())
	_, err = b.memory(t).Compact(ctx, &memory.CompactRequest{
		Compaction: memory.Compaction{Session: memory.SessionInfo{ID: "session"}, History: talk(41)},
		Policy:     &b.policy,
		Summarize:  func(context.Context, *memory.SummaryRequest) (string, error) { cancel(); return "late", nil },
	})
	assert.ErrorIs(t, err, memory.ErrCancelled)
}

func TestCompactShortensToolResultsFirst(t *testing.T) {
	t.Parallel()
	b := newCompactBundle()
	b.policy.ContextWindow = 6000
	b.history = slices.Concat(talk(2), []memory.Message{call("1"), toolText("1", strings.Repeat("z", 30_000))}, talk(11))
	result := b.mustRun(t)
	assert.Equal(t, memory.CompactShortened, result.Outcome)
	assert.Empty(t, b.asked, "no summary is needed")
	require.Len(t, result.History, len(b.history))
	for i, m := range result.History {
		if i != 3 {
			assert.Equal(t, b.history[i], m)
		}
	}
	assert.Contains(t, resultText(t, result.History[3]), "left out")
	assert.LessOrEqual(t, result.After, b.policy.Limit())
}

func TestCompactShortensAFreshResultThatFitsNowhere(t *testing.T) {
	t.Parallel()
	b := newCompactBundle()
	b.history = []memory.Message{memory.UserMessage("list everything"), call("1"), toolText("1", strings.Repeat("z", 60_000))}
	result := b.mustRun(t)
	assert.Equal(t, memory.CompactShortened, result.Outcome, "the model reads its beginning and end rather than a summary")
	assert.Empty(t, b.asked)
}

func TestCompactWithoutSummarizerOnlyShortens(t *testing.T) {
	t.Parallel()
	b := newCompactBundle()
	m := b.memory(t)
	request := &memory.CompactRequest{
		Compaction: memory.Compaction{Session: memory.SessionInfo{ID: "session"}, History: talk(41)}, Policy: &b.policy,
	}
	result, err := m.Compact(context.Background(), request)
	require.NoError(t, err)
	assert.Equal(t, memory.CompactNothingFreed, result.Outcome)
	request.History = slices.Concat([]memory.Message{call("1"), toolText("1", strings.Repeat("z", 30_000))}, talk(41))
	result, err = m.Compact(context.Background(), request)
	require.NoError(t, err)
	assert.Equal(t, memory.CompactShortened, result.Outcome)
}

func TestCompactThatFreesNothingSaysSo(t *testing.T) {
	t.Parallel()
	captures := 0
	for name, prepare := range map[string]func(*compactBundle){
		"one message that is too long": func(b *compactBundle) {
			b.history = []memory.Message{memory.UserMessage(strings.Repeat("a", 60_000))}
		},
		"a summary longer than what it replaces": func(b *compactBundle) {
			b.history, b.summary = talk(41), strings.Repeat("s", 100_000)
		},
		"a forced compaction of one exchange": func(b *compactBundle) { b.history, b.force = talk(2), true },
		"a forced compaction of nothing":      func(b *compactBundle) { b.force = true },
	} {
		t.Run(name, func(t *testing.T) {
			b := newCompactBundle()
			b.handlers.CaptureCompaction = func(context.Context, *memory.CompactionRequested) error { captures++; return nil }
			prepare(b)
			result := b.mustRun(t)
			assert.Equal(t, memory.CompactNothingFreed, result.Outcome)
			assert.False(t, result.Changed())
			assert.Equal(t, b.history, result.History)
			assert.Equal(t, result.Before, result.After)
		})
	}
	assert.Equal(t, 1, captures, "nobody is asked to capture when it is clear beforehand")
}

func TestCompactForcedKeepsTheLastExchange(t *testing.T) {
	t.Parallel()
	b := newCompactBundle()
	b.history, b.force = talk(8), true
	result := b.mustRun(t)
	assert.Equal(t, memory.CompactSummarized, result.Outcome)
	assert.Equal(t, b.history[6:], result.History[2:])
}

func TestCompactAsksTheSummarizerAgainWhileTheResultDoesNotFit(t *testing.T) {
	t.Parallel()
	b := newCompactBundle()
	b.history = talk(41)
	b.policy.ContextWindow = 2200
	b.summary = strings.Repeat("s", 4000)
	result := b.mustRun(t)
	assert.Equal(t, memory.CompactSummarized, result.Outcome)
	assert.Greater(t, result.Summaries, 1)
	assert.LessOrEqual(t, result.After, b.policy.Limit())
	assert.Equal(t, b.history[40], result.History[len(result.History)-1], "the last message of the user stays")
}

func TestCompactFeedsALongHistoryInParts(t *testing.T) {
	t.Parallel()
	b := newCompactBundle()
	b.history = append(talk(200), memory.UserMessage(strings.Repeat("记", 20_000)))
	b.history = append(b.history, talk(11)...)
	n := 0
	var asked []*memory.SummaryRequest
	result, err := b.memory(t).Compact(context.Background(), &memory.CompactRequest{
		Compaction: memory.Compaction{Session: memory.SessionInfo{ID: "session"}, History: b.history}, Policy: &b.policy,
		Summarize: func(_ context.Context, r *memory.SummaryRequest) (string, error) {
			asked = append(asked, r)
			n++
			return fmt.Sprintf("part %d", n), nil
		},
	})
	require.NoError(t, err)
	assert.Equal(t, memory.CompactSummarized, result.Outcome)
	assert.Equal(t, len(asked), result.Summaries)
	var covered []memory.Message
	for i, r := range asked {
		covered = append(covered, r.Messages...)
		assert.LessOrEqual(t, memory.EstimateText(r.Instructions)+memory.EstimateText(r.Prompt), b.policy.Limit(), "a request fits the window")
		if i > 0 {
			assert.Equal(t, fmt.Sprintf("part %d", i), r.Previous)
		}
	}
	assert.Equal(t, b.history[:len(covered)], covered, "every older message is summarized once, in order")
}

func TestCompactNeverShowsARecordToTheSummarizer(t *testing.T) {
	t.Parallel()
	b := newCompactBundle()
	b.handlers.Recall = func(context.Context, *memory.TurnStarted) ([]memory.Item, error) {
		return []memory.Item{{ID: "d", Content: "RECORD keyed"}, {Content: "RECORD loose"}}, nil
	}
	m := b.memory(t)
	input := []memory.Message{memory.UserMessage("hello")}
	view, err := m.StartTurn(context.Background(), &memory.TurnStart{
		Session: memory.SessionInfo{ID: "session"}, Turn: memory.Turn{ID: "turn", Input: input},
	})
	require.NoError(t, err)
	b.history, b.books = slices.Concat(view.Records, input, talk(41)), view.Bookkeeping
	result := b.mustRun(t)
	assert.Equal(t, memory.CompactSummarized, result.Outcome)
	for _, r := range b.asked {
		assert.NotContains(t, r.Prompt, "RECORD")
		for _, message := range r.Messages {
			assert.NotEqual(t, memory.KindRecord, message.Kind())
		}
	}
	assert.Equal(t, view.Records, result.History[:2], "records stay, in front of the summary")
	assert.Equal(t, "RECORD keyed", result.Messages[0].Text())
}

func TestCompactCaptureSeesTheHistoryBeforeItAndStopsIt(t *testing.T) {
	t.Parallel()
	b := newCompactBundle()
	b.history = talk(41)
	var seen []memory.Message
	b.handlers.CaptureCompaction = func(_ context.Context, r *memory.CompactionRequested) error {
		seen = r.Messages
		assert.Empty(t, b.asked, "before the summarizer")
		return errors.New("full")
	}
	result, err := b.run(t)
	assert.Nil(t, result)
	assert.ErrorIs(t, err, memory.ErrProvider)
	assert.Equal(t, b.history, seen)
	assert.Empty(t, b.asked)
}

func TestCompactKeepsTheCheckpointWhenARecallFailsBetweenTurnsAlone(t *testing.T) {
	t.Parallel()
	b := newCompactBundle()
	b.history = talk(41)
	b.handlers.RecallCompacted = func(context.Context, *memory.CompactionCompleted) ([]memory.Item, error) {
		return nil, errors.New("down")
	}
	result, err := b.run(t)
	require.ErrorIs(t, err, memory.ErrProvider)
	require.NotNil(t, result)
	assert.Equal(t, "SUMMARY", result.History[1].Text())

	b.turn = &memory.Turn{ID: "turn", Input: b.history[40:]}
	view, err := b.memory(t).StartTurn(context.Background(), &memory.TurnStart{
		Session: memory.SessionInfo{ID: "session"}, Turn: *b.turn, History: b.history[:40],
	})
	require.NoError(t, err)
	b.books = view.Bookkeeping
	result, err = b.run(t)
	require.ErrorIs(t, err, memory.ErrProvider)
	assert.Nil(t, result, "inside a turn the history is as it was")
}

func TestCompactDropsReplacedRecordsOnlyOverTheLimit(t *testing.T) {
	t.Parallel()
	version := 0
	b := newCompactBundle()
	b.policy = memory.Policy{ContextWindow: 10_000_000}
	b.handlers.Recall = func(context.Context, *memory.TurnStarted) ([]memory.Item, error) {
		version++
		return []memory.Item{{ID: "d", Content: fmt.Sprintf("version %d %s", version, strings.Repeat("x", 3000))}}, nil
	}
	m := b.memory(t)
	for i := range 100 {
		input := []memory.Message{memory.UserMessage("hello")}
		view, err := m.StartTurn(context.Background(), &memory.TurnStart{
			Session: memory.SessionInfo{ID: "session"}, Turn: memory.Turn{ID: fmt.Sprint("turn", i), Sequence: int64(i), Input: input},
			History: b.history, Bookkeeping: b.books,
		})
		require.NoError(t, err)
		b.history, b.books = slices.Concat(b.history, view.Records, input), view.Bookkeeping
		if i == 50 {
			assert.Equal(t, memory.CompactNotDue, b.mustRun(t).Outcome, "under the limit nothing is dropped")
		}
	}
	before, err := b.books.Project(b.history)
	require.NoError(t, err)
	result := b.mustRun(t)
	assert.Equal(t, memory.CompactCanonicalized, result.Outcome)
	assert.Empty(t, b.asked)
	assert.Len(t, result.History, 101)
	assert.ElementsMatch(t, before, result.Messages, "the model sees the same messages")
}

func TestCompactByTheProvidersCountIsDoneByIt(t *testing.T) {
	t.Parallel()
	b := newCompactBundle()
	b.policy = memory.Policy{ContextWindow: 8000, Threshold: 1}
	history := talk(30) // about 3300 tokens by our measure
	load := &memory.Load{Messages: history}
	excess := b.policy.Excess(load, 7900)
	load.Excess = excess
	require.True(t, b.policy.Due(load))
	result, err := b.memory(t).Compact(context.Background(), &memory.CompactRequest{
		Compaction: memory.Compaction{Session: memory.SessionInfo{ID: "session"}, History: history},
		Policy:     &b.policy, Summarize: b.summarize, Excess: excess,
	})
	require.NoError(t, err)
	assert.Equal(t, memory.CompactSummarized, result.Outcome)
	assert.Equal(t, int64(7900), result.Before)
	assert.False(t, b.policy.Due(&memory.Load{Messages: result.Messages, Excess: excess}), "it is done by the measure that made it due")
}

// TestCompactKeepsCallsAndResultsTogether compacts random conversations and looks at what every request to a model would
// look like after it.
func TestCompactKeepsCallsAndResultsTogether(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 1))
		b := newCompactBundle()
		b.policy.ContextWindow = 1000 + random.Int64N(4000)
		b.force = seed%3 == 0
		b.history = randomHistory(random)
		last := lastUserText(b.history)
		result := b.mustRun(t)
		requireWhole(t, result.History, seed)
		require.Equal(t, last, lastUserText(result.History), "seed %d: the last message of the user stays", seed)
		if result.Outcome == memory.CompactSummarized {
			require.LessOrEqual(t, len(result.History), 12, "seed %d", seed)
			require.Less(t, result.After, result.Before)
		}
	}
}

func randomHistory(random *rand.Rand) []memory.Message {
	messages := []memory.Message{memory.UserMessage("task")}
	for i := range 5 + random.IntN(40) {
		switch random.IntN(4) {
		case 0:
			messages = append(messages, memory.UserMessage(fmt.Sprintf("user %d %s", i, strings.Repeat("u", random.IntN(600)))))
		case 1:
			messages = append(messages, memory.AssistantMessage(strings.Repeat("a", random.IntN(600))))
		default:
			// Calls of several tools at once, answered in one message or several. Ids repeat, as some models give them.
			n := 1 + random.IntN(4)
			var calls []memory.ToolCallPart
			var results []memory.ToolResultPart
			for j := range n {
				id := fmt.Sprintf("call-%d", j)
				calls = append(calls, memory.ToolCallPart{CallID: id, Name: "run"})
				output, _ := json.Marshal(strings.Repeat("r", random.IntN(4000)))
				results = append(results, memory.ToolResultPart{CallID: id, Name: "run", Output: output})
			}
			messages = append(messages, memory.AssistantMessage("", calls...))
			if random.IntN(2) == 0 {
				messages = append(messages, memory.ToolMessage(results...))
				continue
			}
			for _, r := range results {
				messages = append(messages, memory.ToolMessage(r))
			}
		}
	}
	return messages
}

// requireWhole fails unless every result follows its call, and every call has its results.
func requireWhole(t *testing.T, messages []memory.Message, seed uint64) {
	t.Helper()
	open := map[string]bool{}
	for i, m := range messages {
		if m.Role() != memory.RoleTool {
			require.Empty(t, open, "seed %d: message %d comes between a call and its result", seed, i)
		}
		for _, c := range m.ToolCalls() {
			open[c.CallID] = true
		}
		for _, r := range m.ToolResults() {
			require.True(t, open[r.CallID], "seed %d: message %d holds a result without its call", seed, i)
			delete(open, r.CallID)
		}
	}
	require.Empty(t, open, "seed %d: a call lost its result", seed)
}

func lastUserText(messages []memory.Message) string {
	for _, m := range slices.Backward(messages) {
		if m.Role() == memory.RoleUser && m.Kind() == memory.KindUser {
			return m.Text()
		}
	}
	return ""
}

func TestCompactNeverCutsOffACallThatWaits(t *testing.T) {
	t.Parallel()
	b := newCompactBundle()
	b.force = true
	b.history = append(talk(21), call("a"))
	result := b.mustRun(t)
	assert.Equal(t, b.history[20:], result.History[2:])
}
