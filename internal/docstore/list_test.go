package docstore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFirstNamesKeepsTheFirstAndNoMoreThanAFewPages(t *testing.T) {
	t.Parallel()
	const total = 20_000
	for _, limit := range []int{1, 10, chunk, chunk + 1, 5000, total, math.MaxInt} {
		first := firstNames{limit: limit}
		most := 0
		for _, n := range rand.Perm(total) {
			first.add(fmt.Sprintf("%05d", n))
			most = max(most, len(first.names))
		}
		require.LessOrEqual(t, most/2, max(min(limit, total), chunk)+1, "limit %d", limit)
		slices.Sort(first.names)
		want := min(limit, total-1) + 1
		require.GreaterOrEqual(t, len(first.names), want, "limit %d", limit)
		for i := range want {
			require.Equal(t, fmt.Sprintf("%05d", i), first.names[i], "limit %d", limit)
		}
	}
}

func TestDirListsEveryKeyOnceHoweverSmallThePages(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := openDir(t, root, nil)
	var want []string
	for i := range 3 * chunk {
		key := fmt.Sprintf("k_%043d", i)
		require.NoError(t, os.Mkdir(filepath.Join(root, key), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, key, testFile), nil, 0o600))
		want = append(want, key)
	}
	for _, limit := range []int{100, chunk, 3*chunk - 1, 3 * chunk, math.MaxInt} {
		var listed []string
		for cursor, more := "", true; more; more = cursor != "" {
			keys, next, err := d.List(t.Context(), cursor, limit)
			require.NoError(t, err)
			require.LessOrEqual(t, len(keys), limit)
			listed, cursor = append(listed, keys...), next
		}
		require.Equal(t, want, listed, "limit %d", limit)
	}
}
