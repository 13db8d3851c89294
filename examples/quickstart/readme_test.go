package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheREADMEShowsThisProgram(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("main.go")
	require.NoError(t, err)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, program, found := strings.Cut(string(source), "\npackage main\n")
	require.True(t, found)
	require.Contains(t, string(readme), "```go\npackage main\n"+program+"```\n")
}
