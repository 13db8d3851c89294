package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARuleIsSkippedOnlyByItsNameAndForAReason(t *testing.T) {
	t.Parallel()
	rule := Rules()[0].Name
	require.NoError(t, new(Options).checkSkip())
	require.NoError(t, (&Options{Skip: map[string]string{rule: "the store is read-only"}}).checkSkip())

	err := (&Options{Skip: map[string]string{rule: " ", "no-such-rule": "because"}}).checkSkip()
	require.ErrorContains(t, err, `gives no reason for "`+rule+`"`)
	require.ErrorContains(t, err, `a rule that does not exist: "no-such-rule"`)
}
