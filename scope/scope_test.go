package scope

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestScopeIsImmutable(t *testing.T) {
	t.Parallel()
	given := []string{"a", "b"}
	s := Tuple(given...)
	given[0] = "changed"
	s.Parts()[1] = "changed"
	assert.Equal(t, []string{"a", "b"}, s.Parts())
}

func TestScopeEquality(t *testing.T) {
	t.Parallel()
	distinct := []Scope{{}, String(""), String("a"), Tuple(), Tuple("a"), Tuple("a", ""), Tuple("", "a")}
	for i, s := range distinct {
		for j, u := range distinct {
			assert.Equal(t, i == j, s.Equal(u), "%d and %d", i, j)
		}
		assert.Equal(t, i == 0, s.IsZero())
	}
}

func TestScopeJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scope Scope
		text  string
	}{
		{Scope{}, `null`},
		{String("u_42"), `"u_42"`},
		{String(""), `""`},
		{Tuple("acme", "u_42"), `["acme","u_42"]`},
		{Tuple(), `[]`},
		{String("\u2028<&>\x01\"\\\n租🙂"), "\"\u2028<&>\\u0001\\\"\\\\\\n租🙂\""},
	} {
		text, err := c.scope.MarshalJSON()
		require.NoError(t, err)
		assert.Equal(t, c.text, string(text))
		var back Scope
		require.NoError(t, json.Unmarshal(text, &back))
		assert.True(t, c.scope.Equal(back), c.text)
	}
}

func TestScopeJSONRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`1`, `true`, `{}`, `[1]`, `["a",null]`, `[null]`, `[["a"]]`, `["a",1]`, `[{}]`} {
		s := String("kept")
		require.Error(t, json.Unmarshal([]byte(text), &s), text)
		assert.True(t, s.Equal(String("kept")))
	}
}

func TestScopeJSONNeverReplacesText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"\"a\xff\"", `"\ud800"`, `"\udc00"`, `["a","\ud83d"]`, `"\ud83d\ud83d"`, `"\ud83dx"`, `"\udd00\ud83d"`} {
		s := String("kept")
		require.ErrorIs(t, json.Unmarshal([]byte(text), &s), ErrInvalidUTF8, text)
		assert.True(t, s.Equal(String("kept")))
	}
	for _, s := range []Scope{String("\xff"), Tuple("a", "\xed\xa0\x80")} {
		_, err := s.MarshalJSON()
		require.ErrorIs(t, err, ErrInvalidUTF8)
	}
	var s Scope
	require.NoError(t, json.Unmarshal([]byte(`"\ud83d\ude42\\ud800"`), &s))
	assert.Equal(t, []string{`🙂\ud800`}, s.Parts())
}

func TestScopeValuesStayOutOfLogs(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	for _, s := range []Scope{String("s3cr3t"), Tuple("s3cr3t", "x")} {
		logger.Info("scope", "scope", s)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			log.WriteString(fmt.Sprintf(verb, s))
		}
	}
	assert.NotContains(t, log.String(), "s3cr3t")
	assert.Equal(t, "zero scope, scope of a string, scope of 2 components", fmt.Sprintf("%v, %s, %d", Scope{}, String("a"), Tuple("a", "b")))
}

func FuzzScopeJSON(f *testing.F) {
	for _, text := range []string{`null`, `"u_42"`, `["acme","u_42"]`, `[]`, `"\ud83d\ude42"`, `"\ud800"`, "\"\xff\"", `["a",null]`, ` "a" `, `"\\ud800"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Scope
		if json.Unmarshal(data, &s) != nil {
			return
		}
		text, err := json.Marshal(s)
		require.NoError(t, err)
		var back Scope
		require.NoError(t, json.Unmarshal(text, &back))
		require.True(t, s.Equal(back))
	})
}
