package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
)

type strictInput struct {
	Text   string          `json:"text"`
	Index  int             `json:"index"`
	Small  uint8           `json:"small,omitempty"`
	Ratio  float64         `json:"ratio,omitempty"`
	Flag   bool            `json:"flag,omitzero"`
	Tags   []string        `json:"tags,omitempty"`
	Maybe  *int64          `json:"maybe,omitempty"`
	Must   *string         `json:"must"`
	Counts map[string]int  `json:"counts,omitempty"`
	Nested *strictNested   `json:"nested,omitempty"`
	Any    any             `json:"any,omitempty"`
	When   time.Time       `json:"when,omitzero"`
	Raw    json.RawMessage `json:"raw,omitempty"`
	Hidden string          `json:"-"`
	Plain  string          `json:",omitempty"`
}

type strictNested struct {
	Name string          `json:"name"`
	More []*strictNested `json:"more,omitempty"`
}

func strictTool(t testing.TB, called *int) memory.Tool {
	t.Helper()
	tool, err := memory.NewTool("strict", "Strict.", json.RawMessage(anyObject), func(_ context.Context, in strictInput) (strictInput, error) {
		*called++
		return in, nil
	})
	require.NoError(t, err)
	return newBundle(t, nil, memory.Slot{Name: "p", Provider: offers(tool)}).start("q").Tools[0]
}

func TestStrictToolTellsTheModelWhatIsWrong(t *testing.T) {
	t.Parallel()
	called := 0
	tool := strictTool(t, &called)
	for input, problem := range map[string]string{
		`{}`: `"text" is missing; "index" is missing; "must" is missing`,
		`{"text":"x","index":1,"must":null,"extra":1}`:                                 `"extra" is unknown; known are "text", "index", `,
		`{"Text":"x","index":1,"must":null}`:                                           `"Text" is unknown`,
		`{"text":null,"index":1,"must":null}`:                                          `"text" must be a string`,
		`{"text":7,"index":1,"must":null}`:                                             `"text" must be a string`,
		`{"text":"x","index":1.5,"must":null}`:                                         `"index" must be an integer`,
		`{"text":"x","index":"1","must":null}`:                                         `"index" must be an integer`,
		`{"text":"x","index":1e2,"must":null}`:                                         `"index" must be an integer`,
		`{"text":"x","index":9223372036854775808,"must":null}`:                         `"index" must be an integer`,
		`{"text":"x","index":1,"small":256,"must":null}`:                               `"small" must be an integer of at least 0`,
		`{"text":"x","index":1,"small":-1,"must":null}`:                                `"small" must be an integer of at least 0`,
		`{"text":"x","index":1,"must":7}`:                                              `"must" must be a string`,
		`{"text":"x","index":1,"must":null,"ratio":"1"}`:                               `"ratio" must be a number`,
		`{"text":"x","index":1,"must":null,"ratio":1e400}`:                             `"ratio" must be a number`,
		`{"text":"x","index":1,"must":null,"flag":1}`:                                  `"flag" must be true or false`,
		`{"text":"x","index":1,"must":null,"tags":null}`:                               `"tags" must be an array`,
		`{"text":"x","index":1,"must":null,"tags":["a",2]}`:                            `"tags"[1] must be a string`,
		`{"text":"x","index":1,"must":null,"maybe":"1"}`:                               `"maybe" must be an integer`,
		`{"text":"x","index":1,"must":null,"counts":[]}`:                               `"counts" must be an object`,
		`{"text":"x","index":1,"must":null,"counts":{"a":""}}`:                         `"counts"."a" must be an integer`,
		`{"text":"x","index":1,"must":null,"nested":{}}`:                               `"nested"."name" is missing`,
		`{"text":"x","index":1,"must":null,"nested":{"name":"n","more":[{"name":1}]}}`: `"nested"."more"[0]."name" must be a string`,
		`{"text":"x","index":1,"must":null,"nested":{"name":"n","name":"m"}}`:          `"nested" is ambiguous`,
		`{"text":"x","index":1,"must":null,"when":"yesterday"}`:                        `yesterday`,
		`{"text":"\ud800","index":1,"must":null}`:                                      `invalid input`,
		`{"text":"x","index":1,"must":null,"any":["\udc00"]}`:                          `invalid input`,
	} {
		_, err := tool.Call(t.Context(), &memory.ToolCall{Input: json.RawMessage(input)})
		require.ErrorIs(t, err, memory.ErrToolInput, input)
		require.ErrorContains(t, err, problem, input)
	}
	require.Zero(t, called)
}

func TestStrictToolAnswersMuchThatIsWrongInFewWords(t *testing.T) {
	t.Parallel()
	called := 0
	tool := strictTool(t, &called)
	const deep = 9000
	nested := `{"nested":` + strings.Repeat(`{"name":"n","more":[`, deep/2) + strings.Repeat(`]}`, deep/2) + `,"must":null,"text":"t"}`
	unknown := `"x":1`
	for i := range 5000 {
		unknown += fmt.Sprintf(`,"x%d":1`, i)
	}
	for name, input := range map[string]string{"nesting": nested, "unknown members": `{` + unknown + `}`, "elements": `{"tags":[1` + strings.Repeat(`,1`, 5000) + `]}`} {
		_, err := tool.Call(t.Context(), &memory.ToolCall{Input: json.RawMessage(input)})
		require.ErrorIs(t, err, memory.ErrToolInput, name)
		require.Less(t, len(err.Error()), 8000, name)
	}
	require.Zero(t, called)
}

func TestStrictToolDecodesWhatIsRight(t *testing.T) {
	t.Parallel()
	called := 0
	tool := strictTool(t, &called)
	for _, input := range []string{
		`{"text":"x <&>","index":-3,"must":null}`,
		`{"text":"","index":0,"must":"","small":255,"ratio":1.5,"flag":true,"tags":["a"],"maybe":9007199254740993,"counts":{"a":1},` +
			`"nested":{"name":"n","more":[{"name":"m"}]},"any":{"free":[1]},"when":"2026-01-02T03:04:05Z","raw":[1.0],"Plain":"p"}`,
	} {
		require.JSONEq(t, input, callTool(t, tool, input))
	}
	require.Contains(t, callTool(t, tool, `{"text":"<&>","index":0,"must":null,"maybe":null}`), `"text":"<&>"`)
	require.Equal(t, 3, called)
}

func TestNewToolRefusesTypesThatJSONCannotFill(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(anyObject)
	var errs []error
	add := func(_ memory.Tool, err error) { errs = append(errs, err) }
	add(memory.NewTool("x", "", schema, func(context.Context, string) (int, error) { return 0, nil }))
	add(memory.NewTool("x", "", schema, func(context.Context, struct{ C chan int }) (int, error) { return 0, nil }))
	add(memory.NewTool("x", "", schema, func(context.Context, struct{ F func() }) (int, error) { return 0, nil }))
	add(memory.NewTool("x", "", schema, func(context.Context, struct{ M map[int]string }) (int, error) { return 0, nil }))
	add(memory.NewTool("x", "", schema, func(context.Context, struct{ E error }) (int, error) { return 0, nil }))
	add(memory.NewTool("x", "", schema, func(context.Context, struct{ A [2]int }) (int, error) { return 0, nil }))
	add(memory.NewTool("x", "", schema, func(context.Context, struct{ strictNested }) (int, error) { return 0, nil }))
	add(memory.NewTool("x", "", schema, func(context.Context, struct {
		N int `json:"n,string"`
	}) (int, error) {
		return 0, nil
	}))
	add(memory.NewTool("x", "", schema, func(context.Context, struct {
		A int `json:"B"`
		B int
	}) (int, error) {
		return 0, nil
	}))
	add(memory.NewTool[struct{}, int]("x", "", schema, nil))
	for i, err := range errs {
		require.ErrorContains(t, err, `memory: tool "x"`, i)
	}
}

func TestNewToolReturnsErrorsAndOutputsAsTheyAre(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	fails := must(memory.NewTool("x", "", nil, func(context.Context, struct{}) (any, error) { return nil, boom }))
	_, err := fails.Call(t.Context(), &memory.ToolCall{Input: json.RawMessage(`{}`)})
	require.Equal(t, boom, err)
	bytes := must(memory.NewTool("x", "", nil, func(context.Context, struct{}) (string, error) { return "\xff", nil }))
	_, err = bytes.Call(t.Context(), &memory.ToolCall{Input: json.RawMessage(`{}`)})
	require.Error(t, err, "not replaced in silence")
	fine := must(memory.NewTool("x", "", nil, func(context.Context, struct{}) (string, error) { return "\ufffd \\ufffd", nil }))
	output, err := fine.Call(t.Context(), &memory.ToolCall{Input: json.RawMessage(`{}`)})
	require.NoError(t, err)
	require.Equal(t, "\"\ufffd \\\\ufffd\"", string(output))
	cycle := must(memory.NewTool("x", "", nil, func(context.Context, struct{}) (any, error) { return make(chan int), nil }))
	_, err = cycle.Call(t.Context(), &memory.ToolCall{Input: json.RawMessage(`{}`)})
	require.Error(t, err)
}

func FuzzToolInput(f *testing.F) {
	for _, input := range []string{
		`{}`, `{"text":"x","index":1,"must":null}`, `{"text":"\ud800"}`, `{"nested":{"more":[{"more":[]}]}}`, `[`, `{"any":{"a":[[[]]]}}`, `{"index":-0}`,
	} {
		f.Add([]byte(input))
	}
	called := 0
	tool := strictTool(f, &called)
	f.Fuzz(func(t *testing.T, input []byte) {
		before := called
		output, err := tool.Call(t.Context(), &memory.ToolCall{Input: input})
		if err != nil {
			require.ErrorIs(t, err, memory.ErrToolInput)
			require.Equal(t, before, called)
			return
		}
		require.True(t, json.Valid(output))
		var in map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(input, &in))
		for _, name := range []string{"text", "index", "must"} {
			require.Contains(t, in, name)
		}
	})
}
