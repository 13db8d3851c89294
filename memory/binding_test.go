package memory_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

var bindingKey = []byte("a key of at least 32 bytes, secret")

// keyed is a provider whose tool tells the request that it was made for.
func keyed(seen *memory.ToolsRequest) memory.Handlers {
	h := recalls()
	h.Tools = func(_ context.Context, r *memory.ToolsRequest) ([]memory.Tool, error) {
		*seen = *r
		return []memory.Tool{named("other"), echo(r.Key)}, nil
	}
	return h
}

func TestToolIsResumedInAnotherProcess(t *testing.T) {
	t.Parallel()
	for _, key := range [][]byte{nil, bindingKey} {
		var seen memory.ToolsRequest
		slot := memory.Slot{Name: "profile", Description: "About.", Provider: keyed(&seen), Scope: byCurrent}
		b := newBundle(t, &memory.Options{BindingKey: key}, slot)
		b.session.Current, b.session.Channel = tenant("acme"), map[string]any{"attachment": "secret"}
		view := b.start("secret question")
		binding, err := b.m.BindTool(view.Tools[1])
		require.NoError(t, err)
		require.Less(t, len(binding), 700)
		require.NotContains(t, string(binding), "secret")

		other := newBundle(t, &memory.Options{BindingKey: key}, slot)
		tool, err := other.m.ResumeTool(t.Context(), through(t, binding))
		require.NoError(t, err)
		require.Equal(t, "profile__echo", tool.Name)
		require.Equal(t, "About.\n\nEchoes.", tool.Description)
		require.Equal(t, callTool(t, view.Tools[1], `{"a":1}`), callTool(t, tool, `{"a":1}`))
		require.Nil(t, seen.Messages)
		require.Nil(t, seen.Turn.Input)
		require.Equal(t, "turn_1", seen.Turn.ID)
		require.Equal(t, int64(1), seen.Turn.Sequence)
		require.Equal(t, "session_1", seen.Session.ID)
		require.Equal(t, tenant("acme"), seen.Session.Current)
		require.Equal(t, keyOf(app, "acme"), seen.Key)
		again, err := other.m.BindTool(tool)
		require.NoError(t, err)
		require.Equal(t, string(binding), string(again), "a resumed tool can be bound again")
	}
}

func TestBindingOfEveryReleasedFormatIsRead(t *testing.T) {
	t.Parallel()
	var seen memory.ToolsRequest
	b := newBundle(t, nil, memory.Slot{Name: "profile", Provider: keyed(&seen)})
	text := sample(t, "tool_v1.json")
	tool, err := b.m.ResumeTool(t.Context(), json.RawMessage(text))
	require.NoError(t, err)
	require.Equal(t, keyOf("acme-support-v1", "acme"), seen.Key)
	again, err := b.m.BindTool(tool)
	require.NoError(t, err)
	require.JSONEq(t, text, string(again))
}

func TestTamperedSignedBindingIsRefused(t *testing.T) {
	t.Parallel()
	var seen memory.ToolsRequest
	slot := memory.Slot{Name: "profile", Provider: keyed(&seen), Scope: byCurrent}
	b := newBundle(t, &memory.Options{BindingKey: bindingKey}, slot)
	b.session.Current = tenant("acme")
	view := b.start("q")
	binding := string(must(b.m.BindTool(view.Tools[1])))
	var parts struct{ Binding, Signature string }
	require.NoError(t, json.Unmarshal([]byte(binding), &parts))
	inner := string(must(base64.RawURLEncoding.DecodeString(parts.Binding)))
	require.Contains(t, inner, `["acme","u_42"]`)
	forged := base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(inner, "acme", "evil", 1)))
	seen = memory.ToolsRequest{}
	for name, text := range map[string]string{
		"another scope":         strings.Replace(binding, parts.Binding, forged, 1),
		"no signature":          strings.Replace(binding, parts.Signature, "", 1),
		"cut signature":         strings.Replace(binding, parts.Signature, parts.Signature[:22], 1),
		"another signature":     strings.Replace(binding, parts.Signature, base64.RawURLEncoding.EncodeToString(make([]byte, 32)), 1),
		"signature taken off":   inner,
		"format of an unsigned": strings.Replace(binding, "recollect-tool-signed", "recollect-tool", 1),
	} {
		_, err := b.m.ResumeTool(t.Context(), json.RawMessage(text))
		require.ErrorIs(t, err, memory.ErrBinding, name)
	}
	for i := range binding {
		for _, c := range []byte{binding[i] ^ 1, binding[i] ^ 2, binding[i] ^ 0x20, 'A', 'a', '0', '_', '=', '"', ' ', '\n'} {
			text := []byte(binding)
			text[i] = c
			if c == binding[i] {
				continue
			}
			if _, err := b.m.ResumeTool(t.Context(), text); err == nil {
				require.FailNow(t, "accepted", "%q", text)
			}
		}
	}
	_, err := newBundle(t, &memory.Options{BindingKey: bytes.Repeat([]byte("k"), 32)}, slot).m.ResumeTool(t.Context(), json.RawMessage(binding))
	require.ErrorIs(t, err, memory.ErrBinding, "another key")
	_, err = newBundle(t, nil, slot).m.ResumeTool(t.Context(), json.RawMessage(binding))
	require.ErrorIs(t, err, memory.ErrBinding, "no key")
	require.Zero(t, seen, "the provider was not asked")
}

func TestBindingThatCannotBeResumedSaysWhy(t *testing.T) {
	t.Parallel()
	whole := sample(t, "tool_v1.json")
	boom := errors.New("boom")
	var seen memory.ToolsRequest
	gone, failing := recalls(), recalls()
	gone.Tools = func(context.Context, *memory.ToolsRequest) ([]memory.Tool, error) {
		return []memory.Tool{named("renamed")}, nil
	}
	failing.Tools = func(context.Context, *memory.ToolsRequest) ([]memory.Tool, error) { return nil, boom }
	long := `"` + strings.Repeat("s", 1025) + `"`
	for name, c := range map[string]struct {
		slot      memory.Slot
		old, with string
		want      error
	}{
		"no such slot":     {memory.Slot{Name: "other", Provider: keyed(&seen)}, ``, ``, memory.ErrNoTool},
		"no tools":         {memory.Slot{Name: "profile", Provider: recalls()}, ``, ``, memory.ErrNoTool},
		"renamed":          {memory.Slot{Name: "profile", Provider: gone}, ``, ``, memory.ErrNoTool},
		"failing":          {memory.Slot{Name: "profile", Provider: failing}, ``, ``, boom},
		"disabled by slot": {memory.Slot{Name: "profile", Provider: keyed(&seen), Tools: func(memory.Tool) (memory.Tool, bool) { return memory.Tool{}, false }}, ``, ``, memory.ErrNoTool},
		"newer version":    {memory.Slot{Name: "profile", Provider: keyed(&seen)}, `"version": 1`, `"version": 2`, memory.ErrVersion},
		"another format":   {memory.Slot{Name: "profile", Provider: keyed(&seen)}, `"recollect-tool"`, `"recollect-state"`, memory.ErrMalformed},
		"another node":     {memory.Slot{Name: "profile", Provider: keyed(&seen)}, `"__root__"`, `"child"`, memory.ErrBinding},
		"no turn":          {memory.Slot{Name: "profile", Provider: keyed(&seen)}, `"turn"`, `"torn"`, memory.ErrMalformed},
		"no session":       {memory.Slot{Name: "profile", Provider: keyed(&seen)}, `"session"`, `"sassion"`, memory.ErrMalformed},
		"bad principal":    {memory.Slot{Name: "profile", Provider: keyed(&seen)}, `"current": {`, `"current": 7, "x": {`, memory.ErrMalformed},
		"no scope":         {memory.Slot{Name: "profile", Provider: keyed(&seen)}, `["acme", "u_42"]`, `null`, scope.ErrZeroScope},
		"scope limit":      {memory.Slot{Name: "profile", Provider: keyed(&seen)}, `["acme", "u_42"]`, long, scope.ErrComponentTooLong},
		"cut":              {memory.Slot{Name: "profile", Provider: keyed(&seen)}, `"version": 1,`, ``, memory.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(whole, c.old, c.with, 1)
			_, err := newBundle(t, nil, c.slot).m.ResumeTool(t.Context(), json.RawMessage(text))
			require.ErrorIs(t, err, c.want)
		})
	}
	_, err := newBundle(t, nil).m.ResumeTool(t.Context(), nil)
	require.ErrorIs(t, err, memory.ErrMalformed)
}

func TestOnlyToolsOfATurnAreBound(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil)
	_, err := b.m.BindTool(echo(""))
	require.ErrorIs(t, err, memory.ErrBinding)
}

func TestResumptionOfAToolEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := recalls()
		h.Tools = func(context.Context, *memory.ToolsRequest) ([]memory.Tool, error) {
			time.Sleep(time.Hour)
			return nil, nil
		}
		b := newBundle(t, nil, memory.Slot{Name: "profile", Provider: h})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := b.m.ResumeTool(ctx, json.RawMessage(sample(t, "tool_v1.json")))
		require.ErrorIs(t, err, memory.ErrCancelled)
		time.Sleep(2 * time.Hour)
	})
}

func FuzzBinding(f *testing.F) {
	f.Add([]byte(sample(f, "tool_v1.json")), false)
	f.Add([]byte(`{"format":"recollect-tool-signed","version":1,"binding":"e30","signature":"e30"}`), true)
	f.Add([]byte(`{"format":"recollect-tool","version":1}`), true)
	f.Fuzz(func(t *testing.T, data []byte, signed bool) {
		opts := &memory.Options{}
		if signed {
			opts.BindingKey = bindingKey
		}
		var seen memory.ToolsRequest
		b := newBundle(t, opts, memory.Slot{Name: "profile", Provider: keyed(&seen)})
		tool, err := b.m.ResumeTool(t.Context(), data)
		if err != nil {
			return
		}
		require.False(t, signed, "nobody has the key")
		again, err := b.m.BindTool(tool)
		require.NoError(t, err)
		_, err = b.m.ResumeTool(t.Context(), again)
		require.NoError(t, err)
	})
}
