package rawjson_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/leak"
	"github.com/recollect-go/recollect/internal/rawjson"
)

func TestMain(m *testing.M) { leak.Main(m) }

func TestCompactTakesOneValueInUTF8(t *testing.T) {
	t.Parallel()
	compact, err := rawjson.Compact([]byte(" { \"a\" : [ 1 , 2.50 , \"\\u003c x\" ] } \n"))
	require.NoError(t, err)
	require.Equal(t, `{"a":[1,2.50,"\u003c x"]}`, string(compact))
	for _, text := range []string{``, ` `, `{`, `{} {}`, `nul`, `[1,]`, `{"a"}`, `01`, `"\x"`, "\"\n\""} {
		_, err := rawjson.Compact([]byte(text))
		require.Error(t, err, text)
	}
	for _, text := range []string{"\"\xff\"", "\"\xed\xa0\x80\""} {
		_, err := rawjson.Compact([]byte(text))
		require.ErrorIs(t, err, ecma.ErrInvalidUTF8)
	}
}

func TestMembersStandInTheirOrderAndOnce(t *testing.T) {
	t.Parallel()
	members, err := rawjson.Members([]byte(`{"b":{"x":"}\"]"},"a":[[],{}],"":null,"\u0061b":-1e5,"t":true}`))
	require.NoError(t, err)
	var parts []string
	for _, m := range members {
		parts = append(parts, m.Name, string(m.Value))
	}
	require.Equal(t, []string{"b", `{"x":"}\"]"}`, "a", `[[],{}]`, "", `null`, "ab", `-1e5`, "t", `true`}, parts)
	require.Equal(t, `-1e5`, string(rawjson.Find(members, "ab")))
	require.Nil(t, rawjson.Find(members, "A"))
	empty, err := rawjson.Members([]byte(`{}`))
	require.NoError(t, err)
	require.Empty(t, empty)
	for _, text := range []string{`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`} {
		_, err := rawjson.Members([]byte(text))
		require.ErrorContains(t, err, `"a" is given twice`)
	}
	for _, text := range []string{``, `[]`, `null`, `"{}"`, `7`} {
		_, err := rawjson.Members([]byte(text))
		require.Error(t, err, text)
	}
}

func TestManyMembersAreComparedToo(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(`{"first":0`)
	for i := range 100_000 {
		fmt.Fprintf(&text, `,"m%d":0`, i)
	}
	members, err := rawjson.Members([]byte(text.String() + `}`))
	require.NoError(t, err)
	require.Len(t, members, 100_001)
	_, err = rawjson.Members([]byte(text.String() + `,"first":1}`))
	require.ErrorContains(t, err, `"first"`)
}

func TestMemberCannotGrowIntoItsNeighbour(t *testing.T) {
	t.Parallel()
	object := []byte(`{"a":1,"b":2}`)
	members, err := rawjson.Members(object)
	require.NoError(t, err)
	_ = append(members[0].Value, "xxx"...)
	require.Equal(t, `{"a":1,"b":2}`, string(object))
}

func TestElementsOfAnArray(t *testing.T) {
	t.Parallel()
	elements, err := rawjson.Elements([]byte(`[1,"a,]",[2],{"x":[3]},null]`))
	require.NoError(t, err)
	require.Equal(t, `[1 "a,]" [2] {"x":[3]} null]`, fmt.Sprintf("%s", elements))
	elements, err = rawjson.Elements([]byte(`[]`))
	require.NoError(t, err)
	require.Empty(t, elements)
	_, err = rawjson.Elements([]byte(`{}`))
	require.Error(t, err)
}

func TestTextKeepsHalfOfAPairVisible(t *testing.T) {
	t.Parallel()
	for quoted, want := range map[string]string{
		`""`: ``, `"plain é🙂"`: `plain é🙂`, `"\"\\\/\b\f\n\r\t"`: "\"\\/\b\f\n\r\t", `"\u0000\u00e9\u65E5"`: "\x00é日",
		`"\ud83d\ude42\uD83D\uDE42"`: "🙂🙂", `"\ufffd"`: "\ufffd",
	} {
		require.Equal(t, want, rawjson.Text([]byte(quoted)))
		text, err := rawjson.String([]byte(quoted))
		require.NoError(t, err)
		require.Equal(t, want, text)
	}
	for quoted, want := range map[string]string{
		`"\ud83d"`: `\ud83d`, `"a\ude42b"`: `a\ude42b`, `"\ud83d\n"`: "\\ud83d\n", `"\ud83d\ud83d\ude42"`: `\ud83d🙂`, `"\ud83d\u0041"`: `\ud83dA`,
	} {
		require.Equal(t, want, rawjson.Text([]byte(quoted)))
		_, err := rawjson.String([]byte(quoted))
		require.ErrorIs(t, err, rawjson.ErrSurrogate)
	}
	for _, other := range []string{``, `null`, `7`, `{}`} {
		_, err := rawjson.String([]byte(other))
		require.Error(t, err)
	}
}

func TestObjectIsPutTogetherAgain(t *testing.T) {
	t.Parallel()
	const object = `{"a<":1,"b":{"c":[]},"\ud800":2}`
	members, err := rawjson.Members([]byte(object))
	require.NoError(t, err)
	require.Equal(t, object, string(rawjson.AppendObject(nil, members)))
	require.Equal(t, `{}`, string(rawjson.AppendObject(nil, nil)))
	require.Equal(t, `{"\\ud800":1}`, string(rawjson.AppendObject(nil, []rawjson.Member{{Name: `\ud800`, Value: []byte(`1`)}})))
}

func FuzzMembers(f *testing.F) {
	for _, text := range []string{`{"a":1}`, `{"a":{"b":["\\\"",{}]},"c":"\ud800"}`, `[[],{},"",0]`, `{"a":1,"a":2}`, "{\"\xff\":1}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		compact, err := rawjson.Compact(data)
		if err != nil {
			require.True(t, !json.Valid(data) || !utf8.Valid(data))
			return
		}
		walk(t, compact)
	})
}

// walk takes a value apart and compares every part with what encoding/json reads.
func walk(t *testing.T, value []byte) {
	switch rawjson.Kind(value) {
	case '{':
		members, err := rawjson.Members(value)
		var read map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(value, &read))
		if err != nil {
			return
		}
		require.GreaterOrEqual(t, len(members), len(read), "names that differ in halves of pairs are one to encoding/json")
		for _, m := range members {
			require.True(t, json.Valid(m.Value))
			walk(t, m.Value)
		}
	case '[':
		elements, err := rawjson.Elements(value)
		require.NoError(t, err)
		var read []json.RawMessage
		require.NoError(t, json.Unmarshal(value, &read))
		require.Len(t, elements, len(read))
		for i, e := range elements {
			require.JSONEq(t, string(read[i]), string(e))
			walk(t, e)
		}
	case '"':
		text, err := rawjson.String(value)
		require.True(t, utf8.ValidString(rawjson.Text(value)))
		if err == nil {
			var read string
			require.NoError(t, json.Unmarshal(value, &read))
			require.Equal(t, read, text)
		}
	}
}

func TestEqualIgnoresHowAValueWasWritten(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{`"a&b"`, `"a\u0026b"`},
		{`{"a":1,"b":["x"]}`, `{"b":["\u0078"],"a":1}`},
		{`{"a\u0062":null}`, `{"ab":null}`},
		{`[]`, `[]`}, {``, ``},
	} {
		require.True(t, rawjson.Equal([]byte(pair[0]), []byte(pair[1])), pair)
		require.True(t, rawjson.Equal([]byte(pair[1]), []byte(pair[0])), pair)
	}
	for _, pair := range [][2]string{
		{`1`, `"1"`}, {`1`, `2`}, {`1`, `1.0`}, {`10`, `1e1`}, {`null`, `false`}, {``, `null`}, {`[1]`, `[1,1]`}, {`[1,2]`, `[2,1]`}, {`{}`, `[]`}, {`{"a":1}`, `{"b":1}`},
		{`{"a":1}`, `{"a":1,"b":1}`}, {`{"a":1}`, `{"a":2}`}, {`{"a":1,"a":2}`, `{"a":2,"a":1}`}, {`[{"a":"b"}]`, `[{"a":"c"}]`},
	} {
		require.False(t, rawjson.Equal([]byte(pair[0]), []byte(pair[1])), pair)
		require.False(t, rawjson.Equal([]byte(pair[1]), []byte(pair[0])), pair)
	}
}
