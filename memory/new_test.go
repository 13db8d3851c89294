package memory_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

type attachFunc func(memory.SlotInfo) (memory.Handlers, error)

func (f attachFunc) Attach(s memory.SlotInfo) (memory.Handlers, error) { return f(s) }

func TestNewListsEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	ok := recalls()
	user := scope.String("u")
	tools := ok
	tools.Tools = func(context.Context, *memory.ToolsRequest) ([]memory.Tool, error) { return nil, nil }
	refused := errors.New("no credentials")
	m, err := memory.New([]memory.Slot{
		{Name: "good", Provider: ok, Scope: user, Namespace: app},
		{Name: "nil-provider", Scope: user, Namespace: app},
		{Name: "nil-recall", Provider: memory.Handlers{}, Scope: user, Namespace: app},
		{Name: "twice", Provider: ok, Scope: user, Namespace: app},
		{Name: "twice", Provider: ok, Scope: user, Namespace: app},
		{Name: "9digit", Provider: ok, Scope: user, Namespace: app},
		{Name: strings.Repeat("n", 65), Provider: ok, Scope: user, Namespace: app},
		{Name: strings.Repeat("t", 62), Provider: tools, Scope: user, Namespace: app},
		{Name: "", Provider: ok, Scope: user, Namespace: app},
		{Name: "eve", Provider: ok, Scope: user, Namespace: app},
		{Name: "eve__x", Provider: ok, Scope: user, Namespace: app},
		{Name: "visibility", Provider: ok, Scope: user, Namespace: app, Visibility: "world"},
		{Name: "description", Provider: ok, Scope: user, Namespace: app, Description: " \n"},
		{Name: "bytes", Provider: ok, Scope: user, Namespace: app, Description: "\xff"},
		{Name: "timeout", Provider: ok, Scope: user, Namespace: app, Timeout: -1},
		{Name: "no-scope", Provider: ok, Namespace: app},
		{Name: "blank-scope", Provider: ok, Scope: scope.String(" "), Namespace: app},
		{Name: "blank-namespace", Provider: ok, Scope: user, Namespace: scope.Namespace(" ")},
		{Name: "no-namespace", Provider: ok, Scope: user},
		{Name: "refused", Provider: attachFunc(func(memory.SlotInfo) (memory.Handlers, error) { return ok, refused }), Scope: user, Namespace: app},
		{Name: "panics", Provider: attachFunc(func(memory.SlotInfo) (memory.Handlers, error) { panic("secret") }), Scope: user, Namespace: app},
	}, &memory.Options{CaptureTimeout: -time.Second, BindingKey: []byte("short"), Node: "\xff"})
	require.Nil(t, m)
	require.ErrorIs(t, err, memory.ErrConfig)
	require.ErrorIs(t, err, refused)
	require.ErrorIs(t, err, scope.ErrInvalidResolver)
	for _, problem := range []string{
		`negative capture timeout`, `binding key of 5 bytes`, `node: `,
		`slot "nil-provider": no provider`, `slot "nil-recall": the provider has no Recall`, `slot "twice": two slots`, `slot "9digit": the name`,
		`nnn": the name`, `ttt": the name is too long for any tool`, `slot 8: the name`, `slot "eve": the name is reserved`, `slot "eve__x": the name is reserved`,
		`slot "visibility": unknown visibility`, `slot "description": the description is blank`, `slot "bytes": description`, `slot "timeout": negative`,
		`slot "no-scope": no scope`, `slot "blank-scope": scope`, `slot "blank-namespace": namespace`, `slot "no-namespace": no namespace`,
		`slot "refused": provider: no credentials`, `slot "panics": panic of type string`,
	} {
		require.ErrorContains(t, err, problem)
	}
	require.NotContains(t, err.Error(), `"good"`)
	require.NotContains(t, err.Error(), "secret")
}

func TestNewTakesWhatIsAtTheLimit(t *testing.T) {
	t.Parallel()
	tools := recalls()
	tools.Tools = func(context.Context, *memory.ToolsRequest) ([]memory.Tool, error) { return nil, nil }
	_, err := memory.New([]memory.Slot{
		{Name: strings.Repeat("n", 64), Provider: recalls(), Scope: scope.String("u"), Namespace: app},
		{Name: strings.Repeat("t", 61), Provider: tools, Scope: scope.String("u"), Namespace: app},
		{Name: "E", Provider: recalls(), Scope: scope.String("u"), Namespace: app, Visibility: memory.VisibilitySession},
		{Name: "eve_x", Provider: recalls(), Scope: scope.String("u"), Namespace: app},
	}, &memory.Options{BindingKey: make([]byte, 32)})
	require.NoError(t, err)
	_, err = memory.New(nil, nil)
	require.NoError(t, err)
}

func TestNewAttachesOncePerSlotAndCopiesItsOptions(t *testing.T) {
	t.Parallel()
	var infos []memory.SlotInfo
	provider := attachFunc(func(s memory.SlotInfo) (memory.Handlers, error) {
		infos = append(infos, s)
		return recalls(), nil
	})
	opts := &memory.Options{Deployment: scope.Deployment{AppRoot: "/app"}, Node: "child", Development: true}
	slots := []memory.Slot{{Name: "a", Provider: provider, Scope: scope.String("u"), Description: "About a."}, {Name: "b", Provider: provider, Scope: scope.String("u")}}
	_, err := memory.New(slots, opts)
	require.NoError(t, err)
	require.Equal(t, []memory.SlotInfo{
		{Name: "a", Description: "About a.", Node: "child", Development: true}, {Name: "b", Node: "child", Development: true},
	}, infos)
	require.Nil(t, slots[0].Namespace, "the caller's slots are not changed")
}
