package memory_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
)

func decode(t testing.TB, text string) memory.Message {
	t.Helper()
	var m memory.Message
	require.NoError(t, json.Unmarshal([]byte(text), &m), text)
	return m
}

// stored are messages as eve stores them.
var stored = []string{
	`{"role":"user","kind":"user","content":"hi"}`,
	`{"role":"assistant","content":"<b>&\u2028 \"quoted\" \\ 🙂 \u0007"}`,
	`{"role":"user","kind":"user","content":[{"type":"text","text":"look"},{"type":"image","image":"data:image/png;base64,AA==","mediaType":"image/png"},{"type":"file","data":{"url":"https://x"},"filename":null}]}`,
	`{"role":"assistant","content":[{"type":"reasoning","text":"hm"},{"type":"tool-call","toolCallId":"c1","toolName":"t","input":{"a":[1,2.50,1e3,null]},"providerOptions":{"x":{}}}]}`,
	`{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"t","output":{"type":"json","value":{"ok":true}}}]}`,
	`{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"t","output":{"type":"content","value":[{"type":"media","data":"AA=="}]}}]}`,
	`{"role":"user","kind":"execution.continuation","content":"Continue.","id":"m_1","createdAt":1.7e12,"nested":{"a":{"b":[{}]}}}`,
	`{"role":"user","kind":null,"content":"x","metadata":{"app":{"eve.memory":1}}}`,
	`{"role":"user","content":"x","metadata":null}`,
	`{"role":"user","content":"x","metadata":{"eve.memory":"somebody else's"}}`,
	`{"role":"user","kind":"memory.load","content":"m","metadata":{"eve.memory":{"version":99},"app":1}}`,
	`{"role":"system","content":""}`,
	`{"role":"weird","content":{"not":"known"},"":{}}`,
	`{"role":"assistant","content":"half \ud83d of a pair, \ude42 the other, \ud83d\ude42 both"}`,
}

func TestMessageRoundTripsEveryJSON(t *testing.T) {
	t.Parallel()
	for _, text := range stored {
		spaced := " " + strings.ReplaceAll(text, `","`, `" ,`+"\n\t"+`"`) + " "
		for _, form := range []string{text, spaced} {
			encoded, err := json.Marshal(decode(t, form))
			require.NoError(t, err)
			require.JSONEq(t, form, string(encoded))
		}
		encoded, err := decode(t, text).MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, text, string(encoded), "bytes stay, so that lone surrogates and numbers do")
	}
}

func TestMessageRefusesWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `null`, `7`, `"x"`, `[]`, `{}`, `{"role":""}`, `{"role":null}`, `{"role":7}`, `{"content":"x"}`, `{"role":"user"`, `{"role":"user"} x`,
		`{"role":"user","role":"assistant"}`, `{"role":"user","\u0072ole":"assistant"}`, `{"role":"user","kind":7}`,
		`{"role":"user","metadata":{"a":1,"a":2}}`, `{"role":"\ud800"}`, `{"Role":"user"}`,
		"{\"role\":\"user\",\"content\":\"\xff\"}", "{\"role\":\"user\",\"x\":\"\xed\xa0\x80\"}",
		`{"role":"user","metadata":{"eve.memory":{},"eve\u002ememory":{}}}`,
	} {
		var m memory.Message
		err := m.UnmarshalJSON([]byte(text))
		require.ErrorIs(t, err, memory.ErrInvalidMessage, "%q", text)
		require.Zero(t, m)
	}
}

func TestMessageIsNotTheCallersBytes(t *testing.T) {
	t.Parallel()
	data := []byte(`{"role":"user","content":[1],"metadata":{"a":1}}`)
	var m memory.Message
	require.NoError(t, m.UnmarshalJSON(data))
	clear(data)
	first, err := m.MarshalJSON()
	require.NoError(t, err)
	clear(first)
	clear(m.Content())
	clear(m.Metadata())
	require.JSONEq(t, `{"role":"user","content":[1],"metadata":{"a":1}}`, string(must(m.MarshalJSON())))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestMessageTellsItsRoleKindAndText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ json, role, kind, text string }{
		{stored[0], "user", "user", "hi"},
		{stored[1], "assistant", "", "<b>&\u2028 \"quoted\" \\ 🙂 \a"},
		{stored[2], "user", "user", "look"},
		{stored[7], "user", "", "x"},
		{stored[12], "weird", "", ""},
		{stored[13], "assistant", "", `half \ud83d of a pair, \ude42 the other, 🙂 both`},
		{`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b\n"},{"type":"text"},7]}`, "user", "", "a\nb\n\n"},
		{`{"role":"user"}`, "user", "", ""},
	} {
		m := decode(t, c.json)
		require.Equal(t, [3]string{c.role, c.kind, c.text}, [3]string{m.Role(), m.Kind(), m.Text()}, c.json)
	}
}

func TestMessageConstructorsWriteWhatEveReads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m    memory.Message
		want string
	}{
		{memory.UserMessage("hi <&>\u2028"), `{"role":"user","kind":"user","content":"hi <&>` + "\u2028" + `"}`},
		{memory.NewMessage("assistant", "", "a"), `{"role":"assistant","content":"a"}`},
		{memory.AssistantMessage("a"), `{"role":"assistant","content":"a"}`},
		{
			memory.AssistantMessage("a", memory.ToolCallPart{CallID: "c", Name: "t", Input: json.RawMessage(` {"x": 1} `)}, memory.ToolCallPart{CallID: "d", Name: "u"}),
			`{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool-call","toolCallId":"c","toolName":"t","input":{"x":1}},{"type":"tool-call","toolCallId":"d","toolName":"u","input":{}}]}`,
		},
		{
			memory.AssistantMessage("", memory.ToolCallPart{CallID: "c", Name: "t", Input: json.RawMessage(`{"x": `)}),
			`{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"t","input":"{\"x\": "}]}`,
		},
		{
			memory.ToolMessage(
				memory.ToolResultPart{CallID: "c", Name: "t", Output: json.RawMessage(`"done"`)},
				memory.ToolResultPart{CallID: "d", Name: "t", Output: json.RawMessage(`{"n": 1}`)},
				memory.ToolResultPart{CallID: "e", Name: "t", Output: json.RawMessage(`"no"`), IsError: true},
				memory.ToolResultPart{CallID: "f", Name: "t", IsError: true},
			),
			`{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{"type":"text","value":"done"}},` +
				`{"type":"tool-result","toolCallId":"d","toolName":"t","output":{"type":"json","value":{"n":1}}},` +
				`{"type":"tool-result","toolCallId":"e","toolName":"t","output":{"type":"error-text","value":"no"}},` +
				`{"type":"tool-result","toolCallId":"f","toolName":"t","output":{"type":"error-json","value":null}}]}`,
		},
	} {
		encoded, err := c.m.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, c.want, string(encoded))
		require.Equal(t, c.m.ToolCalls(), decode(t, c.want).ToolCalls())
		require.Equal(t, c.m.ToolResults(), decode(t, c.want).ToolResults())
		require.Equal(t, c.m.Text(), decode(t, c.want).Text())
		require.JSONEq(t, string(decode(t, c.want).Content()), string(c.m.Content()))
	}
}

func TestMessageReadsToolParts(t *testing.T) {
	t.Parallel()
	require.Equal(t, []memory.ToolCallPart{{CallID: "c1", Name: "t", Input: json.RawMessage(`{"a":[1,2.50,1e3,null]}`)}}, decode(t, stored[3]).ToolCalls())
	require.Equal(t, []memory.ToolResultPart{{CallID: "c1", Name: "t", Output: json.RawMessage(`{"ok":true}`)}}, decode(t, stored[4]).ToolResults())
	failed := decode(t, `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{"type":"error-text","value":"no"}}]}`)
	require.Equal(t, []memory.ToolResultPart{{CallID: "c", Name: "t", Output: json.RawMessage(`"no"`), IsError: true}}, failed.ToolResults())
	old := decode(t, `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":["no type"]}]}`)
	require.JSONEq(t, `["no type"]`, string(old.ToolResults()[0].Output))
	require.Empty(t, decode(t, stored[0]).ToolCalls())
	require.Empty(t, decode(t, stored[12]).ToolResults())
}

func TestMessageOfInvalidTextIsRefusedEverywhere(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]memory.Message{
		"zero":   {},
		"text":   memory.UserMessage("\xff"),
		"role":   memory.NewMessage("", "", "x"),
		"kind":   memory.NewMessage("user", "\xff", "x"),
		"call":   memory.AssistantMessage("", memory.ToolCallPart{Name: "\xff"}),
		"input":  memory.AssistantMessage("", memory.ToolCallPart{Input: json.RawMessage("\xff")}),
		"answer": memory.AssistantMessage("\xff", memory.ToolCallPart{}),
		"result": memory.ToolMessage(memory.ToolResultPart{CallID: "\xff"}),
		"output": memory.ToolMessage(memory.ToolResultPart{Output: json.RawMessage("{")}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorIs(t, m.Validate(), memory.ErrInvalidMessage)
			_, err := m.MarshalJSON()
			require.ErrorIs(t, err, memory.ErrInvalidMessage)
			_, err = memory.Bookkeeping{}.Project([]memory.Message{m})
			require.ErrorIs(t, err, memory.ErrInvalidMessage)
			_, _, err = memory.Canonical([]memory.Message{m})
			require.ErrorIs(t, err, memory.ErrInvalidMessage)
			b := newBundle(t, nil, memory.Slot{Name: "p", Provider: recalls()})
			r := b.request("x")
			r.Turn.Input = []memory.Message{m}
			_, err = b.m.StartTurn(t.Context(), r)
			require.ErrorIs(t, err, memory.ErrInvalidMessage)
			_, _, _, _, _, _ = m.Role(), m.Kind(), m.Text(), m.ToolCalls(), m.ToolResults(), m.IsRecord()
		})
	}
}

func TestMessageIsAsSmallAsAPointer(t *testing.T) {
	t.Parallel()
	require.Equal(t, unsafe.Sizeof(uintptr(0)), unsafe.Sizeof(memory.Message{}))
}

func FuzzMessage(f *testing.F) {
	for _, text := range stored {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"role":"user","role":"x"}`))
	f.Add([]byte("{\"role\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m memory.Message
		if m.UnmarshalJSON(data) != nil {
			require.Zero(t, m)
			return
		}
		encoded, err := m.MarshalJSON()
		require.NoError(t, err)
		require.JSONEq(t, string(data), string(encoded))
		again := decode(t, string(encoded))
		require.Equal(t, m, again)
		_, _, _, _ = m.Text(), m.ToolCalls(), m.ToolResults(), m.Metadata()
		view, err := memory.Bookkeeping{}.Project([]memory.Message{m})
		if err != nil {
			require.ErrorIs(t, err, memory.ErrAttribution)
			return
		}
		require.Equal(t, m.IsRecord(), len(view) == 0)
	})
}
