package scope

import (
	"encoding/json"
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
		`{"principalId":7}`, `{"principalId":null}`, `{"principalType":["user"]}`, `{"issuer":{}}`, `{"attributes":[]}`,
		`{"principalId":"u_1","principalId":"u_2"}`, `{"principalId":"u_1","principal\u0049d":"u_2"}`, `[]`, `"u_1"`, `null`,
	} {
		var p Principal
		require.Error(t, json.Unmarshal([]byte(text), &p), text)
		require.Zero(t, p)
	}
}

func TestPrincipalHasExactNames(t *testing.T) {
	t.Parallel()
	var p Principal
	require.NoError(t, json.Unmarshal([]byte(`{"principalType":"user","principalId":"u_1","PrincipalID":"u_2","issuer":null,"ISSUER":"x","attributes":null}`), &p))
	assert.Equal(t, Principal{Type: "user", ID: "u_1"}, p)
}

func FuzzPrincipalJSON(f *testing.F) {
	f.Add([]byte(`{"principalType":"user","authenticator":"app","issuer":"","principalId":"u_42","attributes":{"a":[1,"b",null,{"c":"d"}]}}`))
	f.Add([]byte(`{"principalId":"\ud83d"}`))
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
