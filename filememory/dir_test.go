package filememory_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
)

func TestADocumentInADirIsTheFileOfItsKey(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	slot := openProvider(t, root).Slot("profile")
	_, err := slot.Save(t.Context(), key, "I like tea")
	require.NoError(t, err)
	content, err := os.ReadFile(filepath.Join(root, key, "MEMORY.md"))
	require.NoError(t, err)
	require.Equal(t, "<!-- eve-memory-file-v1 lastAllocatedIndex=0 -->\n0: I like tea\n", string(content))
}

// What else can stand in the place of a document is tested with the folder store that Dir is.
func TestAFileThatIsNoFileMemoryIsAClearErrorAndStaysAsItIs(t *testing.T) {
	t.Parallel()
	const header = "<!-- eve-memory-file-v1 lastAllocatedIndex=0 -->\n"
	for name, c := range map[string]struct {
		content, says string
		is            error
	}{
		"invalid UTF-8":          {header + "0: caf\xe9\n", "line 2 is not valid UTF-8", filememory.ErrDocumentInvalid},
		"a byte order mark":      {"\ufeff" + header + "0: a\n", "line 1 begins with a byte order mark", filememory.ErrDocumentInvalid},
		"a newer format":         {"<!-- eve-memory-file-v2 lastAllocatedIndex=0 -->\n", "format version 2", filememory.ErrDocumentInvalid},
		"an empty file":          {"", "line 1", filememory.ErrDocumentInvalid},
		"Windows line ends":      {header + "0: a\r\n", "line 2", filememory.ErrDocumentInvalid},
		"a document over 64 KiB": {header + string(make([]byte, filememory.MaxDocumentBytes)), "over the limit of 65536", filememory.ErrDocumentOversized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			file := filepath.Join(root, key, filememory.FileName)
			require.NoError(t, os.Mkdir(filepath.Dir(file), 0o700))
			require.NoError(t, os.WriteFile(file, []byte(c.content), 0o600))
			slot := openProvider(t, root).Slot("profile")
			_, recallErr := slot.Recall(t.Context(), key)
			_, saveErr := slot.Save(t.Context(), key, "new")
			_, removeErr := slot.Remove(t.Context(), key, 0)
			for op, err := range map[string]error{"recall": recallErr, "save": saveErr, "remove": removeErr} {
				require.ErrorIs(t, err, c.is, op)
				require.ErrorContains(t, err, c.says, op)
				require.ErrorContains(t, err, key, op)
			}
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, c.content, string(content))
		})
	}
}

func TestDirRefusesARootThatItCannotUse(t *testing.T) {
	t.Parallel()
	_, err := filememory.Dir("")
	require.ErrorContains(t, err, "filememory: ")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = filememory.Dir(file)
	require.Error(t, err)
}
