package docstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
)

// chunk is how many names are read from the root at once.
const chunk = 1024

// List returns keys in ascending order of their folders' names; the cursor is the last name of the page before. A page
// costs a look at every name in root, but memory only for the page, so ask for large ones.
//
// A key is also listed when what is in the place of its document is none, or cannot be looked at: whoever asks for it is
// told, and the other keys are listed all the same.
func (d *Dir) List(ctx context.Context, cursor string, limit int) ([]string, string, error) {
	if limit < 1 {
		return nil, "", errLimit
	}
	names, err := d.names(ctx, cursor, limit)
	if err == nil && len(names) == 0 {
		err = d.checkRoot()
	}
	if err != nil {
		return nil, "", fmt.Errorf("list documents: %w", d.explain(err))
	}
	page, next := cut(names, limit)
	keys := make([]string, 0, len(page))
	for _, name := range page {
		if err := ctx.Err(); err != nil {
			return nil, "", fmt.Errorf("list documents: %w", err)
		}
		if d.isTaken(name) {
			key, _ := d.keyOf(name)
			keys = append(keys, key)
		}
	}
	return keys, next, nil
}

// names returns the names behind cursor that are folders of keys: in any order, the first limit of them and at least one
// more if there is one.
func (d *Dir) names(ctx context.Context, cursor string, limit int) ([]string, error) {
	root, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer root.Close()
	first := firstNames{limit: limit}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some, err := root.Readdirnames(chunk)
		for _, name := range some {
			if _, ok := d.keyOf(name); ok && name > cursor {
				first.add(name)
			}
		}
		if err == io.EOF {
			return first.names, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// firstNames keeps, of the names that are added, the first limit in order and one more, and some that came since it last
// sorted them.
type firstNames struct {
	limit int
	names []string
	last  string // no name behind it is wanted; "" while all are
}

func (f *firstNames) add(name string) {
	if f.last != "" && name > f.last {
		return
	}
	f.names = append(f.names, name)
	if len(f.names)/2 > max(f.limit, chunk) {
		slices.Sort(f.names)
		f.names = slices.Delete(f.names, f.limit+1, len(f.names))
		f.last = f.names[f.limit]
	}
}

// isTaken reports whether something is in the place of the document in the folder with the given name. A writer makes the
// folder first and may die before the document is there.
func (d *Dir) isTaken(folder string) bool {
	_, err := d.root.Lstat(path.Join(folder, d.file))
	if !errors.Is(err, fs.ErrNotExist) {
		return true
	}
	_, err = d.lstatFolder(folder)
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}
