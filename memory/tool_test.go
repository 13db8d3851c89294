package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

const anyObject = `{"type":"object"}`

// echo is a tool that returns what it was bound to and what it was given.
func echo(bound string) memory.Tool {
	return memory.Tool{
		Name: "echo", Description: "Echoes.", InputSchema: json.RawMessage(anyObject),
		Call: func(_ context.Context, c *memory.ToolCall) (json.RawMessage, error) {
			return json.Marshal(map[string]any{"bound": bound, "input": c.Input})
		},
	}
}

func callTool(t testing.TB, tool memory.Tool, input string) string {
	t.Helper()
	output, err := tool.Call(t.Context(), &memory.ToolCall{ID: "c", Input: json.RawMessage(input)})
	require.NoError(t, err)
	return string(output)
}

func offers(tools ...memory.Tool) memory.Handlers {
	h := recalls()
	h.Tools = func(context.Context, *memory.ToolsRequest) ([]memory.Tool, error) { return tools, nil }
	return h
}

func named(name string) memory.Tool {
	t := echo("")
	t.Name = name
	return t
}

func names(tools []memory.Tool) []string {
	all := make([]string, len(tools))
	for i, t := range tools {
		all[i] = t.Name
	}
	return all
}

func TestToolsAreQualifiedDescribedAndOrdered(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil,
		memory.Slot{Name: "zeta", Description: "About zeta.", Provider: offers(named("b"), named("a"))},
		memory.Slot{Name: "alpha", Provider: offers(named("c"))},
	)
	for range 20 {
		view := b.start("q")
		require.Equal(t, []string{"zeta__b", "zeta__a", "alpha__c"}, names(view.Tools))
		require.Equal(t, "About zeta.\n\nEchoes.", view.Tools[0].Description)
		require.Equal(t, "Echoes.", view.Tools[2].Description)
	}
}

func TestToolsSeeTheViewOfTheTurn(t *testing.T) {
	t.Parallel()
	var seen *memory.ToolsRequest
	h := recalls(memory.Item{Content: "record"})
	h.Tools = func(_ context.Context, r *memory.ToolsRequest) ([]memory.Tool, error) {
		seen = r
		return nil, nil
	}
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: h})
	b.history = []memory.Message{memory.UserMessage("before")}
	b.start("q")
	require.Equal(t, []string{"before", "record", "q"}, texts(seen.Messages))
	require.Equal(t, 2, seen.Turn.Start)
	require.Equal(t, "turn_1", seen.Turn.ID)
	require.Empty(t, seen.ID)
}

func TestBadToolSetIsLeftOutAndReported(t *testing.T) {
	t.Parallel()
	with := func(change func(*memory.Tool)) memory.Handlers {
		tool := echo("")
		change(&tool)
		return offers(echo(""), tool)
	}
	fails := recalls()
	fails.Tools = func(context.Context, *memory.ToolsRequest) ([]memory.Tool, error) { return nil, errors.New("boom") }
	panics := recalls()
	panics.Tools = func(context.Context, *memory.ToolsRequest) ([]memory.Tool, error) { panic("secret") }
	for name, provider := range map[string]memory.Handlers{
		"error":       fails,
		"panic":       panics,
		"twice":       offers(named("x"), named("x")),
		"grammar":     offers(named("no space allowed")),
		"no name":     offers(named("")),
		"too long":    offers(named(strings.Repeat("n", 60))),
		"no call":     with(func(t *memory.Tool) { t.Name, t.Call = "x", nil }),
		"no schema":   with(func(t *memory.Tool) { t.Name, t.InputSchema = "x", nil }),
		"schema":      with(func(t *memory.Tool) { t.Name, t.InputSchema = "x", json.RawMessage(`{"type":"string"}`) }),
		"bytes":       with(func(t *memory.Tool) { t.Name, t.Description = "x", "\xff" }),
		"schema text": with(func(t *memory.Tool) { t.Name, t.InputSchema = "x", json.RawMessage(`{`) }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var j journal
			var left []*memory.Event
			b := newBundle(t, &memory.Options{Logger: j.logger(), Observer: &memory.Observer{Happened: func(_ context.Context, e *memory.Event) {
				if e.Kind == memory.EventToolsLeftOut {
					left = append(left, e)
				}
			}}}, memory.Slot{Name: "bad", Provider: provider}, memory.Slot{Name: "good", Provider: offers(echo(""))})
			require.Equal(t, []string{"good__echo"}, names(b.start("q").Tools))
			require.Len(t, left, 1)
			require.Equal(t, "bad", left[0].Slot)
			require.Contains(t, strings.Join(j.all(), "\n"), "tools are left out")
			require.NotContains(t, strings.Join(j.all(), "\n"), "secret")
		})
	}
}

func TestNameThatTwoSlotsYieldIsLeftOutOfBoth(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil,
		memory.Slot{Name: "a", Provider: offers(named("b__c"), named("own"))},
		memory.Slot{Name: "a__b", Provider: offers(named("c"))},
	)
	require.Equal(t, []string{"a__own"}, names(b.start("q").Tools))
}

func TestSlotDisablesWrapsAndReplacesItsTools(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: offers(named("gone"), named("wrapped"), named("renamed")), Tools: func(tool memory.Tool) (memory.Tool, bool) {
		switch tool.Name {
		case "wrapped":
			tool.Description = "Wrapped."
		case "renamed":
			tool = named("other")
		}
		return tool, tool.Name != "gone"
	}})
	view := b.start("q")
	require.Equal(t, []string{"p__wrapped", "p__other"}, names(view.Tools))
	require.Equal(t, "Wrapped.", view.Tools[0].Description)
	panics := newBundle(t, nil, memory.Slot{Name: "p", Provider: offers(echo("")), Tools: func(memory.Tool) (memory.Tool, bool) { panic("x") }})
	require.Empty(t, panics.start("q").Tools)
}

func TestToolInputIsOneObjectOrTheToolIsNotCalled(t *testing.T) {
	t.Parallel()
	tool := echo("")
	called := false
	tool.Call = func(context.Context, *memory.ToolCall) (json.RawMessage, error) {
		called = true
		return nil, nil
	}
	tool.Approval = func(context.Context, *memory.ToolCall) (bool, error) {
		called = true
		return true, nil
	}
	seen := newBundle(t, nil, memory.Slot{Name: "p", Provider: offers(tool)}).start("q").Tools[0]
	for _, input := range []string{``, ` `, `null`, `[]`, `"{}"`, `7`, `{`, `{}{}`, `{} x`, `{"a":1,"a":2}`, `{"a":}`, "{\"a\":\"\xff\"}", `{'a':1}`} {
		_, err := seen.Call(t.Context(), &memory.ToolCall{Input: json.RawMessage(input)})
		require.ErrorIs(t, err, memory.ErrToolInput, "%q", input)
		_, err = seen.Approval(t.Context(), &memory.ToolCall{Input: json.RawMessage(input)})
		require.ErrorIs(t, err, memory.ErrToolInput, "%q", input)
	}
	require.False(t, called)
	require.Equal(t, "null", callTool(t, seen, ` { } `), "no output at all is null")
	needed, err := seen.Approval(t.Context(), &memory.ToolCall{Input: json.RawMessage(`{}`)})
	require.NoError(t, err)
	require.True(t, needed)
}

func TestSchemaValidatorIsAskedBeforeTheCall(t *testing.T) {
	t.Parallel()
	opts := &memory.Options{Validator: func(schema, input json.RawMessage) error {
		if string(schema) != anyObject || string(input) != `{"a":1}` {
			return errors.New("a must be 1")
		}
		return nil
	}}
	tool := newBundle(t, opts, memory.Slot{Name: "p", Provider: offers(echo("k"))}).start("q").Tools[0]
	require.JSONEq(t, `{"bound":"k","input":{"a":1}}`, callTool(t, tool, `{"a": 1}`))
	_, err := tool.Call(t.Context(), &memory.ToolCall{Input: json.RawMessage(`{"a":2}`)})
	require.ErrorIs(t, err, memory.ErrToolInput)
	require.ErrorContains(t, err, "a must be 1")
}

func TestToolErrorsReachTheModelAndPanicsDoNot(t *testing.T) {
	t.Parallel()
	boom := errors.New("no entry 7")
	fails, panics, garbles := named("fails"), named("panics"), named("garbles")
	fails.Call = func(context.Context, *memory.ToolCall) (json.RawMessage, error) { return nil, boom }
	fails.Render = func(_ context.Context, r *memory.ToolResult) (string, error) {
		return r.Call.ID + string(r.Output), nil
	}
	panics.Call = func(context.Context, *memory.ToolCall) (json.RawMessage, error) { panic("secret") }
	panics.Approval = func(context.Context, *memory.ToolCall) (bool, error) { panic("secret") }
	panics.Render = func(context.Context, *memory.ToolResult) (string, error) { panic("secret") }
	garbles.Call = func(context.Context, *memory.ToolCall) (json.RawMessage, error) { return json.RawMessage(`{`), nil }
	tools := newBundle(t, nil, memory.Slot{Name: "p", Provider: offers(fails, panics, garbles)}).start("q").Tools
	call := &memory.ToolCall{ID: "c", Input: json.RawMessage(`{}`)}
	_, err := tools[0].Call(t.Context(), call)
	require.Equal(t, boom, err, "as it is")
	text, err := tools[0].Render(t.Context(), &memory.ToolResult{Call: *call, Output: json.RawMessage(`1`)})
	require.NoError(t, err)
	require.Equal(t, "c1", text)
	require.Nil(t, tools[0].Approval)
	_, err1 := tools[1].Call(t.Context(), call)
	_, err2 := tools[1].Approval(t.Context(), call)
	_, err3 := tools[1].Render(t.Context(), &memory.ToolResult{})
	for _, err := range []error{err1, err2, err3} {
		var slot *memory.SlotError
		require.ErrorAs(t, err, &slot)
		require.Equal(t, "p", slot.Slot)
		require.NotContains(t, err.Error(), "secret")
	}
	_, err = tools[2].Call(t.Context(), call)
	require.ErrorContains(t, err, "output")
}

func TestToolStaysBoundToTheLockWhateverIsPassed(t *testing.T) {
	t.Parallel()
	caller := "a"
	h := recalls()
	h.Tools = func(_ context.Context, r *memory.ToolsRequest) ([]memory.Tool, error) {
		return []memory.Tool{echo(r.Key)}, nil
	}
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: h, Scope: scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) {
		return scope.String(caller), nil
	})})
	tool := b.start("q").Tools[0]
	keys := must(scope.Derive(app, scope.String("a")))
	caller = "b"
	require.JSONEq(t, `{"bound":"`+keys.Key+`","input":{"scope":"b","namespace":"other","key":"x"}}`,
		callTool(t, tool, `{"scope":"b","namespace":"other","key":"x"}`))
}
