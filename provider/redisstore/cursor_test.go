package redisstore

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

const sampleKey = "memscope1_0123456789012345678901234567890123456789012"

var sampleCursors = []cursor{
	{Format: 1},
	{Format: 1, Run: "b1946ac92492d2347c6235b4d2611184", Scan: math.MaxUint64},
	{Format: 1, Layout: "q83vASNFZ4mrze8B", Node: 2, Left: []string{sampleKey, sampleKey}},
}

func TestCursorsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, c := range sampleCursors {
		parsed, err := parseCursor(c.String())
		require.NoError(t, err)
		require.Equal(t, &c, parsed)
	}
	parsed, err := parseCursor("")
	require.NoError(t, err)
	require.Equal(t, &cursor{Format: 1}, parsed)
}

// FuzzParseCursor guards that no text is a cursor but those that were handed out or mean the same.
func FuzzParseCursor(f *testing.F) {
	for _, c := range sampleCursors {
		f.Add(c.String())
	}
	for _, text := range []string{"", "0", "e30", "bnVsbA", "eyJ2IjoyfQ", "eyJ2IjoxLCJub2RlIjotMX0", "eyJ2IjoxLCJsZWZ0IjpbIngiXX0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCursor(text)
		if err != nil {
			require.ErrorIs(t, err, ErrCursor)
			return
		}
		again, err := parseCursor(c.String())
		require.NoError(t, err)
		require.Equal(t, c.String(), again.String())
	})
}
