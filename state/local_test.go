package state_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/state"
)

func TestDirKeepsACheckpointInAFileOfItsKey(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "made")
	store, err := state.Dir(root, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	b := setUp(t, store)
	update(t, b.ctx, counter(t), increment)
	content, err := os.ReadFile(filepath.Join(root, key(t, b.session.ID()), "STATE.json"))
	require.NoError(t, err)
	require.Equal(t, b.stored(t), string(content))
}

func TestDirRefusesWhatIsNoFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, root := range []string{"", file} {
		_, err := state.Dir(root, nil)
		require.ErrorContains(t, err, "state: ", "%q", root)
	}
}

func TestATruncatedFileIsAnErrorAndNotOverwritten(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	store, err := state.Dir(root, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	b := setUp(t, store)
	update(t, b.ctx, counter(t), increment)
	file := filepath.Join(root, key(t, b.session.ID()), "STATE.json")
	whole := b.stored(t)
	for _, damaged := range []string{"", "\ufeff" + whole, whole[:len(whole)-1], strings.Repeat("x", 100)} {
		require.NoError(t, os.WriteFile(file, []byte(damaged), 0o600))
		_, err := state.Open(t.Context(), store, b.session.ID(), nil)
		require.ErrorIs(t, err, state.ErrMalformed)
		_, err = counter(t).Update(b.ctx, increment)
		require.Error(t, err, "an open session notices, too")
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, damaged, string(content))
	}
}
