package docstore

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
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
// Nothing outside root is reached, and no symbolic link in it is followed. Whatever is in the place of a document or of its
// folder and is none is an error matching ErrShape, and stays; Updater.Erase alone removes a link or the like in the place
// of the document.
//
// The folder that was opened is used until Close, also when it was moved and its path leads to another. When it was
// removed, every call is an error that names it, never an absent document: memories that are gone must not look like
// memories that were never saved.
//
// Where the file system does not tell upper from lower case, the name of a key's folder also spells out the case of its
// letters.
type Dir struct {
	path    string // of root when it was opened, absolute
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
	path, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("find root: %w", err)
	}
	if err := makeRoot(path); err != nil {
		return nil, fmt.Errorf("create root: %w", err)
	}
	d := &Dir{path: path, file: fileName, temp: "." + fileName + ".recollect", max: o.MaxBytes}
	if err := d.open(); err != nil {
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

func (d *Dir) open() (err error) {
	if d.root, err = os.OpenRoot(d.path); err != nil {
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
		return nil, "", d.failed("read", key, err)
	}
	if content == nil {
		return nil, "", d.absent(key)
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
		return "", d.failed("write", key, err)
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
	return d.failed("delete", key, err)
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
	return d.failed("write", key, err)
}

// erase implements Updater.Erase. It looks at nothing, so it also removes a document that cannot be read.
func (d *Dir) erase(ctx context.Context, key string) error {
	if err := begin(ctx, key); err != nil {
		return err
	}
	f, err := d.lock(ctx, key, false)
	if err != nil || f == nil {
		return d.failed("erase", key, err)
	}
	defer d.release(f)
	info, err := f.root.Lstat(d.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = d.clean(f)
	case err == nil && info.IsDir():
		err = misshapen(d.file, info)
	case err == nil:
		err = d.remove(ctx, f)
	}
	return d.failed("erase", key, err)
}

// failed says which document an error is about. Errors of this package say so themselves.
func (d *Dir) failed(op, key string, err error) error {
	if err == nil || errors.Is(err, ErrConflict) || errors.Is(err, ErrTooLarge) {
		return err
	}
	return fmt.Errorf("%s document %q: %w", op, key, d.explain(err))
}

// absent is the error for a document that is not there.
func (d *Dir) absent(key string) error {
	if err := d.checkRoot(); err != nil {
		return d.failed("read", key, err)
	}
	return notExist(key)
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
