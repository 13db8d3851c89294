package memory

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/rawjson"
)

const wholeAttribution = `{"batchIndex":3,"itemKey":"memitem1_x","namespaceKey":"memns1_x","operationId":"op","scopeKey":"memscope1_x","slot":"p","version":1}`

func TestAttributionIsReadStrictly(t *testing.T) {
	t.Parallel()
	a, err := decodeAttribution([]byte(wholeAttribution))
	require.NoError(t, err)
	require.Equal(t, &attribution{identity{"p", "memns1_x", "memscope1_x", "memitem1_x"}, "op", 3}, a)
	for _, c := range []struct {
		part, with string
		valid      bool
	}{
		{`"itemKey":"memitem1_x",`, ``, true},
		{`"version":1`, `"version":1,"later":{}`, true},
		{`"batchIndex":3`, `"batchIndex":3.0`, true},
		{`"batchIndex":3`, `"batchIndex":0`, true},
		{`"version":1`, `"version":2`, false},
		{`"version":1`, `"version":"1"`, false},
		{`,"version":1`, ``, false},
		{`"batchIndex":3`, `"batchIndex":"3"`, false},
		{`"batchIndex":3`, `"batchIndex":-1`, false},
		{`"batchIndex":3`, `"batchIndex":1.5`, false},
		{`"batchIndex":3`, `"batchIndex":9007199254740992`, false},
		{`"batchIndex":3`, `"batchIndex":null`, false},
		{`"batchIndex":3,`, ``, false},
		{`"itemKey":"memitem1_x"`, `"itemKey":null`, false},
		{`"itemKey":"memitem1_x"`, `"itemKey":""`, false},
		{`"namespaceKey":"memns1_x",`, ``, false},
		{`"namespaceKey":"memns1_x"`, `"namespaceKey":7`, false},
		{`"operationId":"op",`, ``, false},
		{`"scopeKey":"memscope1_x",`, ``, false},
		{`"slot":"p",`, ``, false},
		{`"slot":"p"`, `"slot":"p","slot":"q"`, false},
		{`"slot":"p"`, `"Slot":"p"`, false},
		{`"slot":"p"`, `"slot":"\ud800"`, false},
	} {
		text := strings.Replace(wholeAttribution, c.part, c.with, 1)
		_, err := decodeAttribution([]byte(text))
		require.Equal(t, c.valid, err == nil, text)
		var m Message
		require.NoError(t, json.Unmarshal([]byte(`{"role":"user","content":"m","metadata":{"eve.memory":`+text+`}}`), &m), "it can be stored")
		require.True(t, m.IsRecord())
		require.NoError(t, m.Validate())
		_, err = Bookkeeping{}.Project([]Message{m})
		require.Equal(t, c.valid, err == nil, text)
		if !c.valid {
			require.ErrorIs(t, err, ErrAttribution)
			_, _, err = Canonical([]Message{m})
			require.ErrorIs(t, err, ErrAttribution)
			_, _, err = Bookkeeping{}.Commit([]Message{m}, nil)
			require.ErrorIs(t, err, ErrAttribution)
		}
	}
}

func TestRecordLosesItsAttributionAndNothingElse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"role":"user","content":"m","metadata":{"eve.memory":` + wholeAttribution + `}}`:                               `{"role":"user","content":"m"}`,
		`{"id":7,"metadata":{"a":1,"eve.memory":` + wholeAttribution + `,"b":{"eve.memory":2}},"role":"user"}`:           `{"id":7,"metadata":{"a":1,"b":{"eve.memory":2}},"role":"user"}`,
		`{"role":"user","content":[{"type":"text","text":"x"}],"metadata":{"eve\u002ememory":` + wholeAttribution + `}}`: `{"role":"user","content":[{"type":"text","text":"x"}]}`,
	} {
		var m Message
		require.NoError(t, json.Unmarshal([]byte(text), &m))
		bare, err := Message{m.m.bare}.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, want, string(bare))
		require.False(t, Message{m.m.bare}.IsRecord())
	}
}

func TestItemKeyIsThePublishedDigest(t *testing.T) {
	t.Parallel()
	require.Equal(t, "memitem1_lFl3plL0KUFaIl0liSZecvpE-jS7S-a8S9WwZpY27Jc", itemKey("a"))
	require.Equal(t, "memitem1_c4uogVLyGNa6hIvQuav8HZkZX5VRzn6J4ASg2M9XYA8", itemKey("a\x00b"))
	require.Len(t, itemKey(strings.Repeat("x", 1024)), 52)
}

func FuzzAttribution(f *testing.F) {
	f.Add([]byte(wholeAttribution))
	f.Add([]byte(`{"version":1}`))
	f.Add([]byte(`{"batchIndex":1e400}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		raw, err := rawjson.Compact(data)
		if err != nil || rawjson.Kind(raw) != '{' {
			return
		}
		a, err := decodeAttribution(raw)
		if err != nil {
			return
		}
		metadata, err := rawjson.Members(a.appendMetadata(nil))
		require.NoError(t, err)
		again, err := decodeAttribution(metadata[0].Value)
		require.NoError(t, err)
		require.Equal(t, a, again)
	})
}
