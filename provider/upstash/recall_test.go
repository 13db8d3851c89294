package upstash_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/upstash"
)

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

// TestAKeptRecallDoesNotBringBackWhatWasErased: when it may have been kept, it is looked at, and composed anew if it is not there.
func TestAKeptRecallDoesNotBringBackWhatWasErased(t *testing.T) {
	t.Parallel()
	for name, loses := range map[string]func(http.ResponseWriter, func() []byte){
		"no reply":       losesReply,
		"bad gateway":    thenSays(502, "bad gateway"),
		"not understood": thenSays(200, "<html>"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			h := handlers(t, s.provider(t, nil))
			mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
			s.next("SET", func(w http.ResponseWriter, serve func() []byte) {
				loses(w, func() []byte {
					answer := serve()
					assert.Contains(t, s.get("agentkit:memoryRecall:"+key+":op"), "User likes")
					assert.NoError(t, h.Erase(t.Context(), &memory.EraseRequest{Operation: operation("")}))
					return answer
				})
			})
			assert.NotContains(t, recall(t, h, "op", memory.UserMessage("cucumber")), "User likes")
			assert.Equal(t, []string{"agentkit:memoryRecall:" + key + ":op"}, s.keys())
			assert.NotContains(t, s.get("agentkit:memoryRecall:"+key+":op"), "User likes")
		})
	}
}

func TestARecallThatMayHaveBeenKeptIsLookedAt(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	s.next("SET", losesReply)
	first := recall(t, h, "op1", memory.UserMessage("cucumber"))
	assert.Equal(t, first, s.get("agentkit:memoryRecall:"+key+":op1"))
	assert.Equal(t, 1, s.count("SET"))

	s.next("SET", hangsUp)
	assert.Equal(t, first, recall(t, h, "op2", memory.UserMessage("cucumber")))
	assert.Equal(t, first, s.get("agentkit:memoryRecall:"+key+":op2"))
	assert.Equal(t, 3, s.count("SET"), "it was not there, so it was kept once more")

	ask := func() error {
		_, err := h.Recall(t.Context(), &memory.TurnStarted{Operation: operation("op3"), Turn: memory.Turn{ID: "t"}})
		return err
	}
	s.next("SET", hangsUp, hangsUp, hangsUp)
	err := ask()
	require.ErrorIs(t, err, upstash.ErrNoReply)
	require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
	s.next("SET", answers(400, "OOM"))
	err = ask()
	require.ErrorIs(t, err, upstash.ErrRefused)
	require.NotErrorIs(t, err, filememory.ErrUnknownOutcome)
	assert.Equal(t, 7, s.count("SET"), "a refusal is not tried again")
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
