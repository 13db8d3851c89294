package docstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// makeRoot creates root and what is missing above it, and makes the names of what it created durable.
func makeRoot(root string) error {
	abs, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	existing := abs
	for !exists(existing) && existing != filepath.Dir(existing) {
		existing = filepath.Dir(existing)
	}
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return err
	}
	for created := abs; created != existing; created = filepath.Dir(created) {
		if err := syncFolder(filepath.Dir(created)); err != nil {
			return err
		}
	}
	return nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func syncFolder(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// checkRoot returns an error if root was removed, or can no longer be asked. A document that is not there says nothing then. The
// error does not match fs.ErrNotExist.
func (d *Dir) checkRoot() error {
	info, err := d.self.Stat()
	if err != nil {
		return fmt.Errorf("root folder %q cannot be looked at: %v", d.path, err)
	}
	if d.wasRemoved(info) {
		return fmt.Errorf("root folder %q was removed after it was opened", d.path)
	}
	return nil
}

// wasRemoved reports whether info, that of the opened root, is of a folder that no path leads to. Some file systems count no
// names; there only the path it was opened by can tell.
func (d *Dir) wasRemoved(info fs.FileInfo) bool {
	if !hasNoName(info) {
		return false
	}
	named, err := os.Stat(d.path)
	return err != nil || !os.SameFile(named, info)
}

// explain returns err, or what is wrong with root if err is that something does not exist.
func (d *Dir) explain(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if gone := d.checkRoot(); gone != nil {
		return gone
	}
	return err
}
