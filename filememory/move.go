package filememory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// Copy writes the document of one key under another key, byte for byte, for people who changed a namespace or a scope and
// miss their memories. An absent document is an error matching fs.ErrNotExist. A document under the other key is never
// overwritten: it is an error matching ErrDocumentExists, unless it has the same content, so that Copy can be repeated.
func Copy(ctx context.Context, backend Backend, from, to string) error {
	content, _, err := backend.Read(ctx, from)
	if err == nil {
		_, err = create(ctx, backend, to, content)
	}
	if err != nil {
		return fmt.Errorf("filememory: copy document %q to %q: %w", from, to, err)
	}
	return nil
}

// Move is Copy, and then the removal of the document under the first key. When that was changed in between, the copy is
// taken back and the error matches ErrConflict; so it does, and the copy stays, when what is there now is no continuation of
// what was copied, because another Move has finished. After an interruption both documents may be there; repeat the Move.
func Move(ctx context.Context, backend Backend, from, to string) error {
	if from == to {
		return fmt.Errorf("filememory: move document %q to itself: %w", from, ErrDocumentExists)
	}
	content, version, err := backend.Read(ctx, from)
	if err != nil {
		return fmt.Errorf("filememory: move document %q: %w", from, err)
	}
	copied, err := create(ctx, backend, to, content)
	if err != nil {
		return fmt.Errorf("filememory: move document %q to %q: %w", from, to, err)
	}
	err = backend.Delete(ctx, from, version)
	if errors.Is(err, ErrConflict) && copied != "" {
		err = errors.Join(err, takeBack(ctx, backend, from, content, to, copied))
	}
	if err != nil {
		return fmt.Errorf("filememory: move document %q to %q: remove the old one: %w", from, to, err)
	}
	return nil
}

// takeBack removes a copy whose original has changed, unless the copy may be all that is left of what was copied.
func takeBack(ctx context.Context, backend Backend, from string, content []byte, to, copied string) error {
	current, _, err := backend.Read(ctx, from)
	if err != nil {
		return err
	}
	if !continues(content, current) {
		return nil
	}
	return backend.Delete(ctx, to, copied)
}

// continues reports whether a document can have become the other one without ever being removed. One that was begun anew
// uses indexes again for other texts. What is malformed was edited by hand, and nobody but this library begins a document.
func continues(content, current []byte) bool {
	after, err := decode("", current)
	if err != nil {
		return true
	}
	before, err := decode("", content)
	if err != nil || after.last < before.last {
		return false
	}
	for _, entry := range after.entries {
		if entry.Index <= before.last && !slices.Contains(before.entries, entry) {
			return false
		}
	}
	return true
}

// create writes a document that must not exist, and returns its version. One that is there with the same content is as
// good, and has no version to return: it may be somebody else's.
func create(ctx context.Context, backend Backend, key string, content []byte) (string, error) {
	version, err := backend.Write(ctx, key, content, "")
	if !errors.Is(err, ErrConflict) && !errors.Is(err, ErrUnknownOutcome) {
		return version, err
	}
	stored, _, readErr := backend.Read(ctx, key)
	switch {
	case errors.Is(readErr, fs.ErrNotExist):
		return "", err
	case readErr != nil:
		return "", errors.Join(err, readErr)
	case !bytes.Equal(stored, content):
		return "", ErrDocumentExists
	}
	return "", nil
}
