package integration_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/stretchr/testify/require"
)

// testKeysInSQL guards that keys are told apart by their bytes, also where the digests differ in case alone, and that
// listing finds each of them once.
func testKeysInSQL(t *testing.T, d database) {
	store, _ := d.store(t)
	keys := caseVariants()
	for i, key := range keys {
		create(t, store, key, fmt.Appendf(nil, "document %d", i))
	}
	for i, key := range keys {
		requireContent(t, store, key, fmt.Appendf(nil, "document %d", i))
	}
	for limit := 1; limit <= len(keys)+1; limit++ {
		require.ElementsMatch(t, keys, listAll(t, store, limit))
	}
}

// caseVariants returns keys that any comparison but that of bytes takes for one another.
func caseVariants() []string {
	var keys []string
	for _, digest := range []string{
		strings.Repeat("a", 43), strings.Repeat("A", 43), "A" + strings.Repeat("a", 42), strings.Repeat("a", 42) + "A",
		strings.Repeat("-", 43), strings.Repeat("_", 43), strings.Repeat("0", 43), strings.Repeat("z", 43), strings.Repeat("Z", 43),
	} {
		keys = append(keys, "memscope1_"+digest, "memstate1_"+digest)
	}
	return keys
}

func listAll(t testing.TB, store docstore.Lister, limit int) []string {
	t.Helper()
	var all []string
	cursor := ""
	for {
		keys, next, err := store.List(t.Context(), cursor, limit)
		require.NoError(t, err)
		require.LessOrEqual(t, len(keys), limit)
		all = append(all, keys...)
		if next == "" {
			return all
		}
		cursor = next
	}
}
