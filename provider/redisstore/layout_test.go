package redisstore

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVersionsAreUniqueAndNoJSON guards readers that parse replies as JSON and would take a version of digits for a number.
func TestVersionsAreUniqueAndNoJSON(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		version := newVersion()
		require.False(t, json.Valid([]byte(version)), version)
		require.False(t, seen[version])
		seen[version] = true
	}
}

func FuzzContentRoundTrip(f *testing.F) {
	for _, content := range []string{"", "a", marker, marker + marker, "eve-memory-document-v1", "\x00\xff"} {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		require.Equal(t, string(content), string(decode(string(encode(content)))))
	})
}

func TestDecodeAcceptsContentWithoutMarker(t *testing.T) {
	t.Parallel()
	require.Equal(t, "plain", string(decode("plain")))
	require.Equal(t, "x", string(decode(marker+"x")))
}

func TestEscapeGlob(t *testing.T) {
	t.Parallel()
	require.Equal(t, `a\*b\?c\[d\]e\\f:{g}`, escapeGlob(`a*b?c[d]e\f:{g}`))
}
