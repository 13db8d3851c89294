package s3store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Read returns the document of key with one GetObject.
func (s *Store) Read(ctx context.Context, key string) (content []byte, version string, err error) {
	if err := accept(ctx, key); err != nil {
		return nil, "", err
	}
	found, err := s.get(ctx, s.prefix+key)
	if errors.Is(err, errAbsent) || err == nil && isTombstone(found.content) {
		return nil, "", failed("read", fmt.Errorf("document %q: %w", key, fs.ErrNotExist))
	}
	if err != nil {
		return nil, "", failed("read", err)
	}
	return found.content, found.etag, nil
}
