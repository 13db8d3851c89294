package memory_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

func sample(t testing.TB, name string) string {
	t.Helper()
	return string(must(os.ReadFile("testdata/" + name)))
}

func readBookkeeping(text string) (memory.Bookkeeping, error) {
	var b memory.Bookkeeping
	err := json.Unmarshal([]byte(text), &b)
	return b, err
}

func TestBookkeepingOfEveryReleasedFormatIsRead(t *testing.T) {
	t.Parallel()
	text := sample(t, "bookkeeping_v1.json")
	b, err := readBookkeeping(text)
	require.NoError(t, err)
	require.JSONEq(t, text, string(must(json.Marshal(b))))
	keys := must(scope.Derive("acme-support-v1", scope.Tuple("acme", "u_42")))
	record := decode(t, `{"role":"user","kind":"memory.load","content":"m","metadata":{"eve.memory":{"batchIndex":0,"namespaceKey":"`+keys.Namespace+
		`","operationId":"o","scopeKey":"`+keys.Scope+`","slot":"profile","version":1}}}`)
	view, err := b.Project([]memory.Message{record})
	require.NoError(t, err)
	require.Equal(t, []string{"m"}, texts(view), "keys are derived again")
}

func TestBookkeepingKeepsWhatALaterBuildWrote(t *testing.T) {
	t.Parallel()
	text := strings.Replace(sample(t, "bookkeeping_v1.json"), `"locks"`, `"later":{"a":[1,2.0]},"locks"`, 1)
	text = strings.Replace(text, `"visibility": "scope"`, `"visibility": "scope", "weight": 1e2`, 1)
	b, err := readBookkeeping(text)
	require.NoError(t, err)
	require.JSONEq(t, text, string(must(json.Marshal(b))))
	s := newBundle(t, nil, memory.Slot{Name: "other", Provider: recalls()})
	s.book = b
	s.turn.Sequence = 3
	s.start("q")
	require.Contains(t, string(must(json.Marshal(s.book))), `"later":{"a":[1,2.0]}`)
	require.Contains(t, string(must(json.Marshal(s.book))), `turn_3:turn.started:profile`)
}

func TestBookkeepingOfANewerVersionIsRefused(t *testing.T) {
	t.Parallel()
	text := strings.Replace(sample(t, "bookkeeping_v1.json"), `"version": 1`, `"version": 2`, 1)
	text = strings.Replace(text, `"locks": [`, `"locks": {}, "more": [`, 1)
	_, err := readBookkeeping(text)
	require.ErrorIs(t, err, memory.ErrVersion, "whatever else is new in it")
}

func TestDamagedBookkeepingIsRefused(t *testing.T) {
	t.Parallel()
	whole := sample(t, "bookkeeping_v1.json")
	for _, c := range [][2]string{
		{`"recollect-bookkeeping"`, `"recollect-state"`}, {`"format": "recollect-bookkeeping",`, ``}, {`"version": 1,`, ``}, {`"version": 1`, `"version": 0`},
		{`"version": 1`, `"version": "1"`}, {`"version": 1`, `"version": 1, "version": 1`}, {`"slot": "profile"`, `"slot": "no name"`},
		{`"slot": "profile",`, ``}, {`"namespace": "acme-support-v1",`, ``}, {`"scope": "acme"`, `"scope": 7`}, {`"scope": "acme"`, `"scope": null`},
		{`"scope": "acme"`, `"scope": " "`}, {`"visibility": "scope"`, `"visibility": "world"`}, {`"failed": true`, `"failed": 1`},
		{`"sequence": 3`, `"sequence": -3`}, {`"id": "turn_3"`, `"id": ""`}, {`"turn": {`, `"turn": null, "x": {`}, {`["eve-memory-operation-v1:session_1:2`, `["x", "eve`},
		{`"slot": "workspace"`, `"slot": "profile"`}, {`"digests": [`, `"digests": {}, "x": [`}, {`"locks": [`, `"locks": [null, `}, {`"acme", "u_42"`, `"acme", "\ud800"`},
	} {
		text := strings.Replace(whole, c[0], c[1], 1)
		require.NotEqual(t, whole, text)
		b, err := readBookkeeping(text)
		require.ErrorIs(t, err, memory.ErrMalformed, "%s for %s", c[1], c[0])
		require.True(t, b.IsZero())
		require.NotContains(t, err.Error(), "u_42")
	}
}

func TestZeroBookkeepingIsThatOfANewSession(t *testing.T) {
	t.Parallel()
	var zero memory.Bookkeeping
	require.True(t, zero.IsZero())
	require.Equal(t, "null", string(must(json.Marshal(zero))))
	b, err := readBookkeeping("null")
	require.NoError(t, err)
	require.True(t, b.IsZero())
}

func TestBookkeepingHoldsNoInputAndTheNewest1024Digests(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: recalls()})
	for i := range 1030 {
		view, err := b.m.StartTurn(t.Context(), b.request(fmt.Sprintf("secret question %d", i)))
		require.NoError(t, err)
		b.book = view.Bookkeeping
	}
	b.store()
	var stored struct{ Digests [][2]string }
	data := must(json.Marshal(b.book))
	require.NoError(t, json.Unmarshal(data, &stored))
	require.Len(t, stored.Digests, 1024)
	require.Equal(t, "eve-memory-operation-v1:session_1:7:turn_7:turn.started:p", stored.Digests[0][0])
	require.Equal(t, "eve-memory-operation-v1:session_1:1030:turn_1030:turn.started:p", stored.Digests[1023][0])
	require.NotContains(t, string(data), "secret")
}

func TestBookkeepingIsImmutable(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: recalls()})
	b.start("q")
	before := must(json.Marshal(b.book))
	old := b.book
	r := b.request("next")
	_, err := b.m.StartTurn(t.Context(), r)
	require.NoError(t, err)
	_, err = b.m.StartTurn(t.Context(), r)
	require.NoError(t, err)
	b.turn = memory.Turn{ID: "turn_1", Sequence: 1, Input: []memory.Message{memory.UserMessage("q")}}
	require.NoError(t, b.complete())
	require.Equal(t, string(before), string(must(json.Marshal(old))))
}

func TestCommitRefusesBatchesThatDoNotFit(t *testing.T) {
	t.Parallel()
	good := memory.Batch{Slot: "p", Namespace: app, Scope: scope.String("u"), OperationID: "op", Items: []memory.Item{{Content: "x"}}}
	for name, spoil := range map[string]func(*memory.Batch){
		"slot": func(b *memory.Batch) { b.Slot = "no name" }, "visibility": func(b *memory.Batch) { b.Visibility = "x" },
		"operation": func(b *memory.Batch) { b.OperationID = "" }, "scope": func(b *memory.Batch) { b.Scope = scope.Scope{} },
		"namespace": func(b *memory.Batch) { b.Namespace = "" }, "items": func(b *memory.Batch) { b.Items[0].Content = "" }, "twice": func(*memory.Batch) {},
	} {
		bad := good
		bad.Items = []memory.Item{{Content: "x"}}
		if name != "twice" {
			bad.Slot = "q"
		}
		spoil(&bad)
		records, book, err := memory.Bookkeeping{}.Commit(nil, []memory.Batch{good, bad})
		require.Error(t, err, name)
		require.Nil(t, records)
		require.True(t, book.IsZero())
	}
}

func FuzzBookkeeping(f *testing.F) {
	f.Add([]byte(sample(f, "bookkeeping_v1.json")))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"format":"recollect-bookkeeping","version":1}`))
	f.Add([]byte(`{"format":"recollect-bookkeeping","version":1,"turn":{"id":"t","sequence":1,"complete":false},"x":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := readBookkeeping(string(data))
		if err != nil {
			require.True(t, b.IsZero())
			return
		}
		encoded, err := json.Marshal(b)
		require.NoError(t, err)
		again, err := readBookkeeping(string(encoded))
		require.NoError(t, err)
		require.Equal(t, string(encoded), string(must(json.Marshal(again))))
	})
}
