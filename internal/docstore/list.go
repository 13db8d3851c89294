package docstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
)

// chunk is how many names are read from the root at once.
const chunk = 1024

// List returns keys in ascending order of their folders' names; the cursor is the last name of the page before. A page
// costs a look at every name in root, so ask for large ones.
func (d *Dir) List(ctx context.Context, cursor string, limit int) ([]string, string, error) {
	if limit < 1 {
		return nil, "", errLimit
	}
	names, err := d.names(ctx, cursor)
	if err != nil {
		return nil, "", fmt.Errorf("list documents: %w", err)
	}
	page, next := cut(names, limit)
	keys := make([]string, 0, len(page))
	for _, name := range page {
		found, err := d.hasDocument(name)
		if err != nil {
			return nil, "", fmt.Errorf("list documents: %w", err)
		}
		if found {
			key, _ := d.keyOf(name)
			keys = append(keys, key)
		}
	}
	return keys, next, nil
}

// names returns the names behind cursor that are folders of keys.
func (d *Dir) names(ctx context.Context, cursor string) ([]string, error) {
	root, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var names []string
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some, err := root.Readdirnames(chunk)
		for _, name := range some {
			if _, ok := d.keyOf(name); ok && name > cursor {
				names = append(names, name)
			}
		}
		if err == io.EOF {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// hasDocument reports whether the folder has a document. A writer makes the folder first and may die before the document
// is there.
func (d *Dir) hasDocument(folder string) (bool, error) {
	_, err := d.root.Lstat(path.Join(folder, d.file))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
