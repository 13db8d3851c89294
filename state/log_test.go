package state_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/state"
)

func TestTheLogTellsWhatHappenedAndNoValue(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	store := state.InMemory()
	open := func() *state.Session {
		s, err := state.Open(t.Context(), store, state.ID{Session: "s"}, &state.Options{Logger: logger})
		require.NoError(t, err)
		require.NoError(t, s.BeginTurn(t.Context(), "t1"))
		return s
	}
	h := define(t, "test.text", zero[string])
	keep := func(s *state.Session) error {
		return step(s.Context(t.Context()), "keep", func(ctx context.Context) error {
			update(t, ctx, h, func(string) (string, error) { return "hunter2", nil })
			return s.Attach(ctx, "memory", json.RawMessage(`"hunter2"`))
		})
	}
	first, second := open(), open()
	require.NoError(t, keep(first))
	require.ErrorIs(t, keep(second), state.ErrConflict)
	require.NoError(t, first.Reset(t.Context()))

	log := out.String()
	for _, message := range []string{"turn begun", "step committed", "session lost to another runner", "session reset"} {
		require.Contains(t, log, `"msg":"`+message+`"`)
	}
	require.Contains(t, log, `"key":"`+key(t, first.ID())+`"`)
	require.NotContains(t, log, "hunter2")
}
