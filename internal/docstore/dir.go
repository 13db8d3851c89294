package docstore

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// DefaultMaxBytes is the limit of a folder store whose options name none.
const DefaultMaxBytes = 8 << 20

// DirOptions configures OpenDir. nil means all defaults.
type DirOptions struct {
	// MaxBytes is the largest document, in bytes, that is written or read. 0 means DefaultMaxBytes.
	MaxBytes int64
}

// Dir is a Store and Lister in a folder of the local file system. It may be used concurrently, and by several processes.
//
// The document of a key is the file <root>/<key>/<file>, mode 0600 in a folder of mode 0700. A write goes to a temporary
// file beside it that is synced and renamed over the document; then the folder is synced. So a document is always whole,
// and a nil error means that it is on the disk. Writers of one key are kept apart by a lock on the key's folder that dies
// with its process and leaves nothing behind; readers take none. What a killed writer leaves, a temporary file, is
// replaced by the next write.
//
// The version is a digest of the content, so a document that was edited by hand is a document that changed. An editor
// does not take the lock: what it saves in the instant between a writer's look and its rename is lost.
//
// Nothing outside root is reached: a symbolic link in the place of a key's folder is refused, and so is one that leads
// out of it. Where the file system does not tell upper from lower case, the name of a key's folder also spells out the
// case of its letters.
type Dir struct {
	root    *os.Root
	self    *os.File // root, opened for syncing
	file    string
	temp    string
	max     int64
	folding bool // the file system does not tell upper from lower case
	queues  queues
}

// OpenDir opens the folder store in root, which is created if it does not exist. fileName is the name of every document.
// It fails where folders cannot be locked: on Windows, Plan 9, in a browser, and on network file systems without such
// locks.
func OpenDir(root, fileName string, opts *DirOptions) (*Dir, error) {
	var o DirOptions
	if opts != nil {
		o = *opts
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if err := errors.Join(checkRoot(root), checkFileName(fileName), checkMaxBytes(o.MaxBytes)); err != nil {
		return nil, err
	}
	if err := makeRoot(root); err != nil {
		return nil, fmt.Errorf("create root: %w", err)
	}
	d := &Dir{file: fileName, temp: "." + fileName + ".recollect", max: o.MaxBytes}
	if err := d.open(root); err != nil {
		return nil, errors.Join(fmt.Errorf("open root: %w", err), d.Close())
	}
	return d, nil
}

func checkRoot(root string) error {
	if root == "" {
		return errors.New("root is empty")
	}
	return nil
}

func checkFileName(name string) error {
	if !filepath.IsLocal(name) || name == "." || strings.ContainsAny(name, `/\`) {
		return fmt.Errorf("%q is not a file name", name)
	}
	return nil
}

func checkMaxBytes(limit int64) error {
	if limit < 0 {
		return fmt.Errorf("MaxBytes is negative: %d", limit)
	}
	return nil
}

func (d *Dir) open(root string) (err error) {
	if d.root, err = os.OpenRoot(root); err != nil {
		return err
	}
	if d.self, err = d.root.Open("."); err != nil {
		return err
	}
	if err := probeLock(d.self); err != nil {
		return err
	}
	if err := d.self.Sync(); err != nil {
		return err
	}
	d.folding, err = foldsCase(d.root)
	return err
}

// probeLock finds out whether folders can be locked here. That somebody else holds the lock is a yes.
func probeLock(f *os.File) error {
	locked, err := tryLock(f)
	if err != nil || !locked {
		return err
	}
	return unlock(f)
}

// Close releases the store's hold on its root. Calls that are under way may fail.
func (d *Dir) Close() error {
	var errs []error
	if d.self != nil {
		errs = append(errs, d.self.Close())
	}
	if d.root != nil {
		errs = append(errs, d.root.Close())
	}
	return errors.Join(errs...)
}

// Read returns the document and the digest of its content.
func (d *Dir) Read(ctx context.Context, key string) ([]byte, string, error) {
	if err := begin(ctx, key); err != nil {
		return nil, "", err
	}
	content, err := d.read(key)
	if err != nil {
		return nil, "", failed("read", key, err)
	}
	if content == nil {
		return nil, "", notExist(key)
	}
	return content, versionOf(content), nil
}

// Write replaces the document if its content still has the digest expected.
func (d *Dir) Write(ctx context.Context, key string, content []byte, expected string) (string, error) {
	if err := begin(ctx, key); err != nil {
		return "", err
	}
	if size := int64(len(content)); size > d.max {
		return "", &TooLargeError{Key: key, Size: size, Limit: d.max}
	}
	err := d.change(ctx, key, expected == "", func(f *folder, current []byte) error {
		if err := expect(key, current, expected); err != nil {
			return err
		}
		return d.replace(ctx, f, content, current == nil)
	})
	if err != nil {
		return "", failed("write", key, err)
	}
	return versionOf(content), nil
}

// Delete removes the document if its content still has the digest expected, and then the key's folder.
func (d *Dir) Delete(ctx context.Context, key, expected string) error {
	if err := begin(ctx, key); err != nil {
		return err
	}
	err := d.change(ctx, key, false, func(f *folder, current []byte) error {
		if current == nil {
			return d.clean(f)
		}
		if err := expect(key, current, expected); err != nil {
			return err
		}
		return d.remove(ctx, f)
	})
	return failed("delete", key, err)
}

// errDeclined ends a change in which nothing was to be written.
var errDeclined = errors.New("nothing to write")

// update implements Updater.Update: the document cannot change between the look and the write.
func (d *Dir) update(ctx context.Context, key string, decide Decision) error {
	if err := begin(ctx, key); err != nil {
		return err
	}
	var verdict error
	err := d.change(ctx, key, true, func(f *folder, current []byte) error {
		var next []byte
		if next, verdict = decide(current); verdict != nil || next == nil {
			return errDeclined
		}
		if size := int64(len(next)); size > d.max {
			return &TooLargeError{Key: key, Size: size, Limit: d.max}
		}
		return d.replace(ctx, f, next, current == nil)
	})
	if errors.Is(err, errDeclined) {
		return verdict
	}
	return failed("write", key, err)
}

// erase implements Updater.Erase. It looks at nothing, so it also removes a document that cannot be read.
func (d *Dir) erase(ctx context.Context, key string) error {
	if err := begin(ctx, key); err != nil {
		return err
	}
	f, err := d.lock(ctx, key, false)
	if err != nil || f == nil {
		return failed("erase", key, err)
	}
	defer d.release(f)
	info, err := f.root.Lstat(d.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = d.clean(f)
	case err == nil && info.IsDir():
		err = errNotFile
	case err == nil:
		err = d.remove(ctx, f)
	}
	return failed("erase", key, err)
}

// failed says which document an error is about. Errors of this package say so themselves.
func failed(op, key string, err error) error {
	if err == nil || errors.Is(err, ErrConflict) || errors.Is(err, ErrTooLarge) {
		return err
	}
	return fmt.Errorf("%s document %q: %w", op, key, err)
}

// expect returns a *ConflictError unless current, nil when there is no document, has the version expected.
func expect(key string, current []byte, expected string) error {
	actual := ""
	if current != nil {
		actual = versionOf(current)
	}
	if actual == expected {
		return nil
	}
	return &ConflictError{Key: key, Expected: expected, Actual: actual}
}

// versionOf returns the digest of content. Two contents never share it, and a content that comes back is the same
// document again.
func versionOf(content []byte) string {
	sum := sha256.Sum256(content)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// read returns the document as it is, or nil when there is none.
func (d *Dir) read(key string) ([]byte, error) {
	f, err := d.openFolder(key)
	if err != nil || f == nil {
		return nil, err
	}
	defer f.close()
	return d.readFile(f)
}

// readFile returns the document in f, never nil, or nil when there is none. It never reads more than the limit.
func (d *Dir) readFile(f *folder) ([]byte, error) {
	file, err := f.root.OpenFile(d.file, os.O_RDONLY|nonblock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: d.file, Err: errNotFile}
	}
	if info.Size() > d.max {
		return nil, &TooLargeError{Key: f.key, Size: info.Size(), Limit: d.max}
	}
	// One byte more than the size shows the end of the file in the same read, and a file that grows is refused.
	content := make([]byte, 0, info.Size()+1)
	for {
		n, err := file.Read(content[len(content):cap(content)])
		content = content[:len(content)+n]
		if err == io.EOF {
			return content, nil
		}
		if err != nil {
			return nil, err
		}
		if size := int64(len(content)); size > d.max {
			return nil, &TooLargeError{Key: f.key, Size: size, Limit: d.max}
		}
		if len(content) == cap(content) {
			content = append(content, 0)[:len(content)]
		}
	}
}

// change calls decide with the locked folder of key and its document, nil when there is none. Without create, an absent
// folder is not made, and decide is called with neither.
func (d *Dir) change(ctx context.Context, key string, create bool, decide func(*folder, []byte) error) error {
	f, err := d.lock(ctx, key, create)
	if err != nil {
		return err
	}
	if f == nil {
		return decide(nil, nil)
	}
	defer d.release(f)
	current, err := d.readFile(f)
	if err != nil {
		return err
	}
	err = decide(f, current)
	if err != nil && current == nil {
		d.removeFolder(key)
	}
	return err
}

// replace makes content the document in f: either it does, durably, or the error tells that it did not or that nobody knows.
func (d *Dir) replace(ctx context.Context, f *folder, content []byte, created bool) error {
	if created {
		// The folder's own name must be durable before a document can be seen in it: the process that made the folder may have died
		// before it got here, and those that replace the document later do not ask.
		if err := d.self.Sync(); err != nil {
			return err
		}
	}
	if err := d.writeTemp(f, content); err != nil {
		return errors.Join(err, f.removeIfExists(d.temp))
	}
	if err := ctx.Err(); err != nil {
		return errors.Join(err, f.removeIfExists(d.temp))
	}
	if err := f.root.Rename(d.temp, d.file); err != nil {
		if _, statErr := f.root.Lstat(d.temp); statErr != nil {
			return unknown(err)
		}
		return errors.Join(err, f.removeIfExists(d.temp))
	}
	if err := f.self.Sync(); err != nil {
		return unknown(err)
	}
	return nil
}

// writeTemp writes and syncs the temporary file. One that is there was left by a writer that died: the lock says so.
func (d *Dir) writeTemp(f *folder, content []byte) error {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	file, err := f.root.OpenFile(d.temp, flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if err := f.root.Remove(d.temp); err != nil {
			return err
		}
		file, err = f.root.OpenFile(d.temp, flags, 0o600)
	}
	if err != nil {
		return err
	}
	if _, err := file.Write(content); err != nil {
		return errors.Join(err, file.Close())
	}
	return errors.Join(file.Sync(), file.Close())
}

// remove deletes the document in f, durably, and the folder if nothing else is in it. That the folder goes need not be
// durable.
func (d *Dir) remove(ctx context.Context, f *folder) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := f.removeIfExists(d.temp); err != nil {
		return err
	}
	if err := f.root.Remove(d.file); err != nil {
		return err
	}
	if err := f.self.Sync(); err != nil {
		return unknown(err)
	}
	d.removeFolder(f.key)
	return nil
}

// clean removes what a writer that died has left in f, nil when there is none, a folder without a document: its temporary file holds text of the
// document that was to be.
func (d *Dir) clean(f *folder) error {
	if f == nil {
		return nil
	}
	if err := f.removeIfExists(d.temp); err != nil {
		return err
	}
	if err := f.self.Sync(); err != nil {
		return unknown(err)
	}
	d.removeFolder(f.key)
	return nil
}

// removeFolder removes the locked folder of key, if it is empty. Otherwise somebody put other files there, and they are
// not ours.
func (d *Dir) removeFolder(key string) {
	_ = d.root.Remove(d.folderName(key))
}
