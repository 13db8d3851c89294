package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARuleIsSkippedOnlyByItsNameAndForAReason(t *testing.T) {
	t.Parallel()
	rule := Rules()[0].Name
	require.NoError(t, CheckSkip(nil, IsRule))
	require.NoError(t, CheckSkip(map[string]string{rule: "the store is read-only"}, IsRule))

	err := CheckSkip(map[string]string{rule: " ", "no-such-rule": "because"}, IsRule)
	require.ErrorContains(t, err, `gives no reason for "`+rule+`"`)
	require.ErrorContains(t, err, `a rule that does not exist: "no-such-rule"`)
}
