package filememory_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/recollect-go/recollect/filememory"
)

// source is a store that is moved away from. Every engine is one.
type source interface {
	filememory.Backend
	filememory.Lister
}

// move copies the documents of one kind, whose keys begin with kind.
func move(ctx context.Context, from source, to filememory.Backend, kind string) error {
	for cursor := ""; ; {
		keys, next, err := from.List(ctx, cursor, 1000)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if !strings.HasPrefix(key, kind) {
				continue
			}
			if err := moveOne(ctx, from, to, key); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
}

func moveOne(ctx context.Context, from, to filememory.Backend, key string) error {
	content, _, err := from.Read(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // an empty folder, or erased since it was listed
	}
	if err != nil {
		return err
	}
	_, err = to.Write(ctx, key, content, "")
	if !errors.Is(err, filememory.ErrConflict) {
		return err
	}
	moved, _, err := to.Read(ctx, key)
	if err == nil && !bytes.Equal(moved, content) {
		err = errors.New("the new store holds something else")
	}
	return err
}

// An interrupted move is run again. What the new store has already must be the same, or the move stops.
func Example_move() {
	ctx := context.Background()
	root, err := os.MkdirTemp("", "memories")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	from, err := filememory.Dir(root)
	if err != nil {
		panic(err)
	}
	defer from.Close()
	key := keyOf("acme-support-v1", "acme", "u_42")
	version, err := from.Write(ctx, key, []byte("# Memories\n\n- Prefers Chinese.\n"), "")
	if err != nil {
		panic(err)
	}

	to := filememory.InMemory()
	fmt.Println(move(ctx, from, to, "memscope1_"))
	fmt.Println(move(ctx, from, to, "memscope1_"))
	content, _, err := to.Read(ctx, key)
	fmt.Printf("%q %v\n", content, err)

	if _, err := from.Write(ctx, key, []byte("changed since"), version); err != nil {
		panic(err)
	}
	err = move(ctx, from, to, "memscope1_")
	fmt.Println(strings.TrimPrefix(err.Error(), key))

	// Output:
	// <nil>
	// <nil>
	// "# Memories\n\n- Prefers Chinese.\n" <nil>
	// : the new store holds something else
}
