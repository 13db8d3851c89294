package docstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// testKey and otherKey are valid keys.
var (
	testKey  = "memscope1_" + strings.Repeat("A", digestLength)
	otherKey = "memscope1_" + strings.Repeat("B", digestLength)
)

const testFile = "DOC.md"

func openDir(t testing.TB, root string, opts *DirOptions) *Dir {
	t.Helper()
	d, err := OpenDir(root, testFile, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func writeFile(t *testing.T, content string, elements ...string) string {
	t.Helper()
	name := filepath.Join(elements...)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

func requireFile(t *testing.T, content, name string) {
	t.Helper()
	stored, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, content, string(stored))
}

// requireFiles fails unless the folder has exactly the given files.
func requireFiles(t *testing.T, folder string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	names := []string{}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	require.ElementsMatch(t, want, names)
}

func TestDirWritesAFileThatNobodyElseCanRead(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "new", "root")
	d := openDir(t, root, nil)

	version, err := d.Write(t.Context(), testKey, []byte("one"), "")
	require.NoError(t, err)

	requireFile(t, "one", filepath.Join(root, testKey, testFile))
	for name, mode := range map[string]fs.FileMode{
		root:                                   0o700 | fs.ModeDir,
		filepath.Join(root, testKey):           0o700 | fs.ModeDir,
		filepath.Join(root, testKey, testFile): 0o600,
	} {
		info, err := os.Lstat(name)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode(), name)
	}

	require.NoError(t, d.Delete(t.Context(), testKey, version))
	requireFiles(t, root)
}

func TestOpenDirReportsEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	_, err := OpenDir("", "../DOC.md", &DirOptions{MaxBytes: -1})
	require.ErrorContains(t, err, "root is empty")
	require.ErrorContains(t, err, `"../DOC.md" is not a file name`)
	require.ErrorContains(t, err, "MaxBytes is negative")

	for _, name := range []string{"", ".", "..", "a/b", `a\b`, "/DOC.md"} {
		_, err := OpenDir(t.TempDir(), name, nil)
		require.ErrorContains(t, err, "not a file name", name)
	}
}

func TestOpenDirRefusesAFileAsRoot(t *testing.T) {
	t.Parallel()
	name := writeFile(t, "precious", t.TempDir(), "file")
	_, err := OpenDir(name, testFile, nil)
	require.Error(t, err)
	requireFile(t, "precious", name)
}

func TestDirPicksUpAnEditByHand(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := openDir(t, root, nil)
	before, err := d.Write(t.Context(), testKey, []byte("one"), "")
	require.NoError(t, err)

	writeFile(t, "by hand", root, testKey, testFile)
	content, after, err := d.Read(t.Context(), testKey)
	require.NoError(t, err)
	require.Equal(t, "by hand", string(content))
	require.NotEqual(t, before, after)

	_, err = d.Write(t.Context(), testKey, []byte("two"), before)
	require.ErrorIs(t, err, ErrConflict)
	requireFile(t, "by hand", filepath.Join(root, testKey, testFile))
	_, err = d.Write(t.Context(), testKey, []byte("two"), after)
	require.NoError(t, err)
}

func TestDirTakesTheFolderOfAWriterThatDiedForAbsent(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := openDir(t, root, nil)
	require.NoError(t, os.Mkdir(filepath.Join(root, testKey), 0o700))
	writeFile(t, "half a docu", root, testKey, d.temp)

	_, _, err := d.Read(t.Context(), testKey)
	require.ErrorIs(t, err, fs.ErrNotExist)
	keys, _, err := d.List(t.Context(), "", 10)
	require.NoError(t, err)
	require.Empty(t, keys)
	require.NoError(t, d.Delete(t.Context(), testKey, "any"))

	_, err = d.Write(t.Context(), testKey, []byte("whole document"), "")
	require.NoError(t, err)
	requireFile(t, "whole document", filepath.Join(root, testKey, testFile))
	requireFiles(t, filepath.Join(root, testKey), testFile)
}

func TestDirCleansUpAfterAWriterThatDied(t *testing.T) {
	t.Parallel()
	root, outside := t.TempDir(), t.TempDir()
	victim := writeFile(t, "precious", outside, "victim")
	d := openDir(t, root, nil)
	for name, leave := range map[string]func(temp string) error{
		"a temporary file":               func(temp string) error { return os.WriteFile(temp, []byte("half"), 0o400) },
		"a link in its place":            func(temp string) error { return os.Symlink(victim, temp) },
		"a link to nothing in its place": func(temp string) error { return os.Symlink("/nowhere", temp) },
		"an empty folder in its place":   func(temp string) error { return os.Mkdir(temp, 0o700) },
	} {
		_, version, err := d.Read(t.Context(), testKey)
		require.True(t, err == nil || errors.Is(err, fs.ErrNotExist))
		require.NoError(t, os.MkdirAll(filepath.Join(root, testKey), 0o700))
		require.NoError(t, leave(filepath.Join(root, testKey, d.temp)))
		_, err = d.Write(t.Context(), testKey, []byte(name), version)
		require.NoError(t, err, name)
		requireFile(t, name, filepath.Join(root, testKey, testFile))
		requireFiles(t, filepath.Join(root, testKey), testFile)
	}
	requireFile(t, "precious", victim)
}

func TestDirLeavesNoTextOfAWriterThatDiedBehindWhenTheDocumentIsErasedOrDeleted(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := openDir(t, root, nil)
	for name, drop := range map[string]func() error{
		"erase":                         func() error { return NewUpdater(d).Erase(t.Context(), testKey) },
		"delete":                        func() error { return d.Delete(t.Context(), testKey, "") },
		"delete of a version not there": func() error { return d.Delete(t.Context(), testKey, "v") },
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, testKey), 0o700))
		writeFile(t, "first words of somebody who wants to be forgotten", root, testKey, d.temp)
		require.NoError(t, drop(), name)
		requireFiles(t, root)
	}
}

func TestDirLeavesFilesOfOthersAlone(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := openDir(t, root, nil)
	version, err := d.Write(t.Context(), testKey, []byte("one"), "")
	require.NoError(t, err)
	notes := writeFile(t, "mine", root, testKey, "notes.txt")
	writeFile(t, "mine too", root, "README")
	require.NoError(t, os.Mkdir(filepath.Join(root, "not-a-key"), 0o700))

	keys, next, err := d.List(t.Context(), "", 10)
	require.NoError(t, err)
	require.Equal(t, []string{testKey}, keys)
	require.Empty(t, next)
	require.NoError(t, d.Delete(t.Context(), testKey, version))
	requireFile(t, "mine", notes)
	keys, _, err = d.List(t.Context(), "", 10)
	require.NoError(t, err)
	require.Empty(t, keys)
}

// hostile is something in the place of a document or of its folder that no writer of ours put there.
type hostile struct {
	place func(t *testing.T, root, outside string)
	// check fails unless what was placed is still there.
	check func(t *testing.T, root, outside string)
}

var hostiles = map[string]hostile{
	"a folder in the place of the document": {
		func(t *testing.T, root, _ string) { writeFile(t, "precious", root, testKey, testFile, "inside") },
		func(t *testing.T, root, _ string) {
			requireFile(t, "precious", filepath.Join(root, testKey, testFile, "inside"))
		},
	},
	"an empty folder in the place of the document": {
		func(t *testing.T, root, _ string) {
			require.NoError(t, os.MkdirAll(filepath.Join(root, testKey, testFile), 0o700))
		},
		func(t *testing.T, root, _ string) { require.DirExists(t, filepath.Join(root, testKey, testFile)) },
	},
	"a file in the place of the folder": {
		func(t *testing.T, root, _ string) { writeFile(t, "precious", root, testKey) },
		func(t *testing.T, root, _ string) { requireFile(t, "precious", filepath.Join(root, testKey)) },
	},
	"a link to a folder outside in the place of the folder": {
		func(t *testing.T, root, outside string) {
			writeFile(t, "precious", outside, testFile)
			require.NoError(t, os.Symlink(outside, filepath.Join(root, testKey)))
		},
		func(t *testing.T, _, outside string) {
			requireFile(t, "precious", filepath.Join(outside, testFile))
			requireFiles(t, outside, testFile)
		},
	},
	"a link to another key's folder in the place of the folder": {
		func(t *testing.T, root, _ string) {
			writeFile(t, "precious", root, otherKey, testFile)
			require.NoError(t, os.Symlink(otherKey, filepath.Join(root, testKey)))
		},
		func(t *testing.T, root, _ string) {
			requireFile(t, "precious", filepath.Join(root, otherKey, testFile))
			requireFiles(t, filepath.Join(root, otherKey), testFile)
		},
	},
	"a link to nothing in the place of the folder": {
		func(t *testing.T, root, _ string) {
			require.NoError(t, os.Symlink("nowhere", filepath.Join(root, testKey)))
		},
		func(t *testing.T, root, _ string) {
			target, err := os.Readlink(filepath.Join(root, testKey))
			require.NoError(t, err)
			require.Equal(t, "nowhere", target)
		},
	},
	"a link to a file outside in the place of the document": {
		func(t *testing.T, root, outside string) {
			require.NoError(t, os.Mkdir(filepath.Join(root, testKey), 0o700))
			require.NoError(t, os.Symlink(writeFile(t, "precious", outside, "victim"), filepath.Join(root, testKey, testFile)))
		},
		func(t *testing.T, root, outside string) {
			requireFile(t, "precious", filepath.Join(outside, "victim"))
			requireFile(t, "precious", filepath.Join(root, testKey, testFile))
		},
	},
	"a relative link to another key's document in the place of the document": {
		func(t *testing.T, root, _ string) {
			writeFile(t, "precious", root, otherKey, testFile)
			require.NoError(t, os.Mkdir(filepath.Join(root, testKey), 0o700))
			require.NoError(t, os.Symlink(filepath.Join("..", otherKey, testFile), filepath.Join(root, testKey, testFile)))
		},
		func(t *testing.T, root, _ string) {
			requireFile(t, "precious", filepath.Join(root, otherKey, testFile))
		},
	},
	"a link to nothing in the place of the document": {
		func(t *testing.T, root, _ string) {
			require.NoError(t, os.Mkdir(filepath.Join(root, testKey), 0o700))
			require.NoError(t, os.Symlink("nowhere", filepath.Join(root, testKey, testFile)))
		},
		func(t *testing.T, root, _ string) {
			target, err := os.Readlink(filepath.Join(root, testKey, testFile))
			require.NoError(t, err)
			require.Equal(t, "nowhere", target)
		},
	},
	"a link to a file beside it in the place of the document": {
		func(t *testing.T, root, _ string) {
			writeFile(t, "precious", root, testKey, "beside")
			require.NoError(t, os.Symlink("beside", filepath.Join(root, testKey, testFile)))
		},
		func(t *testing.T, root, _ string) {
			requireFile(t, "precious", filepath.Join(root, testKey, "beside"))
			target, err := os.Readlink(filepath.Join(root, testKey, testFile))
			require.NoError(t, err)
			require.Equal(t, "beside", target)
		},
	},
	"a document of 100 megabytes": {
		func(t *testing.T, root, _ string) {
			require.NoError(t, os.Truncate(writeFile(t, "precious", root, testKey, testFile), 100<<20))
		},
		func(t *testing.T, root, _ string) {
			info, err := os.Stat(filepath.Join(root, testKey, testFile))
			require.NoError(t, err)
			require.EqualValues(t, 100<<20, info.Size())
		},
	},
}

func TestDirRefusesWhatItDidNotPutThereAndDestroysNothing(t *testing.T) {
	t.Parallel()
	for name, h := range hostiles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, outside := t.TempDir(), t.TempDir()
			d := openDir(t, root, nil)
			h.place(t, root, outside)
			requireRefused(t, d)
			h.check(t, root, outside)
			requireListed(t, d, root)
		})
	}
}

// requireListed fails unless a listing goes past what is in the place of testKey's document, and shows its key, so that whoever
// asks for every document is told.
func requireListed(t *testing.T, d *Dir, root string) {
	t.Helper()
	third := "memscope1_" + strings.Repeat("C", digestLength)
	writeFile(t, "one", root, third, testFile)
	for _, limit := range []int{1, 10} {
		var listed []string
		for cursor, more := "", true; more; more = cursor != "" {
			keys, next, err := d.List(t.Context(), cursor, limit)
			require.NoError(t, err)
			listed, cursor = append(listed, keys...), next
		}
		require.Contains(t, listed, testKey)
		require.Contains(t, listed, third)
	}
}

// requireRefused fails unless every operation on testKey is an error that is neither a conflict nor unknown nor about
// absence.
func requireRefused(t *testing.T, d *Dir) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, _, readErr := d.Read(ctx, testKey)
	_, createErr := d.Write(ctx, testKey, []byte("mine"), "")
	_, writeErr := d.Write(ctx, testKey, []byte("mine"), versionOf([]byte("precious")))
	deleteErr := d.Delete(ctx, testKey, versionOf([]byte("precious")))
	updateErr := NewUpdater(d).Update(ctx, testKey, func([]byte) ([]byte, error) { return []byte("mine"), nil })
	for op, err := range map[string]error{
		"read": readErr, "create": createErr, "write": writeErr, "delete": deleteErr, "update": updateErr,
	} {
		require.Error(t, err, op)
		require.ErrorContains(t, err, testKey, op)
		require.True(t, errors.Is(err, ErrShape) || errors.Is(err, ErrTooLarge), "%s: %v", op, err)
		for _, other := range []error{ErrConflict, ErrUnknownOutcome, fs.ErrNotExist, context.DeadlineExceeded} {
			require.NotErrorIs(t, err, other, op)
		}
	}
}

func TestDirDoesNotReadADocumentOverTheLimitIntoMemory(t *testing.T) {
	root := t.TempDir()
	d := openDir(t, root, &DirOptions{MaxBytes: 1000})
	require.NoError(t, os.Truncate(writeFile(t, "", root, testKey, testFile), 100<<20))

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := d.Read(t.Context(), testKey)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))

	var large *TooLargeError
	require.ErrorAs(t, err, &large)
	require.Equal(t, TooLargeError{Key: testKey, Size: 100 << 20, Limit: 1000}, *large)
	require.ErrorIs(t, err, ErrTooLarge)
}

func TestDirRefusesAnUpdateOverTheLimitAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := openDir(t, root, &DirOptions{MaxBytes: 10})
	updater := NewUpdater(d)
	sized := func(n int) Decision { return func([]byte) ([]byte, error) { return make([]byte, n), nil } }
	var large *TooLargeError
	require.ErrorAs(t, updater.Update(t.Context(), testKey, sized(11)), &large)
	require.Equal(t, TooLargeError{Key: testKey, Size: 11, Limit: 10}, *large)
	requireFiles(t, root)

	require.NoError(t, updater.Update(t.Context(), testKey, sized(10)))
	require.ErrorIs(t, updater.Update(t.Context(), testKey, sized(11)), ErrTooLarge)
	requireFile(t, string(make([]byte, 10)), filepath.Join(root, testKey, testFile))
}

func TestDirErasesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	root, outside := t.TempDir(), t.TempDir()
	d := openDir(t, root, nil)
	updater := NewUpdater(d)
	require.NoError(t, updater.Erase(t.Context(), testKey), "nothing there")

	hostiles["a document of 100 megabytes"].place(t, root, outside)
	require.NoError(t, updater.Erase(t.Context(), testKey))
	requireFiles(t, root)

	link := hostiles["a link to a file outside in the place of the document"]
	link.place(t, root, outside)
	require.NoError(t, updater.Erase(t.Context(), testKey), "the link goes")
	requireFiles(t, root)
	requireFile(t, "precious", filepath.Join(outside, "victim"))

	folder := hostiles["a folder in the place of the document"]
	folder.place(t, root, outside)
	require.ErrorIs(t, updater.Erase(t.Context(), testKey), ErrShape)
	folder.check(t, root, outside)
}

func TestDirKeepsKeysApartWhereTheFileSystemFoldsCase(t *testing.T) {
	t.Parallel()
	d := openDir(t, t.TempDir(), nil)
	require.False(t, d.folding, "on the file systems that these tests run on")
	d.folding = true
	mixed := "memscope1_" + strings.Repeat("aB-_0", 8) + "Zzz"
	names := map[string]string{}
	for _, key := range []string{mixed, strings.ToLower(mixed), "memscope1_" + strings.ToUpper(mixed[10:])} {
		name := d.folderName(key)
		require.NotContains(t, names, strings.ToLower(name), "folders of %q and %q", key, names[strings.ToLower(name)])
		names[strings.ToLower(name)] = key
		back, ok := d.keyOf(name)
		require.True(t, ok, name)
		require.Equal(t, key, back)
		_, ok = d.keyOf(strings.ToUpper(name))
		require.False(t, ok, "a name that is not exactly a key's")
	}
}

func TestDirWaitsForTheLockOnlyAsLongAsTheContextLasts(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d, other := openDir(t, root, nil), openDir(t, root, nil)
	version, err := d.Write(t.Context(), testKey, []byte("one"), "")
	require.NoError(t, err)
	held, err := other.lock(t.Context(), testKey, false)
	require.NoError(t, err)

	calls := map[string]func(ctx context.Context) error{
		"write":  func(ctx context.Context) error { _, err := d.Write(ctx, testKey, []byte("two"), version); return err },
		"delete": func(ctx context.Context) error { return d.Delete(ctx, testKey, version) },
		"update": func(ctx context.Context) error {
			return d.update(ctx, testKey, func([]byte) ([]byte, error) { return []byte("two"), nil })
		},
		"erase": func(ctx context.Context) error { return d.erase(ctx, testKey) },
	}
	// All at once, so that they wait in both places: one for the lock, the others in the queue for it.
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	errs := make(chan error, len(calls))
	for name, call := range calls {
		go func() { errs <- fmt.Errorf("%s: %w", name, call(ctx)) }()
	}
	for range calls {
		require.ErrorIs(t, <-errs, context.DeadlineExceeded)
	}
	content, _, err := d.Read(t.Context(), testKey)
	require.NoError(t, err, "readers do not wait")
	require.Equal(t, "one", string(content))

	other.release(held)
	_, err = d.Write(t.Context(), testKey, []byte("two"), version)
	require.NoError(t, err)
}

func TestDirNoticesThatItLockedAFolderThatWasRemoved(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d, other := openDir(t, root, nil), openDir(t, root, nil)
	version, err := d.Write(t.Context(), testKey, []byte("one"), "")
	require.NoError(t, err)
	held, err := other.lock(t.Context(), testKey, false)
	require.NoError(t, err)

	written := make(chan error, 1)
	go func() {
		_, err := d.Write(t.Context(), testKey, []byte("two"), version)
		written <- err
	}()
	time.Sleep(5 * time.Millisecond) // most likely it waits for the lock now; if not, the outcome is the same
	require.NoError(t, other.remove(t.Context(), held))
	other.release(held)
	require.ErrorIs(t, <-written, ErrConflict)
	requireFiles(t, root)
}

func TestDirUsesTheRootThatItOpenedWhereverItIsMoved(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	root, moved, outside := filepath.Join(base, "root"), filepath.Join(base, "moved"), filepath.Join(base, "outside")
	d := openDir(t, root, nil)
	version, err := d.Write(t.Context(), testKey, []byte("one"), "")
	require.NoError(t, err)
	require.NoError(t, os.Rename(root, moved))
	require.NoError(t, os.Mkdir(outside, 0o700))
	require.NoError(t, os.Symlink(outside, root))

	version, err = d.Write(t.Context(), testKey, []byte("two"), version)
	require.NoError(t, err)
	_, err = d.Write(t.Context(), otherKey, []byte("new"), "")
	require.NoError(t, err)
	requireFile(t, "two", filepath.Join(moved, testKey, testFile))
	requireFile(t, "new", filepath.Join(moved, otherKey, testFile))
	require.NoError(t, d.Delete(t.Context(), testKey, version))
	requireFiles(t, moved, otherKey)
	requireFiles(t, outside)
}

// everyDirCall makes every call on a key, and a listing, and returns their errors.
func everyDirCall(ctx context.Context, d *Dir) map[string]error {
	errs := map[string]error{}
	_, _, errs["read"] = d.Read(ctx, testKey)
	_, errs["create"] = d.Write(ctx, testKey, []byte("mine"), "")
	_, errs["write"] = d.Write(ctx, testKey, []byte("mine"), versionOf([]byte("precious")))
	errs["delete"] = d.Delete(ctx, testKey, versionOf([]byte("precious")))
	errs["update"] = NewUpdater(d).Update(ctx, testKey, func([]byte) ([]byte, error) { return []byte("mine"), nil })
	errs["erase"] = NewUpdater(d).Erase(ctx, testKey)
	_, _, errs["list"] = d.List(ctx, "", 10)
	return errs
}

func TestDirReportsARootThatWasRemovedAndNoAbsentDocument(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	root := filepath.Join(parent, "root")
	d := openDir(t, root, nil)
	_, err := d.Write(t.Context(), testKey, []byte("precious"), "")
	require.NoError(t, err)
	check := func(t *testing.T) {
		for op, err := range everyDirCall(t.Context(), d) {
			require.ErrorContains(t, err, root, op)
			require.ErrorContains(t, err, "removed", op)
			for _, other := range []error{fs.ErrNotExist, ErrConflict, ErrUnknownOutcome, ErrShape} {
				require.NotErrorIs(t, err, other, op)
			}
		}
	}
	require.NoError(t, os.RemoveAll(root))
	check(t)
	requireFiles(t, parent)

	require.NoError(t, os.Mkdir(root, 0o700))
	check(t)
	requireFiles(t, root)
}

func TestDirDeletesADocumentThatSomebodyRemovedByHandMeanwhile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := openDir(t, root, nil)
	_, err := d.Write(t.Context(), testKey, []byte("one"), "")
	require.NoError(t, err)
	f, err := d.lock(t.Context(), testKey, false)
	require.NoError(t, err)
	defer d.release(f)
	require.NoError(t, os.Remove(filepath.Join(root, testKey, testFile)))
	require.NoError(t, d.remove(t.Context(), f))
	requireFiles(t, root)
}

func TestDirSurvivesFoldersThatComeAndGo(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	rounds := 200
	if testing.Short() {
		rounds = 50
	}
	errs := make(chan error)
	const workers = 4
	for i := range workers {
		d := openDir(t, root, nil)
		go func() { errs <- createAndDelete(t.Context(), d, fmt.Sprintf("worker %d", i), rounds) }()
	}
	for range workers {
		require.NoError(t, <-errs)
	}
	requireFiles(t, root)
}

// createAndDelete makes the document of testKey and removes it again, so that its folder comes and goes under the others'
// feet.
func createAndDelete(ctx context.Context, d *Dir, content string, rounds int) error {
	for range rounds {
		version, err := d.Write(ctx, testKey, []byte(content), "")
		if errors.Is(err, ErrConflict) {
			continue
		}
		if err != nil {
			return err
		}
		stored, _, err := d.Read(ctx, testKey)
		if err != nil {
			return err
		}
		if string(stored) != content {
			return fmt.Errorf("%s reads %q", content, stored)
		}
		if err := d.Delete(ctx, testKey, version); err != nil {
			return err
		}
	}
	return nil
}

func TestDirDoesNotKnowTheOutcomeWhenTheFolderCannotBeSynced(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := openDir(t, root, nil)
	version, err := d.Write(t.Context(), testKey, []byte("one"), "")
	require.NoError(t, err)

	f, err := d.lock(t.Context(), testKey, false)
	require.NoError(t, err)
	defer d.release(f)
	require.NoError(t, f.self.Close())
	err = d.replace(t.Context(), f, []byte("two"), false)
	require.ErrorIs(t, err, ErrUnknownOutcome)
	require.NotErrorIs(t, err, ErrConflict)
	require.ErrorIs(t, d.remove(t.Context(), f), ErrUnknownOutcome)
	require.NotEmpty(t, version)
}

func TestDirGivesUpBeforeTheRenameWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := openDir(t, root, nil)
	ctx, cancel := context.WithCancel(t.Context())
	err := d.update(ctx, testKey, func([]byte) ([]byte, error) {
		cancel()
		return []byte("one"), nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, ErrUnknownOutcome)
	requireFiles(t, root)
}
