package docstore

import (
	"errors"
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
