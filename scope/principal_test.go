package scope

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func ptr[T any](v T) *T { return &v }

func TestPrincipalJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		principal Principal
		text      string
	}{
		{Principal{}, `{"principalType":"","authenticator":"","principalId":"","attributes":{}}`},
		{
			Principal{Type: "user", Authenticator: "app", Issuer: ptr(""), ID: "u_42", Attributes: map[string]any{"tenantId": "acme"}},
			`{"principalType":"user","authenticator":"app","issuer":"","principalId":"u_42","attributes":{"tenantId":"acme"}}`,
		},
	} {
		text, err := json.Marshal(c.principal)
		require.NoError(t, err)
		assert.JSONEq(t, c.text, string(text))
		var back Principal
		require.NoError(t, json.Unmarshal(text, &back))
		again, err := json.Marshal(back)
		require.NoError(t, err)
		assert.Equal(t, string(text), string(again))
		assert.Equal(t, c.principal.Issuer, back.Issuer)
	}
}

func TestPrincipalWithoutUTF8IsRefused(t *testing.T) {
	t.Parallel()
	const bad = "a\xff"
	for _, p := range []Principal{
		{Type: bad}, {Authenticator: bad}, {Issuer: ptr(bad)}, {ID: bad},
		{Attributes: map[string]any{bad: 1}},
		{Attributes: map[string]any{"a": []any{1, map[string]any{"b": bad}}}},
		{Attributes: map[string]any{"a": []string{bad}}},
		{Attributes: map[string]any{"a": map[string]string{"b": bad}}},
		{Attributes: map[string]any{"a": TypedText(bad)}},
		{Attributes: map[string]any{"a": json.RawMessage(`"` + bad + `"`)}},
	} {
		_, err := json.Marshal(p)
		require.ErrorIs(t, err, ErrInvalidUTF8)
		assert.NotContains(t, err.Error(), bad)
	}
	for _, text := range []string{`{"principalId":"\ud800"}`, "{\"attributes\":{\"a\":\"\xff\"}}"} {
		var p Principal
		require.ErrorIs(t, json.Unmarshal([]byte(text), &p), ErrInvalidUTF8)
	}
}

// TypedText is a host's own kind of text.
type TypedText string

func TestPrincipalThatCanBeReadInTwoWaysIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"principalId":7}`, `{"principalId":null}`, `{"principalType":["user"]}`, `{"issuer":{}}`, `{"attributes":[]}`, `{"attributes":7}`,
		`{"attributes":{"tenant":"acme","tenant":"globex"}}`, `{"attributes":{"a":[{"tenant":"acme","ten\u0061nt":"globex"}]}}`,
		`{"principalId":"u_1","principalId":"u_2"}`, `{"principalId":"u_1","principal\u0049d":"u_2"}`, `[]`, `"u_1"`, `null`,
	} {
		var p Principal
		require.Error(t, json.Unmarshal([]byte(text), &p), text)
		require.Zero(t, p)
	}
}

func TestPrincipalWritesNothingThatItWouldNotRead(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{"a":1,"a":2}`, `[{"a":1,"\u0061":2}]`, `"\ud83d"`, `{"\ud83d":1}`, strings.Repeat("[", 9999) + strings.Repeat("]", 9999),
	} {
		_, err := json.Marshal(Principal{Attributes: map[string]any{"raw": json.RawMessage(raw)}})
		require.Error(t, err, raw)
	}
}

func TestPrincipalReadsAttributesHoweverDeepTheyAre(t *testing.T) {
	t.Parallel()
	const deep = 9000
	text := strings.Repeat(`[{"a":`, deep/2) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat(`}]`, deep/2)
	var p Principal
	require.NoError(t, json.Unmarshal([]byte(`{"attributes":{"deep":`+text+`,"none":{},"empty":[],"null":null}}`), &p))
	again, err := json.Marshal(p.Attributes["deep"])
	require.NoError(t, err)
	require.Equal(t, text, string(again))
	delete(p.Attributes, "deep")
	require.Equal(t, map[string]any{"none": map[string]any{}, "empty": []any{}, "null": nil}, p.Attributes)
}

func TestPrincipalHasExactNames(t *testing.T) {
	t.Parallel()
	var p Principal
	require.NoError(t, json.Unmarshal([]byte(`{"principalType":"user","principalId":"u_1","PrincipalID":"u_2","issuer":null,"ISSUER":"x","attributes":null}`), &p))
	assert.Equal(t, Principal{Type: "user", ID: "u_1"}, p)
}

func TestPrincipalKeepsNumbersExactly(t *testing.T) {
	t.Parallel()
	tiny := "1" + strings.Repeat("0", 99_999) + "e-99999999999999999999" // ParseFloat takes it for 1
	for _, c := range []struct {
		number any
		text   string
		read   any
	}{
		{42, `42`, 42.0},
		{-1, `-1`, -1.0},
		{0.1, `0.1`, 0.1},
		{float32(0.1), `0.1`, 0.1},
		{1e21, `1e+21`, 1e21},
		{math.MaxFloat64, `1.7976931348623157e+308`, math.MaxFloat64},
		{int64(1) << 53, `9007199254740992`, float64(1 << 53)},
		{int64(1)<<53 + 1, `9007199254740993`, json.Number("9007199254740993")},
		{int64(1) << 60, `1152921504606846976`, json.Number("1152921504606846976")}, // a float64 is written as …847000
		{int64(math.MinInt64), `-9223372036854775808`, json.Number("-9223372036854775808")},
		{uint64(math.MaxUint64), `18446744073709551615`, json.Number("18446744073709551615")},
		{json.Number("1e999"), `1e999`, json.Number("1e999")},
		{json.Number("1e-999"), `1e-999`, json.Number("1e-999")},
		{json.Number("1e-99999999999999999999"), `1e-99999999999999999999`, json.Number("1e-99999999999999999999")},
		{json.Number(tiny), tiny, json.Number(tiny)},
		{json.Number("0.10000000000000000000001"), `0.10000000000000000000001`, json.Number("0.10000000000000000000001")},
	} {
		text, err := json.Marshal(Principal{Attributes: map[string]any{"a": c.number, "b": []any{map[string]any{"c": c.number}}}})
		require.NoError(t, err)
		assert.Contains(t, string(text), `"attributes":{"a":`+c.text+`,"b":[{"c":`+c.text+`}]}`)
		var back Principal
		require.NoError(t, json.Unmarshal(text, &back))
		assert.Equal(t, map[string]any{"a": c.read, "b": []any{map[string]any{"c": c.read}}}, back.Attributes)
		again, err := json.Marshal(back)
		require.NoError(t, err)
		assert.Equal(t, string(text), string(again))
	}
}

func TestPrincipalReadsANumberHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	for text, read := range map[string]any{
		"7.0": 7.0, "70e-1": 7.0, "0.7E1": 7.0, "1e2": 100.0, "0.0": 0.0, "0e9": 0.0, "-0.0": math.Copysign(0, -1),
		"1000000000000000000000": 1e21, "0.00000012": 1.2e-7,
	} {
		var p Principal
		require.NoError(t, json.Unmarshal([]byte(`{"attributes":{"a":`+text+`}}`), &p))
		assert.Equal(t, read, p.Attributes["a"], text)
	}
}

func FuzzPrincipalJSON(f *testing.F) {
	f.Add([]byte(`{"principalType":"user","authenticator":"app","issuer":"","principalId":"u_42","attributes":{"a":[1,"b",null,{"c":"d"}]}}`))
	f.Add([]byte(`{"principalId":"\ud83d"}`))
	f.Add([]byte(`{"attributes":{"a":9007199254740993,"b":[1e999,{"c":-0}]}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p Principal
		if json.Unmarshal(data, &p) != nil {
			return
		}
		text, err := json.Marshal(p)
		require.NoError(t, err)
		var back Principal
		require.NoError(t, json.Unmarshal(text, &back))
		again, err := json.Marshal(back)
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))
	})
}
