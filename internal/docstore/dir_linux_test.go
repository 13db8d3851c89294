package docstore

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// asNobody calls f with the file permissions of an ordinary user. The superuser may do anything, so for it f runs in a
// thread that takes another identity towards the file system, and that thread ends with f.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	const nobody = 65534
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlock: the thread must not be used again
		_, _, errno := syscall.RawSyscall(syscall.SYS_SETFSUID, nobody, 0, 0)
		if errno != 0 {
			t.Errorf("setfsuid: %v", errno)
			return
		}
		f()
	}()
	<-done
}

func TestDirReportsADocumentThatItMayNotRead(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := openDir(t, root, nil)
	version, err := d.Write(t.Context(), testKey, []byte("precious"), "")
	require.NoError(t, err)
	document := filepath.Join(root, testKey, testFile)
	require.NoError(t, os.Chmod(document, 0))
	require.NoError(t, os.Chmod(filepath.Dir(document), 0o777))
	require.NoError(t, os.Chmod(root, 0o755))

	var readErr, writeErr, deleteErr error
	asNobody(t, func() {
		_, _, readErr = d.Read(t.Context(), testKey)
		_, writeErr = d.Write(t.Context(), testKey, []byte("mine"), version)
		deleteErr = d.Delete(t.Context(), testKey, version)
	})
	for op, err := range map[string]error{"read": readErr, "write": writeErr, "delete": deleteErr} {
		require.ErrorIs(t, err, fs.ErrPermission, op)
		require.NotErrorIs(t, err, fs.ErrNotExist, op)
		require.NotErrorIs(t, err, ErrConflict, op)
		require.NotErrorIs(t, err, ErrUnknownOutcome, op)
	}
	require.NoError(t, os.Chmod(document, 0o600))
	requireFile(t, "precious", document)
}

func TestDirReportsAFolderThatItMayNotWrite(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := openDir(t, root, nil)
	version, err := d.Write(t.Context(), testKey, []byte("precious"), "")
	require.NoError(t, err)
	folder := filepath.Join(root, testKey)
	require.NoError(t, os.Chmod(filepath.Join(folder, testFile), 0o644))
	require.NoError(t, os.Chmod(folder, 0o555))
	require.NoError(t, os.Chmod(root, 0o555))
	require.NoError(t, os.Chmod(filepath.Dir(root), 0o755))
	t.Cleanup(func() { _ = os.Chmod(root, 0o700); _ = os.Chmod(folder, 0o700) }) // so that they can be removed

	var readErr, writeErr, createErr, deleteErr, openErr error
	asNobody(t, func() {
		_, _, readErr = d.Read(t.Context(), testKey)
		_, writeErr = d.Write(t.Context(), testKey, []byte("mine"), version)
		_, createErr = d.Write(t.Context(), otherKey, []byte("mine"), "")
		deleteErr = d.Delete(t.Context(), testKey, version)
		var again *Dir
		if again, openErr = OpenDir(root, testFile, nil); openErr == nil {
			openErr = again.Close()
		}
	})
	require.NoError(t, readErr, "reading needs no permission to write")
	require.NoError(t, openErr, "neither does opening")
	for op, err := range map[string]error{"write": writeErr, "create": createErr, "delete": deleteErr} {
		require.ErrorIs(t, err, fs.ErrPermission, op)
		require.NotErrorIs(t, err, ErrUnknownOutcome, op)
	}
	requireFile(t, "precious", filepath.Join(folder, testFile))
	requireFiles(t, folder, testFile)
	requireFiles(t, root, testKey)
}

func TestDirListsAKeyWhoseFolderItMayNotLookInto(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := openDir(t, root, nil)
	_, err := d.Write(t.Context(), testKey, []byte("precious"), "")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(filepath.Join(root, testKey), 0))
	require.NoError(t, os.Chmod(root, 0o755))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(root, testKey), 0o700) })

	var keys []string
	var listErr, readErr error
	asNobody(t, func() {
		keys, _, listErr = d.List(t.Context(), "", 10)
		_, _, readErr = d.Read(t.Context(), testKey)
	})
	require.NoError(t, listErr)
	require.Equal(t, []string{testKey}, keys)
	require.ErrorIs(t, readErr, fs.ErrPermission)
}

// mount mounts a small file system in memory, or skips the test where that is not allowed.
func mount(t *testing.T, options string) string {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, options); err != nil {
		t.Skipf("needs the right to mount a file system: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(folder, 0)) })
	return folder
}

func TestDirReportsAFullDiskAndDestroysNothing(t *testing.T) {
	t.Parallel()
	root := mount(t, "size=256k")
	d, err := OpenDir(root, testFile, nil)
	require.NoError(t, err)
	defer d.Close()
	before := strings.Repeat("before", 10_000)
	version, err := d.Write(t.Context(), testKey, []byte(before), "")
	require.NoError(t, err)
	filler := filepath.Join(root, "filler")
	err = os.WriteFile(filler, make([]byte, 256<<10), 0o600)
	require.ErrorIs(t, err, syscall.ENOSPC)

	after := strings.Repeat("after", 12_000)
	_, err = d.Write(t.Context(), testKey, []byte(after), version)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NotErrorIs(t, err, ErrUnknownOutcome)
	_, err = d.Write(t.Context(), otherKey, []byte(after), "")
	require.ErrorIs(t, err, syscall.ENOSPC)
	content, same, err := d.Read(t.Context(), testKey)
	require.NoError(t, err)
	require.Equal(t, version, same)
	require.Equal(t, before, string(content))
	requireFiles(t, filepath.Join(root, testKey), testFile)
	requireFiles(t, root, "filler", testKey)

	require.NoError(t, os.Remove(filler))
	_, err = d.Write(t.Context(), testKey, []byte(after), version)
	require.NoError(t, err)
}

func TestDirReadsFromAReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	root := mount(t, "size=256k")
	d, err := OpenDir(root, testFile, nil)
	require.NoError(t, err)
	version, err := d.Write(t.Context(), testKey, []byte("precious"), "")
	require.NoError(t, err)
	require.NoError(t, d.Close())
	require.NoError(t, syscall.Mount("", root, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))

	d, err = OpenDir(root, testFile, nil)
	require.NoError(t, err)
	defer d.Close()
	content, _, err := d.Read(t.Context(), testKey)
	require.NoError(t, err)
	require.Equal(t, "precious", string(content))
	_, err = d.Write(t.Context(), testKey, []byte("mine"), version)
	require.ErrorIs(t, err, syscall.EROFS)
	_, err = d.Write(t.Context(), otherKey, []byte("mine"), "")
	require.ErrorIs(t, err, syscall.EROFS)
	require.ErrorIs(t, d.Delete(t.Context(), testKey, version), syscall.EROFS)
}

func TestDirKeepsTheDocumentsOfAFileSystemThatIsUnmountedUnderIt(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := syscall.Mount("tmpfs", root, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("needs the right to mount a file system: %v", err)
	}
	d, err := OpenDir(root, testFile, nil)
	require.NoError(t, err)
	defer d.Close()
	version, err := d.Write(t.Context(), testKey, []byte("precious"), "")
	require.NoError(t, err)
	require.ErrorIs(t, syscall.Unmount(root, 0), syscall.EBUSY)
	require.NoError(t, syscall.Unmount(root, syscall.MNT_DETACH))
	requireFiles(t, root)

	content, same, err := d.Read(t.Context(), testKey)
	require.NoError(t, err)
	require.Equal(t, version, same)
	require.Equal(t, "precious", string(content))
	_, _, err = d.Read(t.Context(), otherKey)
	require.ErrorIs(t, err, fs.ErrNotExist)
	requireFiles(t, root)
}
