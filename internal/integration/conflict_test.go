package integration_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
)

// requireConflictWith checks that err is a conflict that tells what was expected and what was found.
func requireConflictWith(t testing.TB, err error, expected, actual string) {
	t.Helper()
	var conflict *docstore.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.NotErrorIs(t, err, docstore.ErrUnknownOutcome)
	require.Equal(t, expected, conflict.Expected)
	require.Equal(t, actual, conflict.Actual)
}
