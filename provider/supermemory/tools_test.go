package supermemory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/rest/resttest"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/supermemory"
)

func TestRequestsAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	recorder := &resttest.Recorder{Next: s.Client().Transport}
	h := handlers(t, s.provider(t, func(o *supermemory.Options) {
		o.HTTPClient = &http.Client{Transport: recorder}
		o.Metadata = map[string]any{"team": "blue", "source": "overridden"}
	}))
	require.NoError(t, h.CaptureTurn(t.Context(), completed("monday", "op:1", "I moved to Berlin <3", memory.AssistantMessage("Noted."))))
	mustCall(t, h, "search", `{"query":"Berlin"}`)
	mustCall(t, h, "search", `{"query":"Berlin","within":"conversations","source":"conv_monday"}`)
	mustCall(t, h, "read_session", `{"conversation":"monday"}`)
	mustCall(t, h, "read_document", `{"id":"doc1"}`)
	mustCall(t, h, "remember", `{"memory":"The office is in Berlin."}`)
	mustCall(t, h, "extract", `{"kind":"url","value":"https://a.example/page","title":"A page"}`)
	mustCall(t, h, "forget", `{"id":"mem2","reason":"moved"}`)
	mustCall(t, h, "forget_matching", `{"query":"Berlin","threshold":0.5,"limit":10}`)
	mustCall(t, h, "forget_matching", `{"ids":["mem4"],"reason":"asked to"}`)
	requests := recorder.Requests()
	for i := range requests {
		requests[i] = regexp.MustCompile(`(memory|extraction)_[A-Z2-7]{26}`).ReplaceAllString(requests[i], "${1}_<token>")
	}
	resttest.Golden(t, "tools.http", requests, apiKey, "<key>")
}

func TestAFactCanBeRememberedAgainAfterItWasForgotten(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t))
	assert.JSONEq(t, `{"document":"doc1","status":"queued"}`, mustCall(t, h, "remember", `{"memory":" The office is in Berlin. "}`))
	mustCall(t, h, "forget", `{"id":"mem2"}`)
	assert.Empty(t, recall(t, h, ""))
	s.fail("POST /v3/documents", losesReply)
	mustCall(t, h, "remember", `{"memory":"The office is in Berlin."}`)
	require.Len(t, recall(t, h, ""), 1)
	assert.Len(t, s.documents, 2, "a request that was sent twice is one document")
}

func TestWhatCannotBeRemembered(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t))
	for _, bad := range []string{" ", strings.Repeat("word ", 181), strings.Repeat("x", 3001), "https://a.example/x"} {
		_, err := call(t, h, key, "remember", fmt.Sprintf(`{"memory":%q}`, bad))
		require.ErrorIs(t, err, memory.ErrToolInput, "%.20q", bad)
	}
}

func TestExtractAndRememberFromIt(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.slow = true
	h := handlers(t, s.provider(t))
	assert.JSONEq(t, `{"document":"doc1","status":"queued"}`, mustCall(t, h, "extract", `{"kind":"text","value":"A long report.","title":"Report"}`))
	assert.Equal(t, extractionTag(key), s.documents[0].tag)
	_, err := call(t, h, key, "remember", `{"memory":"From the report","document":"doc1"}`)
	require.ErrorContains(t, err, "still being digested")
	var read struct{ Status, Content string }
	require.NoError(t, json.Unmarshal([]byte(mustCall(t, h, "read_document", `{"id":"doc1"}`)), &read))
	assert.Equal(t, "queued", read.Status)
	assert.Empty(t, read.Content)
	s.digestAll()
	require.NoError(t, json.Unmarshal([]byte(mustCall(t, h, "read_document", `{"id":"doc1"}`)), &read))
	assert.Equal(t, "A long report.", read.Content)
	mustCall(t, h, "remember", `{"memory":"From the report","document":"doc1"}`)
	assert.Equal(t, "doc1", s.documents[1].Metadata["source_document_id"])
	_, err = call(t, h, otherKey, "remember", `{"memory":"From the report","document":"doc1"}`)
	require.ErrorIs(t, err, supermemory.ErrNotFound)
	for _, bad := range []string{`{"kind":"file","value":"x"}`, `{"kind":"url","value":"x"}`, `{"kind":"url","value":"file:///etc/passwd"}`,
		`{"kind":"text","value":"https://a.example"}`, `{"kind":"text","value":" "}`} {
		_, err := call(t, h, key, "extract", bad)
		require.ErrorIs(t, err, memory.ErrToolInput, bad)
	}
}

func TestALongDocumentComesInPartsAndNothingIsLost(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t))
	text := strings.Repeat("häppchen 😀 ", 20000)
	mustCall(t, h, "extract", fmt.Sprintf(`{"kind":"text","value":%q}`, text))
	var whole strings.Builder
	for offset := 0; ; {
		var out struct {
			Content     string
			Next, Bytes int
		}
		require.NoError(t, json.Unmarshal([]byte(mustCall(t, h, "read_document", fmt.Sprintf(`{"id":"doc1","offset":%d}`, offset))), &out))
		require.LessOrEqual(t, len(out.Content), 50<<10)
		whole.WriteString(out.Content)
		if offset = out.Next; offset == 0 {
			break
		}
	}
	assert.Equal(t, strings.TrimSpace(text), whole.String())
	for _, bad := range []string{"-1", "2", "99999999"} {
		_, err := call(t, h, key, "read_document", `{"id":"doc1","offset":`+bad+`}`)
		require.ErrorIs(t, err, memory.ErrToolInput, bad)
	}
}

func TestASessionIsReadTurnByTurn(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t))
	for i := range 25 {
		require.NoError(t, h.CaptureTurn(t.Context(), completed("monday", fmt.Sprint(i), fmt.Sprintf("message %d", i))))
	}
	require.NoError(t, h.CaptureTurn(t.Context(), completed("monday", "long", strings.Repeat("x", 60<<10))))
	require.NoError(t, h.CaptureTurn(t.Context(), completed("tuesday", "other", "another conversation")))
	type output struct {
		Turns []struct {
			Document string
			Content  *string
		}
		NextPage int `json:"next_page"`
	}
	var first, second output
	require.NoError(t, json.Unmarshal([]byte(mustCall(t, h, "read_session", `{"conversation":"monday"}`)), &first))
	require.Len(t, first.Turns, 20)
	assert.Equal(t, "[user]\nmessage 0\n", *first.Turns[0].Content)
	require.Equal(t, 2, first.NextPage)
	require.NoError(t, json.Unmarshal([]byte(mustCall(t, h, "read_session", `{"conversation":"monday","page":2}`)), &second))
	require.Len(t, second.Turns, 6)
	assert.Nil(t, second.Turns[5].Content, "too long: there is its document")
	assert.NotEmpty(t, second.Turns[5].Document)
	assert.Zero(t, second.NextPage)
}

func TestForgettingASubjectIsPreviewedThenConfirmed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t))
	mustCall(t, h, "remember", `{"memory":"Berlin is nice"}`)
	mustCall(t, h, "remember", `{"memory":"Berlin is large"}`)
	mustCall(t, h, "remember", `{"memory":"Tea is nice"}`)
	var preview struct {
		Forgotten bool
		Memories  []struct{ ID, Memory string }
	}
	require.NoError(t, json.Unmarshal([]byte(mustCall(t, h, "forget_matching", `{"query":"Berlin"}`)), &preview))
	assert.False(t, preview.Forgotten)
	require.Len(t, preview.Memories, 2)
	for _, m := range s.memories {
		assert.False(t, m.IsForgotten, "a preview forgets nothing")
	}
	ids, err := json.Marshal([]string{preview.Memories[0].ID, preview.Memories[1].ID})
	require.NoError(t, err)
	assert.Contains(t, mustCall(t, h, "forget_matching", `{"ids":`+string(ids)+`}`), `"forgotten":true,"count":2`)
	assert.True(t, s.memories[0].IsForgotten && s.memories[1].IsForgotten && !s.memories[2].IsForgotten)
	for _, bad := range []string{`{}`, `{"query":"x","ids":["a"]}`, `{"query":" "}`, `{"ids":[]}`, `{"ids":["a/b"]}`, `{"ids":["a"],"limit":1}`,
		`{"query":"x","limit":0}`, `{"query":"x","threshold":1.5}`} {
		_, err := call(t, h, key, "forget_matching", bad)
		require.ErrorIs(t, err, memory.ErrToolInput, bad)
	}
	s.fail("POST /v4/memories/forget-matching", says(200, `{"dryRun":false,"count":1,"forgotten":[]}`), says(200, `{}`))
	for range 2 {
		_, err := call(t, h, key, "forget_matching", `{"query":"x"}`)
		require.ErrorIs(t, err, supermemory.ErrBadReply, "a preview that was none")
	}
}

func TestApprovalIsTheHosts(t *testing.T) {
	t.Parallel()
	yes := func(context.Context, *memory.ToolCall) (bool, error) { return true, nil }
	h := handlers(t, newServer(t).provider(t, func(o *supermemory.Options) { o.ApproveForget = yes; o.ApproveExtract = yes }))
	tools, err := h.Tools(t.Context(), &memory.ToolsRequest{Operation: operation(key, "")})
	require.NoError(t, err)
	for _, tool := range tools {
		wanted := tool.Name == "forget" || tool.Name == "forget_matching" || tool.Name == "extract"
		assert.Equal(t, wanted, tool.Approval != nil, tool.Name)
	}
}

func TestToolsRefuseWhatTheModelGotWrong(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t))
	for _, bad := range [][2]string{
		{"search", `{"query":" "}`}, {"search", `{"query":"` + strings.Repeat("x", 2001) + `"}`}, {"search", `{"query":"x","within":"attic"}`},
		{"read_session", `{"conversation":" "}`}, {"read_session", `{"conversation":"x","page":0}`},
		{"forget_matching", `{"ids":["x"` + strings.Repeat(`,"x"`, 500) + `]}`},
	} {
		_, err := call(t, h, key, bad[0], bad[1])
		require.ErrorIs(t, err, memory.ErrToolInput, "%.60s", bad)
	}
	assert.Empty(t, s.log)
}
