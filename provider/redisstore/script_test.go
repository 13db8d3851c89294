package redisstore

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseAnswer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reply any
		want  answer
	}{
		{[]any{"done"}, answer{word: "done"}},
		{[]any{"conflict", "v"}, answer{word: "conflict", detail: "v"}},
	} {
		got, err := parseAnswer(tc.reply)
		require.NoError(t, err)
		require.Equal(t, tc.want, got)
	}
	for _, reply := range []any{nil, "done", int64(1), []any{}, []any{int64(1)}, []any{"a", "b", "c"}, []any{"a", nil}} {
		_, err := parseAnswer(reply)
		require.ErrorIs(t, err, errAnswer, "%v", reply)
	}
}
