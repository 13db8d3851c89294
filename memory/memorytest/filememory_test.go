package memorytest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/memory/memorytest"
)

func TestFileMemoryIsAProvider(t *testing.T) {
	t.Parallel()
	memorytest.Run(t, func(t *testing.T) memory.Provider {
		provider, err := filememory.New(filememory.InMemory(), nil)
		require.NoError(t, err)
		return provider
	}, &memorytest.Options{
		SaveTool:     "save_memory",
		SaveArgument: "text",
		// The normal form of an entry: spaces at the ends go, and a run of them is one.
		Text: func(s string) string { return strings.Join(strings.Fields(s), " ") },
	})
}
