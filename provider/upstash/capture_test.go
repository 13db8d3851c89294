package upstash_test

import (
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
	pieces := make([]string, len(s.keys()))
	for _, name := range s.keys() {
		var r record
		require.NoError(t, json.Unmarshal(s.get(name).(json.RawMessage), &r))
		pieces[int(*r.SubIndex)] = *r.Text
	}
	assert.ElementsMatch(t, pieces, texts)
	plain := strings.NewReplacer(" ", "").Replace
	assert.Equal(t, plain(said), plain(strings.Join(pieces, "")))
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

// TestACaptureInDoubtIsNotSentAgain guards against bringing back what was captured, and forgotten or erased since.
func TestACaptureInDoubtIsNotSentAgain(t *testing.T) {
	t.Parallel()
	erase := func(t *testing.T, _ *server, h memory.Handlers) {
		assert.NoError(t, h.Erase(t.Context(), &memory.EraseRequest{Operation: operation("")}))
	}
	forget := func(t *testing.T, s *server, h memory.Handlers) {
		for _, name := range s.keys() {
			_, err := call(t, h, "forget_memory", `{"id":"`+strings.TrimPrefix(name, "agentkit:memorySlot:"+key+":")+`"}`)
			assert.NoError(t, err)
		}
	}
	for name, test := range map[string]struct {
		since func(*testing.T, *server, memory.Handlers)
		loses func(http.ResponseWriter, func() []byte)
		want  error
		left  int
	}{
		"no reply, then erased":       {erase, losesReply, filememory.ErrUnknownOutcome, 0},
		"bad gateway, then erased":    {erase, thenSays(502, "bad gateway"), filememory.ErrUnknownOutcome, 0},
		"not understood, then erased": {erase, thenSays(200, "<html>"), filememory.ErrUnknownOutcome, 0},
		"no results, then erased":     {erase, thenSays(200, "[{},{}]"), filememory.ErrUnknownOutcome, 0},
		"no reply, then forgotten":    {forget, losesReply, nil, 2},
		"bad gateway, then forgotten": {forget, thenSays(502, "bad gateway"), nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			h := handlers(t, s.provider(t, nil))
			s.next("JSON.SET", func(w http.ResponseWriter, serve func() []byte) {
				test.loses(w, func() []byte { defer test.since(t, s, h); return serve() })
			})
			request := completed(1, "my pin code is secret")
			request.Turn.Input = append(request.Turn.Input, memory.UserMessage("another secret"))
			require.ErrorIs(t, h.CaptureTurn(t.Context(), request), test.want)
			assert.Len(t, s.keys(), test.left)
			for _, name := range s.keys() {
				assert.NotContains(t, string(s.get(name).(json.RawMessage)), "secret")
			}
		})
	}
}

func TestACaptureWhoseAnswerIsLostIsLookedAt(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	s.next("JSON.SET", losesReply)
	require.NoError(t, h.CaptureTurn(t.Context(), completed(1, "said")), "it is there")
	assert.Equal(t, 1, s.count("JSON.SET"))

	s.next("JSON.SET", hangsUp)
	err := h.CaptureTurn(t.Context(), completed(2, "said"))
	require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
	require.ErrorIs(t, err, upstash.ErrNoReply)
	assert.Len(t, s.keys(), 1)

	s.next("JSON.SET", losesReply)
	s.next("EXISTS", answers(400, "NOPERM"))
	require.ErrorIs(t, h.CaptureTurn(t.Context(), completed(2, "said")), filememory.ErrUnknownOutcome, "nobody can tell")

	s.next("JSON.SET", answers(400, "OOM"))
	err = h.CaptureTurn(t.Context(), completed(3, "said"))
	require.ErrorIs(t, err, upstash.ErrRefused)
	require.NotErrorIs(t, err, filememory.ErrUnknownOutcome, "a refusal leaves no doubt")
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
