package upstash_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/upstash"
)

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
