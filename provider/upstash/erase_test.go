package upstash_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/upstash"
	"github.com/recollect-go/recollect/scope"
)

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

// TestTheMemoryOfACallerIsErasedAndThatIsSeen guards against being verified by a recall, which always shows something and keeps it.
func TestTheMemoryOfACallerIsErasedAndThatIsSeen(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	memories, err := memory.New([]memory.Slot{{
		Name: "facts", Provider: s.provider(t, nil), Scope: scope.String("u_42"), Namespace: scope.Namespace("app"),
	}}, nil)
	require.NoError(t, err)
	keys, err := scope.Derive(scope.Namespace("app"), scope.String("u_42"))
	require.NoError(t, err)
	s.set("agentkit:memorySlot:"+keys.Key+":c1c17b9fc4e1", json.RawMessage(`{"text":"User likes cucumber.","userId":"`+keys.Key+`","createdAt":1}`))
	erasure, err := memories.Erase(t.Context(), &memory.EraseCall{})
	require.NoError(t, err)
	assert.Equal(t, 1, erasure.Slots[0].Records)
	assert.Empty(t, s.keys(), "nothing is written under the key afterwards")
}

func TestAnExportHasEveryRecordInOneOrder(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	want := []string{}
	export := func() (ids, lines []string) {
		ids = []string{}
		require.NoError(t, h.Export(t.Context(), &memory.ExportRequest{Operation: operation(""), Write: func(r *memory.ExportedRecord) error {
			ids = append(ids, r.ID)
			lines = append(lines, fmt.Sprintf("%s %s %s", r.Kind, r.Content, regexp.MustCompile(`\d{13}`).ReplaceAll(r.Metadata, []byte("0"))))
			return nil
		}}))
		return ids, lines
	}
	ids, _ := export()
	assert.Equal(t, want, ids)

	mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
	require.NoError(t, h.CaptureTurn(t.Context(), completed(3, "What do you remember?")))
	s.set("agentkit:memorySlot:memscope1_"+strings.Repeat("z", 43)+":1", json.RawMessage(`{"text":"theirs"}`))
	ids, lines := export()
	assert.Equal(t, []string{"58fdd87f38fb", "c1c17b9fc4e1"}, ids)
	assert.Equal(t, []string{
		`message What do you remember? {"createdAt":0,"sessionId":"s_1","source":"userMessage","deleted":false,"sequence":3,"subIndex":0}`,
		`fact User likes cucumber. {"createdAt":0,"sessionId":"s_1","source":"agent","deleted":false,"sequence":7,"subIndex":0}`,
	}, lines)

	for i := range 1200 {
		mustSave(t, s, fmt.Sprintf("%04d", i))
		want = append(want, fmt.Sprintf("%04d", i))
	}
	ids, _ = export()
	assert.Equal(t, append(want, "58fdd87f38fb", "c1c17b9fc4e1"), ids)
}

func mustSave(t *testing.T, s *server, id string) {
	t.Helper()
	s.set("agentkit:memorySlot:"+key+":"+id, json.RawMessage(`{"text":"x","userId":"`+key+`"}`))
}

func TestAnExportOfAnotherKeysRecordIsAnError(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	s.set("agentkit:memorySlot:"+key+":1", json.RawMessage(`{"text":"secret","userId":"memscope1_`+strings.Repeat("z", 43)+`"}`))
	err := h.Export(t.Context(), &memory.ExportRequest{Operation: operation(""), Write: func(*memory.ExportedRecord) error {
		t.Error("it got out")
		return nil
	}})
	require.ErrorIs(t, err, upstash.ErrBadReply)
	assert.NotContains(t, err.Error(), "secret")
}

func TestEraseGoesThroughTheWholeKeySpace(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	for i := range 1200 {
		mustSave(t, s, fmt.Sprintf("%04d", i))
	}
	s.set("agentkit:memoryRecall:"+key+":op", "kept")
	request := &memory.EraseRequest{Operation: operation("")}
	for _, command := range []string{"SCAN", "DEL", "SEARCH.WAITINDEXING"} {
		s.next(command, answers(400, "NOPERM"))
		require.ErrorIs(t, h.Erase(t.Context(), request), upstash.ErrUnauthorized, command)
	}
	require.NoError(t, h.Erase(t.Context(), request))
	assert.Empty(t, s.keys())
}

func TestAnExportReturnsTheErrorsOfTheService(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	mustSave(t, s, "1")
	export := func() (n int, err error) {
		err = h.Export(t.Context(), &memory.ExportRequest{Operation: operation(""), Write: func(*memory.ExportedRecord) error { n++; return nil }})
		return n, err
	}
	for _, command := range []string{"SCAN", "JSON.GET"} {
		s.next(command, answers(400, "NOPERM"))
		n, err := export()
		require.ErrorIs(t, err, upstash.ErrUnauthorized, command)
		assert.Zero(t, n)
	}
	s.next("JSON.GET", says(200, `[{"result":"`+b64("{")+`"}]`))
	_, err := export()
	require.ErrorIs(t, err, upstash.ErrBadReply)
	s.next("JSON.GET", says(200, `[{"result":null}]`))
	n, err := export()
	require.NoError(t, err)
	assert.Zero(t, n, "it was removed in between")
}
