package filememory_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
)

// key is a valid key, of nobody.
var key = "memscope1_" + strings.Repeat("k", 43)

func newProvider(tb testing.TB, backend filememory.Backend, opts *filememory.Options) *filememory.Provider {
	tb.Helper()
	provider, err := filememory.New(backend, opts)
	require.NoError(tb, err)
	return provider
}

// attached returns the handlers of the slot profile.
func attached(tb testing.TB, provider *filememory.Provider) memory.Handlers {
	tb.Helper()
	handlers, err := provider.Attach(memory.SlotInfo{Name: "profile"})
	require.NoError(tb, err)
	return handlers
}

// tools returns the tools of the slot profile for key.
func tools(tb testing.TB, provider *filememory.Provider) (save, remove memory.Tool) {
	tb.Helper()
	all, err := attached(tb, provider).Tools(tb.Context(), &memory.ToolsRequest{Operation: memory.Operation{Key: key, Slot: "profile"}})
	require.NoError(tb, err)
	require.Len(tb, all, 2)
	require.Equal(tb, "save_memory", all[0].Name)
	require.Equal(tb, "remove_memory", all[1].Name)
	return all[0], all[1]
}
