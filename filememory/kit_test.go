package filememory_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/memory/memorytest"
)

func TestFileMemoryObeysTheRulesOfProviders(t *testing.T) {
	t.Parallel()
	opts := &memorytest.Options{
		SaveTool: "save_memory", SaveArgument: "text",
		Text: func(text string) string { return strings.Join(strings.FieldsFunc(text, ecma.IsSpace), " ") },
	}
	for name, open := range map[string]func(t *testing.T) filememory.Backend{
		"in memory": func(*testing.T) filememory.Backend { return filememory.InMemory() },
		"dir": func(t *testing.T) filememory.Backend {
			dir, err := filememory.Dir(t.TempDir())
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, dir.Close()) })
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memorytest.Run(t, func(t *testing.T) memory.Provider { return newProvider(t, open(t), nil) }, opts)
		})
	}
}
