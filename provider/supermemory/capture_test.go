package supermemory_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/rest/resttest"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/supermemory"
)

func TestARepeatedCaptureIsOneDocument(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t))
	request := completed("monday", "op:1", "I moved to Berlin", memory.AssistantMessage("thinking"), memory.AssistantMessage("Noted."))
	s.fail("POST /v3/documents", losesReply)
	for range 3 {
		require.NoError(t, h.CaptureTurn(t.Context(), request))
	}
	require.Len(t, s.documents, 1)
	d := s.documents[0]
	assert.Equal(t, contextTag(key), d.tag)
	assert.Equal(t, "[user]\nI moved to Berlin\n\n[assistant]\nNoted.\n", d.raw)
	assert.Equal(t, map[string]any{"source": "eve-agent", "source_type": "conversation", "source_id": "conv_monday", "session_id": "monday"}, d.Metadata)

	require.NoError(t, h.CaptureTurn(t.Context(), completed("monday", "op:2", "I moved to Berlin")))
	assert.Len(t, s.documents, 2, "another operation is another document")
}

func TestNothingSaidIsNothingCaptured(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t))
	require.NoError(t, h.CaptureTurn(t.Context(), completed("monday", "op:1", " \u00a0", memory.AssistantMessage("hello"))))
	assert.Empty(t, s.documents)
	assert.Nil(t, handlers(t, s.provider(t, func(o *supermemory.Options) { o.NoCapture = true })).CaptureTurn)
}

func TestATurnThatUsedTheMemoryIsNotExtractedTwice(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	recorder := &resttest.Recorder{Next: s.Client().Transport}
	h := handlers(t, s.provider(t, func(o *supermemory.Options) {
		o.HTTPClient = &http.Client{Transport: recorder}
		o.EntityContext = strings.Repeat("x", 1100)
	}))
	for tool, noted := range map[string]bool{"people__remember": true, "other__remember": false} {
		require.NoError(t, h.CaptureTurn(t.Context(), completed("s", tool, "remember this",
			memory.AssistantMessage("", memory.ToolCallPart{CallID: "1", Name: tool, Input: []byte("{}")}), memory.AssistantMessage("done"))))
		requests := recorder.Requests()
		assert.Equal(t, noted, strings.Contains(requests[len(requests)-1], "used this memory"), tool)
	}
}
