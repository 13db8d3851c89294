package upstash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/upstash"
)

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

// TestASaveInDoubtIsNotSentAgain guards against bringing back a fact that was saved, and forgotten or erased since.
func TestASaveInDoubtIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for name, since := range map[string]func(*testing.T, memory.Handlers){
		"forgotten": func(t *testing.T, h memory.Handlers) {
			_, err := call(t, h, "forget_memory", `{"id":"c1c17b9fc4e1"}`)
			assert.NoError(t, err)
		},
		"erased": func(t *testing.T, h memory.Handlers) {
			assert.NoError(t, h.Erase(t.Context(), &memory.EraseRequest{Operation: operation("")}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			h := handlers(t, s.provider(t, nil))
			s.next("JSON.SET", then(func() { since(t, h) }))
			_, err := call(t, h, "save_memory", `{"text":"User likes cucumber."}`)
			require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
			for _, name := range s.keys() {
				assert.NotContains(t, string(s.get(name).(json.RawMessage)), "cucumber")
			}
		})
	}
}

func TestASaveWhoseAnswerIsLostIsLookedAt(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	s.next("JSON.SET", losesReply)
	assert.JSONEq(t, `{"id":"c1c17b9fc4e1","saved":true,"searchable":true}`, mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`))
	assert.Equal(t, 1, s.count("JSON.SET"))

	s.next("JSON.SET", hangsUp)
	_, err := call(t, h, "save_memory", `{"text":"User likes trains."}`)
	require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
	require.ErrorIs(t, err, upstash.ErrNoReply)
	assert.Len(t, s.keys(), 1)

	s.next("JSON.SET", losesReply)
	s.next("JSON.GET", answers(400, "NOPERM"))
	_, err = call(t, h, "save_memory", `{"text":"User likes trains."}`)
	require.ErrorIs(t, err, filememory.ErrUnknownOutcome, "nobody can tell")

	s.next("JSON.SET", answers(400, "OOM"))
	_, err = call(t, h, "save_memory", `{"text":"User likes planes."}`)
	require.ErrorIs(t, err, upstash.ErrRefused)
	require.NotErrorIs(t, err, filememory.ErrUnknownOutcome, "a refusal leaves no doubt")
}

// TestAForgettingIsSentAgain: it can only take away, so a doubt is no reason to leave a text where it is.
func TestAForgettingIsSentAgain(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(http.ResponseWriter, func() []byte){"carried out": losesReply, "not carried out": hangsUp} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			h := handlers(t, s.provider(t, nil))
			mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
			s.next("JSON.SET", fault)
			assert.JSONEq(t, `{"id":"c1c17b9fc4e1","forgotten":true}`, mustCall(t, h, "forget_memory", `{"id":"c1c17b9fc4e1"}`))
			assert.NotContains(t, string(s.get(s.keys()[0]).(json.RawMessage)), "cucumber")
		})
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

func TestAConversationIsReadInTheOrderInWhichItWasHeld(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, &upstash.ProviderOptions{Capture: upstash.CaptureAll, MaxMemoryCharacters: 16}))
	mustCall(t, h, "save_memory", `{"text":"a fact"}`) // in turn 7
	require.NoError(t, h.CaptureTurn(t.Context(), completed(7, "the second thing that somebody said", "its answer in several parts")))
	require.NoError(t, h.CaptureTurn(t.Context(), completed(3, "the first", "answer")))
	var out struct{ Entries []struct{ Text string } }
	require.NoError(t, json.Unmarshal([]byte(mustCall(t, h, "read_session", `{"conversation":"s:1"}`)), &out))
	var texts []string
	for _, e := range out.Entries {
		texts = append(texts, e.Text)
	}
	assert.Equal(t, []string{
		"the first", "answer", "the second", "thing that", "somebody said", "a fact", "its answer in", "several parts",
	}, texts)
}

func TestToolsRefuseWhatTheModelGotWrong(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	for _, bad := range [][2]string{
		{"search_memory", `{"query":" "}`}, {"search_memory", `{"query":"x","limit":0}`}, {"search_memory", `{"query":"x","limit":26}`},
		{"read_session", `{"conversation":" "}`}, {"read_session", `{"conversation":"x","from":-1}`},
		{"read_session", `{"conversation":"x","limit":0}`}, {"read_session", `{"conversation":"x","limit":51}`},
	} {
		_, err := call(t, h, bad[0], bad[1])
		require.ErrorIs(t, err, memory.ErrToolInput, bad)
	}
	assert.Empty(t, s.log)
}

func TestToolsReturnTheErrorsOfTheService(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		command, tool, input string
	}{
		{"SEARCH.QUERY", "search_memory", `{"query":"x"}`},
		{"SEARCH.CREATE", "search_memory", `{"query":"x"}`},
		{"SEARCH.QUERY", "read_session", `{"conversation":"x"}`},
		{"JSON.GET", "forget_memory", `{"id":"c1c17b9fc4e1"}`},
		{"JSON.SET", "forget_memory", `{"id":"c1c17b9fc4e1"}`},
		{"SEARCH.WAITINDEXING", "forget_memory", `{"id":"c1c17b9fc4e1"}`},
	} {
		s := newServer(t)
		h := handlers(t, s.provider(t, nil))
		mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
		s.next(test.command, answers(400, "NOPERM"))
		_, err := call(t, h, test.tool, test.input)
		require.ErrorIs(t, err, upstash.ErrUnauthorized, "%s: %s", test.tool, test.command)
	}
}

func TestAnIndexThatIsMissingAfterItWasCreatedIsAnError(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	missing := says(200, `[{"result":null}]`)
	s.next("SEARCH.QUERY", missing, missing)
	_, err := call(t, h, "search_memory", `{"query":"x"}`)
	require.ErrorIs(t, err, upstash.ErrBadReply)
	s.next("SEARCH.QUERY", says(200, `[{"error":"ERR whatever"}]`))
	_, err = call(t, h, "search_memory", `{"query":"x"}`)
	require.ErrorIs(t, err, upstash.ErrRefused, "one command of a pipeline")
}
