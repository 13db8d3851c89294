package filememory_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheDocsMoveDocumentsAsTheExampleDoes(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("example_move_test.go")
	require.NoError(t, err)
	page, err := os.ReadFile("../docs/from-one-machine-to-many.md")
	require.NoError(t, err)
	_, code, begins := strings.Cut(string(source), "\n// source is")
	code, _, ends := strings.Cut(code, "\n// An interrupted move")
	require.True(t, begins && ends)
	require.Contains(t, string(page), "```go\n// source is"+code+"```\n")
}
