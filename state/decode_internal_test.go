package state

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzCheckpoint: whatever is stored, decoding it does not panic, and what decodes survives being written and read again.
func FuzzCheckpoint(f *testing.F) {
	samples, err := filepath.Glob("testdata/v1/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range samples {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Add([]byte(`{"format":"recollect-state","version":2}`))
	f.Add([]byte(`{"format":"recollect-state","version":1,"values":{"a":1,"a":2}}`))
	f.Add([]byte(`{"format":"recollect-state","version":1,"turn":{"children":[{"step":null}]}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		d, id, err := decodeCheckpoint(content)
		if err != nil {
			require.True(t, isFormatError(err), "%v", err)
			return
		}
		written := appendCheckpoint(nil, id, d)
		again, idAgain, err := decodeCheckpoint(written)
		require.NoError(t, err, "%s", written)
		require.Equal(t, id, idAgain)
		require.Equal(t, string(written), string(appendCheckpoint(nil, idAgain, again)))
		require.Len(t, again.values, len(d.values))
		require.Len(t, again.turn.steps, len(d.turn.steps))
		require.Len(t, again.extra, len(d.extra))
		_ = d.tooLarge(len(written), 1)
	})
}

func isFormatError(err error) bool {
	return errors.Is(err, ErrMalformed) || errors.Is(err, ErrNewerFormat)
}

// TestTheFormatDoesNotDrift: what this build writes is, byte by byte, what the build that wrote the sample wrote.
func TestTheFormatDoesNotDrift(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"full.json", "child.json", "seeded.json"} {
		content, err := os.ReadFile(filepath.Join("testdata/v1", name))
		require.NoError(t, err)
		d, id, err := decodeCheckpoint(content)
		require.NoError(t, err)
		require.Equal(t, strings.TrimSpace(string(content)), string(appendCheckpoint(nil, id, d)))
	}
}
