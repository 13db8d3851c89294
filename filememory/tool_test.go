package filememory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
)

func call(tb testing.TB, tool memory.Tool, input string) (string, error) {
	tb.Helper()
	out, err := tool.Call(tb.Context(), &memory.ToolCall{ID: "call", Input: json.RawMessage(input)})
	return string(out), err
}

func TestToolsSaveAndRemove(t *testing.T) {
	t.Parallel()
	backend := filememory.InMemory()
	save, remove := tools(t, newProvider(t, backend, nil))
	for _, step := range []struct {
		tool        memory.Tool
		input, want string
	}{
		{save, `{"text":"I like tea"}`, `{"index":0,"saved":true}`},
		{save, ` { "text" : "  I  like\ttea " } `, `{"index":0,"saved":false}`},
		{save, `{"text":"\u79df\u6237 \ud83d\ude42"}`, `{"index":1,"saved":true}`},
		{remove, `{"index":0}`, `{"index":0,"removed":true}`},
		{remove, `{"index":0}`, `{"index":0,"removed":false}`},
		{remove, `{"index":1.0}`, `{"index":1,"removed":true}`},
		{remove, `{"index":1e0}`, `{"index":1,"removed":false}`},
		{remove, `{"index":-0}`, `{"index":0,"removed":false}`},
		{remove, `{"index":9007199254740991}`, `{"index":9007199254740991,"removed":false}`},
		{remove, `{"index":90071992547409.91e2}`, `{"index":9007199254740991,"removed":false}`},
	} {
		out, err := call(t, step.tool, step.input)
		require.NoError(t, err, step.input)
		require.Equal(t, step.want, out, step.input)
	}
	require.Equal(t, "<!-- eve-memory-file-v1 lastAllocatedIndex=1 -->\n", stored(t, backend))
}

func TestInputThatTheSchemaForbidsIsAnErrorForTheModelAndReachesNoBackend(t *testing.T) {
	t.Parallel()
	backend := &counting{Backend: filememory.InMemory()}
	save, remove := tools(t, newProvider(t, backend, nil))
	common := []string{``, ` `, `{`, `{}`, `[]`, `null`, `"text"`, `1`, `{"Text":"a"}`, `{"a":1,}`, `{} {}`, `{"text":"a"}x`, "{\"text\":\"\xff\"}"}
	for tool, inputs := range map[*memory.Tool][]string{
		&save: append(common,
			`{"text":1}`, `{"text":null}`, `{"text":["a"]}`, `{"text":{"text":"a"}}`, `{"text":"a","index":0}`, `{"text":"a","text":"a"}`,
			`{"text":"a","key":"memscope1_x"}`, `{"text":"\ud83d"}`, `{"text":"a`, `{"text":"a\u0000"`, `{"te\u0078t":"a","text":"b"}`),
		&remove: append(common,
			`{"index":1.5}`, `{"index":-1}`, `{"index":9007199254740992}`, `{"index":9007199254740993}`, `{"index":1e999}`, `{"index":"0"}`,
			`{"index":null}`, `{"index":true}`, `{"index":01}`, `{"index":+1}`, `{"index":0x1}`, `{"index":NaN}`, `{"index":[0]}`,
			`{"index":0,"index":0}`, `{"index":0,"all":true}`, `{"index":1e-1}`, `{"index":-0.5}`, `{"index":}`),
	} {
		for _, input := range inputs {
			_, err := call(t, *tool, input)
			require.ErrorIs(t, err, memory.ErrToolInput, "%s %s", tool.Name, input)
		}
	}
	for _, input := range []string{`{"text":""}`, `{"text":" \n"}`, fmt.Sprintf(`{"text":%q}`, strings.Repeat("a", 2049))} {
		_, err := call(t, save, input)
		require.Error(t, err, input)
	}
	require.Zero(t, backend.calls())
}

func TestSchemasAreClosed(t *testing.T) {
	t.Parallel()
	save, remove := tools(t, newProvider(t, filememory.InMemory(), nil))
	for _, tool := range []memory.Tool{save, remove} {
		var schema struct {
			Type                 string
			Properties           map[string]struct{ Type string }
			Required             []string
			AdditionalProperties *bool
		}
		require.NoError(t, json.Unmarshal(tool.InputSchema, &schema))
		require.Equal(t, "object", schema.Type)
		require.Len(t, schema.Properties, 1)
		require.Len(t, schema.Required, 1)
		require.NotNil(t, schema.AdditionalProperties)
		require.False(t, *schema.AdditionalProperties)
		require.NotEmpty(t, tool.Description)
		require.Nil(t, tool.Approval)
	}
}

func TestEachToolHasItsOwnApproval(t *testing.T) {
	t.Parallel()
	asked := errors.New("asked")
	policy := func(context.Context, *memory.ToolCall) (bool, error) { return true, asked }
	save, remove := tools(t, newProvider(t, filememory.InMemory(), &filememory.Options{ApproveSave: policy}))
	require.NotNil(t, save.Approval)
	require.Nil(t, remove.Approval)
	_, err := save.Approval(t.Context(), &memory.ToolCall{})
	require.Equal(t, asked, err)
	save, remove = tools(t, newProvider(t, filememory.InMemory(), &filememory.Options{ApproveRemove: policy}))
	require.Nil(t, save.Approval)
	require.NotNil(t, remove.Approval)
}

func FuzzToolInput(f *testing.F) {
	for _, input := range []string{`{"text":"a"}`, `{"index":0}`, `{"index":1.0}`, `{"text":"\ud83d\ude42"}`, `{"index":1e3}`, `{`, `{"text":"a","text":"b"}`} {
		f.Add([]byte(input))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		save, remove := tools(t, newProvider(t, filememory.InMemory(), nil))
		for _, tool := range []memory.Tool{save, remove} {
			out, err := tool.Call(t.Context(), &memory.ToolCall{Input: input})
			if err == nil {
				require.True(t, json.Valid(input), "input that is no JSON was accepted")
				require.True(t, json.Valid(out))
			}
		}
	})
}
