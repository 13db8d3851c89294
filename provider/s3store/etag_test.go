package s3store

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStrongETags(t *testing.T) {
	t.Parallel()
	for _, etag := range []string{`"a"`, `"d41d8cd98f00b204e9800998ecf8427e"`, `"d41d-2"`, "d41d8cd9", `"CRC64NVME-AAAAAAAAAAA="`} {
		require.True(t, isStrong(etag), etag)
	}
	for _, etag := range []string{"", `""`, `"`, "*", `"*"`, `W/"a"`, "W/a", `"a"b"`, `"a","b"`, "a,b", `"a b"`, "\"a\n\"", `"é"`, `a"`} {
		require.False(t, isStrong(etag), etag)
	}
}

// FuzzStrongETag guards that no text that a server could take for several versions, or for more than a header, is a version.
func FuzzStrongETag(f *testing.F) {
	for _, etag := range []string{`"a"`, "a", "*", `W/"a"`, `"a", "b"`, "a\r\nb"} {
		f.Add(etag)
	}
	f.Fuzz(func(t *testing.T, etag string) {
		if isStrong(etag) {
			require.False(t, strings.ContainsAny(etag, " ,\r\n\t\x00"), etag)
			require.NotEqual(t, "*", strings.Trim(etag, `"`))
			require.False(t, strings.HasPrefix(etag, "W/"))
		}
	})
}

// FuzzTombstone guards that only what newTombstone makes is a tombstone.
func FuzzTombstone(f *testing.F) {
	f.Add(newTombstone())
	f.Add([]byte(tombstonePrefix))
	f.Add([]byte(tombstonePrefix + strings.Repeat("a", 26)))
	f.Fuzz(func(t *testing.T, content []byte) {
		if isTombstone(content) {
			require.Len(t, content, tombstoneSize)
			require.True(t, strings.HasPrefix(string(content), tombstonePrefix))
		}
	})
}

func TestTombstonesAreUnique(t *testing.T) {
	t.Parallel()
	one, other := newTombstone(), newTombstone()
	require.True(t, isTombstone(one))
	require.NotEqual(t, string(one), string(other))
}
