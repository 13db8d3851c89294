package memory_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

// byCurrent is the scope of the current caller: the tenant, if there is one, and the id.
var byCurrent = scope.ResolverFunc(func(_ context.Context, r *scope.Request) (scope.Scope, error) {
	if r.Current == nil {
		return scope.Scope{}, nil
	}
	if tenant, ok := r.Current.Attributes["tenantId"].(string); ok {
		return scope.Tuple(tenant, r.Current.ID), nil
	}
	return scope.String(r.Current.ID), nil
})

func user(id string) *scope.Principal { return &scope.Principal{Type: "user", ID: id} }

func tenant(name string) *scope.Principal {
	return &scope.Principal{Type: "user", ID: "u_42", Attributes: map[string]any{"tenantId": name}}
}

// spy is a provider that notes the key of everything it is asked, and answers with it.
func spy(j *journal) memory.Handlers {
	return memory.Handlers{
		Recall: func(_ context.Context, r *memory.TurnStarted) ([]memory.Item, error) {
			j.add("recall %s", r.Key)
			return []memory.Item{{ID: "d", Content: "doc of " + r.Key}, {Content: "note of " + r.Key}}, nil
		},
		RecallCompacted: func(_ context.Context, r *memory.CompactionCompleted) ([]memory.Item, error) {
			j.add("recall again %s", r.Key)
			return []memory.Item{{ID: "d", Content: "new doc of " + r.Key}}, nil
		},
		CaptureTurn: func(_ context.Context, r *memory.TurnCompleted) error {
			j.add("capture %s", r.Key)
			return nil
		},
		CaptureCompaction: func(_ context.Context, r *memory.CompactionRequested) error {
			j.add("capture history %s", r.Key)
			return nil
		},
		Tools: func(_ context.Context, r *memory.ToolsRequest) ([]memory.Tool, error) {
			j.add("tools %s", r.Key)
			return []memory.Tool{echo(r.Key)}, nil
		},
	}
}

func keyOf(namespace scope.Namespace, tenant string) string {
	return must(scope.Derive(namespace, scope.Tuple(tenant, "u_42"))).Key
}

func TestTwoTenantsWithTheSameUserNeverMeet(t *testing.T) {
	t.Parallel()
	var j journal
	b := newBundle(t, &memory.Options{BindingKey: make([]byte, 32)}, memory.Slot{Name: "p", Provider: spy(&j), Scope: byCurrent})
	for _, name := range []string{"acme", "evil", "acme"} {
		key, other := keyOf(app, name), keyOf(app, map[string]string{"acme": "evil", "evil": "acme"}[name])
		j.lines = nil
		b.session.Current = tenant(name)
		view := b.start("q of " + name)
		binding, err := b.m.BindTool(view.Tools[0])
		require.NoError(t, err)
		callTool(t, view.Tools[0], `{}`)

		b.session.Current = tenant("someone else") // the lock holds, whoever calls now
		resumed, err := b.m.ResumeTurn(t.Context(), b.current())
		require.NoError(t, err)
		tool, err := b.m.ResumeTool(t.Context(), binding)
		require.NoError(t, err)
		require.Contains(t, callTool(t, tool, `{"key":"`+other+`"}`), `"bound":"`+key+`"`)
		c := b.compaction("sum")
		c.Turn = &b.turn
		c.Bookkeeping, err = b.m.RequestCompaction(t.Context(), c)
		require.NoError(t, err)
		c.Checkpoint = append(c.Checkpoint, b.turn.Input...)
		compacted, err := b.m.CompleteCompaction(t.Context(), c)
		require.NoError(t, err)
		b.history, b.book = compacted.History, compacted.Bookkeeping
		b.store()
		require.NoError(t, b.complete())

		for _, line := range j.all() {
			require.Contains(t, line, key)
		}
		for _, messages := range [][]memory.Message{view.Messages, resumed.Messages, compacted.Messages} {
			for _, text := range texts(messages) {
				require.NotContains(t, text, other)
			}
		}
		require.Equal(t, []string{
			"recall " + key, "tools " + key, "tools " + key, "tools " + key, "capture history " + key, "recall again " + key, "capture " + key,
		}, j.all())
	}
}

func TestNamespaceChangeHidesWhatWasRecalledBefore(t *testing.T) {
	t.Parallel()
	for _, visibility := range []memory.Visibility{"", memory.VisibilityScope, memory.VisibilitySession} {
		var j journal
		namespace := app
		slot := memory.Slot{Name: "p", Provider: spy(&j), Visibility: visibility, Namespace: scope.NamespaceFunc(
			func(context.Context, *scope.Request) (scope.Namespace, error) { return namespace, nil },
		)}
		b := newBundle(t, nil, slot)
		b.start("q1")
		namespace = "other"
		view := b.start("q2")
		require.Equal(t, []string{"q1"}, texts(view.Messages[:1]))
		require.Len(t, view.Messages, 4)
		namespace = app
		require.Len(t, b.start("q3").Messages, 6, "and a change back shows it again, each note that was recalled")
	}
}

func TestVisibilitySessionKeepsRecordsOfOtherCallersInOneNamespace(t *testing.T) {
	t.Parallel()
	var j journal
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: spy(&j), Scope: byCurrent, Visibility: memory.VisibilitySession})
	b.session.Current = tenant("acme")
	b.start("q1")
	b.session.Current = tenant("evil")
	view := b.start("q2")
	a, e := keyOf(app, "acme"), keyOf(app, "evil")
	require.Equal(t, []string{"doc of " + a, "note of " + a, "q1", "doc of " + e, "note of " + e, "q2"}, texts(view.Messages))
	b.session.Current = nil
	require.Equal(t, []string{"q1", "q2", "q3"}, texts(b.start("q3").Messages), "a disabled slot shows nothing")
}

func TestSlotsOfOneScopeAreSeparate(t *testing.T) {
	t.Parallel()
	item := memory.Item{ID: "d", Content: "same"}
	b := newBundle(t, nil, memory.Slot{Name: "a", Provider: recalls(item)}, memory.Slot{Name: "b", Provider: recalls(item)})
	require.Equal(t, []string{"same", "same", "q"}, texts(b.start("q").Messages))
}

func TestStringAndOneTupleAreDifferentCallers(t *testing.T) {
	t.Parallel()
	var j journal
	current := scope.String("u")
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: spy(&j), Scope: scope.ResolverFunc(
		func(context.Context, *scope.Request) (scope.Scope, error) { return current, nil },
	)})
	b.start("q1")
	current = scope.Tuple("u")
	require.Len(t, b.start("q2").Messages, 4)
}

func TestNodesAreDifferentSessions(t *testing.T) {
	t.Parallel()
	deployment := scope.Deployment{AppRoot: "/app"}
	keys := map[string]bool{}
	for _, node := range []string{scope.RootNode, "researcher"} {
		m, err := memory.New([]memory.Slot{{Name: "p", Scope: scope.String("u"), Provider: memory.Handlers{
			Recall: func(_ context.Context, r *memory.TurnStarted) ([]memory.Item, error) {
				keys[r.Key] = true
				if r.Session.Node != node {
					return nil, fmt.Errorf("node %q", r.Session.Node)
				}
				return nil, nil
			},
		}}}, &memory.Options{Deployment: deployment, Node: node})
		require.NoError(t, err)
		b := &bundle{t: t, m: m, session: memory.SessionInfo{ID: "s"}}
		b.start("q")
	}
	require.Len(t, keys, 2)
}
