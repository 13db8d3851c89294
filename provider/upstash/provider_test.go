package upstash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/internal/rest/resttest"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/memory/memorytest"
	"github.com/recollect-go/recollect/provider/upstash"
)

func TestTheProviderConforms(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]*upstash.ProviderOptions{
		"defaults": nil,
		"all":      {Capture: upstash.CaptureAll, MaxRecallCharacters: 10000, TopK: 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memorytest.Run(t, func(t *testing.T) memory.Provider { return newServer(t).provider(t, opts) }, &memorytest.Options{
				SaveTool: "save_memory", SaveArgument: "text", StableRecall: true,
				Text: func(s string) string { return strings.Join(strings.Fields(s), " ") }, // as the service's own client stores it
				ReadTools: []memorytest.ReadTool{{Name: "search_memory", Input: func(text string) string {
					return fmt.Sprintf(`{"query":%q}`, text)
				}}},
			})
		})
	}
}

func (s *server) provider(t testing.TB, opts *upstash.ProviderOptions) *upstash.Provider {
	t.Helper()
	return s.providerVia(t, nil, opts)
}

func (s *server) providerVia(t testing.TB, transport http.RoundTripper, opts *upstash.ProviderOptions) *upstash.Provider {
	t.Helper()
	p, err := upstash.NewProvider(s.client(t, transport), opts)
	require.NoError(t, err)
	return p
}

func handlers(t testing.TB, p memory.Provider) memory.Handlers {
	t.Helper()
	h, err := p.Attach(memory.SlotInfo{Name: "recall"})
	require.NoError(t, err)
	return h
}

func operation(id string) memory.Operation {
	return memory.Operation{ID: id, Key: key, Slot: "recall", Session: memory.SessionInfo{ID: "s:1"}}
}

func recall(t testing.TB, h memory.Handlers, id string, input ...memory.Message) string {
	t.Helper()
	items, err := h.Recall(t.Context(), &memory.TurnStarted{Operation: operation(id), Turn: memory.Turn{ID: "t", Input: input}})
	require.NoError(t, err)
	require.Len(t, items, 1)
	assert.Equal(t, "agentkit-redis-memory", items[0].ID)
	return items[0].Content
}

func call(t testing.TB, h memory.Handlers, name, input string) (string, error) {
	t.Helper()
	tools, err := h.Tools(t.Context(), &memory.ToolsRequest{Operation: operation(""), Turn: memory.Turn{ID: "t", Sequence: 7}})
	require.NoError(t, err)
	for _, tool := range tools {
		if tool.Name == name {
			output, err := tool.Call(t.Context(), &memory.ToolCall{ID: "c", Input: json.RawMessage(input)})
			return string(output), err
		}
	}
	return "", fmt.Errorf("no tool %q", name)
}

func mustCall(t testing.TB, h memory.Handlers, name, input string) string {
	t.Helper()
	output, err := call(t, h, name, input)
	require.NoError(t, err)
	return output
}

func completed(sequence int64, said string, answers ...string) *memory.TurnCompleted {
	messages := []memory.Message{memory.UserMessage("an earlier turn"), memory.AssistantMessage("its answer"), memory.UserMessage(said)}
	for _, answer := range answers {
		messages = append(messages, memory.AssistantMessage(answer))
	}
	return &memory.TurnCompleted{
		Operation: operation(fmt.Sprintf("op:%d", sequence)), Messages: messages,
		Turn: memory.Turn{ID: "t", Sequence: sequence, Input: messages[2:3], Start: 2},
	}
}

// TestRecordsHaveTheLayoutOfAgentKit guards ids, keys and members. The ids were computed with AgentKit's rule: the beginning of the SHA-256 of the
// JSON text of a string.
func TestRecordsHaveTheLayoutOfAgentKit(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, &upstash.ProviderOptions{Capture: upstash.CaptureAll}))
	assert.JSONEq(t, `{"id":"c1c17b9fc4e1","saved":true,"searchable":true}`, mustCall(t, h, "save_memory", `{"text":" User  likes\u00a0cucumber. "}`))
	require.NoError(t, h.CaptureTurn(t.Context(), completed(3, "What do you remember?", "Cucumber.")))

	const prefix = "agentkit:memorySlot:"
	want := map[string]string{
		prefix + key + ":c1c17b9fc4e1": `{"text":"User likes cucumber.","userId":"` + key + `","sessionId":"s_1","source":"agent","deleted":false,"sequence":7,"subIndex":0}`,
		prefix + key + ":58fdd87f38fb": `{"text":"What do you remember?","userId":"` + key + `","sessionId":"s_1","source":"userMessage","deleted":false,"sequence":3,"subIndex":0}`,
		prefix + key + ":950744081e48": `{"text":"Cucumber.","userId":"` + key + `","sessionId":"s_1","source":"agentMessage","deleted":false,"sequence":3,"subIndex":0}`,
	}
	assert.Len(t, s.keys(), len(want))
	for name, document := range want {
		stored, _ := s.get(name).(json.RawMessage)
		without := regexp.MustCompile(`"createdAt":\d{13},`).ReplaceAllString(string(stored), "")
		assert.JSONEq(t, document, without, name)
	}
}

func TestRequestsOfTheProvider(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	recorder := &resttest.Recorder{Next: s.Client().Transport}
	h := handlers(t, s.providerVia(t, recorder, nil))
	recall(t, h, "session:1:turn.started", memory.UserMessage("cucumber?"))
	recall(t, h, "session:1:turn.started", memory.UserMessage("cucumber?"))
	mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
	require.NoError(t, h.CaptureTurn(t.Context(), completed(3, "What do you remember?")))
	mustCall(t, h, "search_memory", `{"query":"cucumber","limit":2}`)
	mustCall(t, h, "forget_memory", `{"id":"c1c17b9fc4e1"}`)
	mustCall(t, h, "read_session", `{"conversation":"s:1","from":1,"limit":10}`)
	require.NoError(t, h.Erase(t.Context(), &memory.EraseRequest{Operation: operation("")}))
	requests := recorder.Requests()
	for i := range requests {
		requests[i] = regexp.MustCompile(`createdAt\\":\d{13}`).ReplaceAllString(requests[i], `createdAt\":<time>`)
	}
	resttest.Golden(t, "provider.http", requests, token, "<token>")
}

func TestRecallShowsFactsAndNoMessages(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, &upstash.ProviderOptions{TopK: 2}))
	assert.Equal(t, "# Recalled memories for recall\n\nNo saved fact matches this turn. There may be others: look for them with `recall__search_memory`.",
		recall(t, h, "op1", memory.UserMessage("cucumber")))

	mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
	mustCall(t, h, "save_memory", `{"text":"User likes green cucumber salad."}`)
	mustCall(t, h, "save_memory", `{"text":"User likes trains."}`)
	for i := range 3 {
		require.NoError(t, h.CaptureTurn(t.Context(), completed(int64(i), "do I like green cucumber salad?")))
	}
	got := recall(t, h, "op2", memory.UserMessage("do I like green cucumber salad?"))
	lines := strings.Split(got, "\n")
	assert.Equal(t, "# Recalled memories for recall", lines[0])
	assert.Equal(t, []string{
		"fab9297936af: User likes green cucumber salad. (session=s_1)",
		"c1c17b9fc4e1: User likes cucumber. (session=s_1)",
	}, lines[4:6], "the best first, and no captured question")
	assert.True(t, strings.HasSuffix(got, ": 3."), "captured messages are counted: %s", got)
}

func TestARecallIsRepeatedAsItWas(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
	first := recall(t, h, "op:1", memory.UserMessage("cucumber"))
	mustCall(t, h, "save_memory", `{"text":"User hates cucumber."}`)
	assert.Equal(t, first, recall(t, h, "op:1", memory.UserMessage("cucumber")))
	assert.NotEqual(t, first, recall(t, h, "op:2", memory.UserMessage("cucumber")))
	name := "agentkit:memoryRecall:" + key + ":op_1"
	assert.Equal(t, first, s.get(name))
	assert.Equal(t, 3600, s.ttl[name])

	without := handlers(t, s.provider(t, &upstash.ProviderOptions{NoReplayCache: true}))
	assert.NotEqual(t, first, recall(t, without, "op:1", memory.UserMessage("cucumber")))
}

func TestConcurrentRecallsOfOneOperationAgree(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	var wg sync.WaitGroup
	answers := make([]string, 8)
	for i := range answers {
		wg.Go(func() {
			mustCall(t, h, "save_memory", fmt.Sprintf(`{"text":"User likes cucumber number %d."}`, i))
			answers[i] = recall(t, h, "op", memory.UserMessage("cucumber"))
		})
	}
	wg.Wait()
	for _, answer := range answers {
		assert.Equal(t, answers[0], answer)
	}
}

func TestFactsThatDoNotFitAreLeftOutAndNeverCut(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, &upstash.ProviderOptions{MaxRecallCharacters: 500}))
	for i := range 5 {
		mustCall(t, h, "save_memory", fmt.Sprintf(`{"text":"cucumber %d %s."}`, i, strings.Repeat("x", 100)))
	}
	got := recall(t, h, "op", memory.UserMessage("cucumber"))
	assert.LessOrEqual(t, len(got), 500)
	assert.Equal(t, 1, strings.Count(got, strings.Repeat("x", 100)+". (session"))
	tiny := handlers(t, s.provider(t, &upstash.ProviderOptions{MaxRecallCharacters: 1}))
	assert.Equal(t, 1, strings.Count(recall(t, tiny, "op2", memory.UserMessage("cucumber")), ". (session"), "the best one is always there")
}

func TestALongMessageBecomesSeveralRecordsAndLosesNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, &upstash.ProviderOptions{MaxMemoryCharacters: 64}))
	said := strings.Repeat("word 😀 ", 400) + strings.Repeat("y", 200)
	require.NoError(t, h.CaptureTurn(t.Context(), completed(1, said)))
	var texts []string
	for from := 0; ; {
		var out struct {
			Entries []struct{ Text string }
			Next    int
		}
		require.NoError(t, json.Unmarshal([]byte(mustCall(t, h, "read_session", fmt.Sprintf(`{"conversation":"s:1","from":%d}`, from))), &out))
		for _, e := range out.Entries {
			assert.LessOrEqual(t, len([]rune(e.Text)), 64)
			texts = append(texts, e.Text)
		}
		if from = out.Next; from == 0 {
			break
		}
	}
	plain := strings.NewReplacer(" ", "").Replace
	assert.Len(t, plain(strings.Join(texts, "")), len(plain(said)))
}

func TestAFactThatIsTooLongIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	_, err := call(t, h, "save_memory", fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 2049)))
	require.ErrorIs(t, err, memory.ErrToolInput)
	require.ErrorContains(t, err, "2049")
	_, err = call(t, h, "save_memory", `{"text":"  "}`)
	require.ErrorIs(t, err, memory.ErrToolInput)
	assert.Empty(t, s.keys())
}

func TestARepeatedCaptureAddsNothingAndBringsNothingBack(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	request := completed(1, "my pin code is secret")
	require.NoError(t, h.CaptureTurn(t.Context(), request))
	id := strings.TrimPrefix(s.keys()[0], "agentkit:memorySlot:"+key+":")
	assert.JSONEq(t, `{"id":"`+id+`","forgotten":true}`, mustCall(t, h, "forget_memory", `{"id":"`+id+`"}`))
	require.NoError(t, h.CaptureTurn(t.Context(), request))
	assert.Len(t, s.keys(), 1)
	assert.NotContains(t, string(s.get(s.keys()[0]).(json.RawMessage)), "secret")
	assert.Contains(t, mustCall(t, h, "read_session", `{"conversation":"s:1"}`), `"text":"[removed]","removed":true`)
	assert.JSONEq(t, `{"memories":[]}`, mustCall(t, h, "search_memory", `{"query":"pin code secret"}`))
}

func TestAFactCanBeSavedAgainAfterItWasForgotten(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
	mustCall(t, h, "forget_memory", `{"id":"c1c17b9fc4e1"}`)
	assert.NotContains(t, recall(t, h, "op1", memory.UserMessage("cucumber")), "User likes")
	mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
	assert.Contains(t, recall(t, h, "op2", memory.UserMessage("cucumber")), "User likes")
	assert.JSONEq(t, `{"id":"nothing","forgotten":false}`, mustCall(t, h, "forget_memory", `{"id":"nothing"}`))
}

func TestAnIDCannotNameAnotherKey(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	other := operation("")
	other.Key = "memscope1_" + strings.Repeat("z", 43)
	tools, err := h.Tools(t.Context(), &memory.ToolsRequest{Operation: other})
	require.NoError(t, err)
	_, err = tools[0].Call(t.Context(), &memory.ToolCall{Input: []byte(`{"text":"theirs"}`)})
	require.NoError(t, err)
	before := s.keys()
	for _, id := range []string{other.Key + ":x", "../x", "*", "", "a b", strings.Repeat("a", 65)} {
		_, err := call(t, h, "forget_memory", fmt.Sprintf(`{"id":%q}`, id))
		require.ErrorIs(t, err, memory.ErrToolInput, "%q", id)
	}
	assert.Equal(t, before, s.keys())
	assert.JSONEq(t, `{"entries":[]}`, mustCall(t, h, "read_session", `{"conversation":"s:1"}`))
}

func TestARecordOfAnotherKeyIsAnErrorWhateverTheServiceAnswers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	mustCall(t, h, "search_memory", `{"query":"x"}`)
	// A hit whose key is under the prefix of another key, and one whose document is another's.
	foreign := `[{"result":[["` + b64("agentkit:memorySlot:other:id") + `","` + b64("1") + `",[["` + b64("$") + `","` + b64(`{"text":"secret","userId":"other"}`) + `"]]]]}]`
	masked := `[{"result":[["` + b64("agentkit:memorySlot:"+key+":id") + `","` + b64("1") + `",[["` + b64("$") + `","` + b64(`{"text":"secret","userId":"other"}`) + `"]]]]}]`
	for _, body := range []string{foreign, masked} {
		s.next("SEARCH.QUERY", says(200, body))
		output, err := call(t, h, "search_memory", `{"query":"x"}`)
		require.ErrorIs(t, err, upstash.ErrBadReply)
		assert.NotContains(t, output+err.Error(), "secret")
	}
}

func TestWhatIsSavedCanBeFoundAtOnceAlthoughTheIndexLags(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.lag = true
	h := handlers(t, s.provider(t, nil))
	recall(t, h, "op0", memory.UserMessage("x")) // creates the index
	mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
	assert.Contains(t, recall(t, h, "op1", memory.UserMessage("cucumber")), "User likes")

	hasty := handlers(t, s.provider(t, &upstash.ProviderOptions{NoIndexWait: true}))
	mustCall(t, hasty, "save_memory", `{"text":"User likes trains."}`)
	assert.NotContains(t, recall(t, hasty, "op2", memory.UserMessage("trains")), "User likes trains")

	s.next("SEARCH.WAITINDEXING", answers(400, "ERR busy with something"))
	assert.JSONEq(t, `{"id":"c1c17b9fc4e1","saved":true,"searchable":false}`, mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`))
	s.next("SEARCH.WAITINDEXING", answers(400, "ERR busy with something"))
	require.ErrorIs(t, h.CaptureTurn(t.Context(), completed(1, "x")), upstash.ErrRefused)
}

func TestTheIndexIsCreatedByTheFirstSearchAndOnlyThen(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := s.provider(t, &upstash.ProviderOptions{Prefix: "my:app", IndexName: ""})
	h := handlers(t, p)
	mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
	require.NoError(t, h.CaptureTurn(t.Context(), completed(1, "x")))
	assert.Zero(t, s.count("SEARCH.CREATE"))
	for i := range 3 {
		assert.Contains(t, recall(t, h, fmt.Sprint("op", i), memory.UserMessage("cucumber")), "User likes")
	}
	assert.Equal(t, 1, s.count("SEARCH.CREATE"))
	assert.Contains(t, s.indexes, "my_app")
}

func TestAFailingRecallIsAnError(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	for command, fault := range map[string]func(http.ResponseWriter, func() []byte){
		"GET": answers(401, "Unauthorized"), "SEARCH.QUERY": answers(429, "slow down"), "SET": answers(400, "OOM full"),
	} {
		s.next(command, fault)
		_, err := h.Recall(t.Context(), &memory.TurnStarted{Operation: operation("op" + command), Turn: memory.Turn{Input: []memory.Message{memory.UserMessage("x")}}})
		var typed *upstash.Error
		require.ErrorAs(t, err, &typed, command)
	}
	s.Close()
	_, err := h.Recall(t.Context(), &memory.TurnStarted{Operation: operation("op")})
	require.ErrorIs(t, err, upstash.ErrNoReply)
}

func TestAnswersThatTheProtocolDoesNotAllowAreErrors(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	mustCall(t, h, "search_memory", `{"query":"x"}`)
	for _, body := range []string{`{}`, `[]`, `[{}]`, `[{"result":1}]`, `[{"result":[1]}]`, `[{"result":[[]]}]`, `[{"result":[["a","b","c"]]}]`,
		`[{"result":[["` + b64("k") + `","` + b64("x") + `",[]]]}]`, `[{"result":[["` + b64("k") + `","` + b64("1") + `",[]]]}]`,
		`[{"result":[["` + b64("k") + `","` + b64("1") + `",[["` + b64("$") + `","` + b64("{") + `"]]]]}]`} {
		s.next("SEARCH.QUERY", says(200, body))
		_, err := call(t, h, "search_memory", `{"query":"x"}`)
		require.ErrorIs(t, err, upstash.ErrBadReply, "%s", body)
	}
}

func TestCaptureModes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[upstash.Capture][]string{
		upstash.CaptureUser:  {"said"},
		upstash.CaptureModel: {"thinking", "answered"},
		upstash.CaptureAll:   {"said", "thinking", "answered"},
	} {
		s := newServer(t)
		h := handlers(t, s.provider(t, &upstash.ProviderOptions{Capture: mode}))
		require.NoError(t, h.CaptureTurn(t.Context(), completed(1, "said", "thinking", "answered", "answered")))
		assert.Len(t, s.keys(), len(want), mode)
		_, err := call(t, h, "forget_memory", `{"id":"x"}`)
		assert.Equal(t, mode == upstash.CaptureUser, err == nil, "forget_memory is offered unless answers are captured")
	}
	s := newServer(t)
	assert.Nil(t, handlers(t, s.provider(t, &upstash.ProviderOptions{Capture: upstash.CaptureNone})).CaptureTurn)
	h := handlers(t, s.provider(t, nil))
	require.NoError(t, h.CaptureTurn(t.Context(), completed(1, " ")))
	assert.Empty(t, s.keys())
	assert.Zero(t, s.count("SEARCH.WAITINDEXING"))
}

func TestEraseRemovesRecordsAndKeptRecalls(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
	require.NoError(t, h.CaptureTurn(t.Context(), completed(1, "x")))
	recall(t, h, "op", memory.UserMessage("cucumber"))
	s.set("agentkit:memorySlot:"+key+"x:1", json.RawMessage(`{}`))
	s.set("unrelated", "x")
	for range 2 {
		require.NoError(t, h.Erase(t.Context(), &memory.EraseRequest{Operation: operation("")}))
		assert.Equal(t, []string{"agentkit:memorySlot:" + key + "x:1", "unrelated"}, s.keys())
	}
}

func TestEraseRemovesNothingThatTheServiceShouldNotHaveNamed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	theirs := "agentkit:memorySlot:memscope1_" + strings.Repeat("z", 43) + ":1"
	s.set(theirs, json.RawMessage(`{}`))
	s.next("SCAN", says(200, `{"result":["`+b64("0")+`",["`+b64(theirs)+`"]]}`))
	require.ErrorIs(t, h.Erase(t.Context(), &memory.EraseRequest{Operation: operation("")}), upstash.ErrBadReply)
	assert.Equal(t, []string{theirs}, s.keys())
}

func TestKeysArePartOfEveryCommand(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	for _, bad := range []string{"", "*", "x", key + ":x", key[:20] + ":" + key[21:]} {
		o := operation("op")
		o.Key = bad
		_, err := h.Recall(t.Context(), &memory.TurnStarted{Operation: o})
		require.ErrorIs(t, err, filememory.ErrInvalidKey, "%q", bad)
		_, err = h.RecallCompacted(t.Context(), &memory.CompactionCompleted{Operation: o})
		require.ErrorIs(t, err, filememory.ErrInvalidKey, "%q", bad)
		request := completed(1, "said")
		request.Operation = o
		require.ErrorIs(t, h.CaptureTurn(t.Context(), request), filememory.ErrInvalidKey, "%q", bad)
		_, err = h.Tools(t.Context(), &memory.ToolsRequest{Operation: o})
		require.ErrorIs(t, err, filememory.ErrInvalidKey, "%q", bad)
		require.ErrorIs(t, h.Erase(t.Context(), &memory.EraseRequest{Operation: o}), filememory.ErrInvalidKey, "%q", bad)
	}
	assert.Empty(t, s.log)
}

func TestBytesThatAreNoTextAreRefusedAndNotReplaced(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	request := completed(1, "said")
	request.Session.ID = "s\xff"
	require.ErrorIs(t, h.CaptureTurn(t.Context(), request), upstash.ErrNotUTF8)
	require.ErrorIs(t, h.CaptureTurn(t.Context(), completed(1, "caf\xe9")), upstash.ErrNotUTF8)
	_, err := h.Recall(t.Context(), &memory.TurnStarted{Operation: operation("op"), Turn: memory.Turn{Input: []memory.Message{memory.UserMessage("caf\xe9")}}})
	require.ErrorIs(t, err, upstash.ErrNotUTF8)
	assert.Empty(t, s.keys())
}

func TestWhatWasErasedWhileItWasForgottenStaysAway(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
	s.next("JSON.GET", func(w http.ResponseWriter, serve func() []byte) {
		answer := serve()
		s.del([]string{s.keys()[0]})
		w.Write(answer)
	})
	assert.JSONEq(t, `{"id":"c1c17b9fc4e1","forgotten":false}`, mustCall(t, h, "forget_memory", `{"id":"c1c17b9fc4e1"}`))
	assert.Empty(t, s.keys())
}

func TestApprovalIsTheHosts(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	yes := func(context.Context, *memory.ToolCall) (bool, error) { return true, nil }
	h := handlers(t, s.provider(t, &upstash.ProviderOptions{ApproveForget: yes}))
	tools, err := h.Tools(t.Context(), &memory.ToolsRequest{Operation: operation("")})
	require.NoError(t, err)
	for _, tool := range tools {
		assert.Equal(t, tool.Name == "forget_memory", tool.Approval != nil, tool.Name)
	}
}

func TestNewProviderListsEveryProblem(t *testing.T) {
	t.Parallel()
	_, err := upstash.NewProvider(nil, &upstash.ProviderOptions{Prefix: "\xff", TopK: -1, MaxMemoryCharacters: 1, ReplayTTL: time.Millisecond, Capture: "x"})
	for _, part := range []string{"client", "UTF-8", "TopK", "MaxMemoryCharacters", "ReplayTTL", "Capture"} {
		assert.ErrorContains(t, err, part)
	}
	s := newServer(t)
	_, err = s.provider(t, nil).Attach(memory.SlotInfo{Name: strings.Repeat("a", 50)})
	require.ErrorContains(t, err, "search_memory")
}
