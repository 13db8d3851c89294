package s3store

import (
	"context"
	"errors"

	"github.com/recollect-go/recollect/filememory"
)

// Write replaces the document of key if its ETag is expected, or creates it if expected is "". The package comment says
// what becomes of a write whose answer is lost.
func (s *Store) Write(ctx context.Context, key string, content []byte, expected string) (version string, err error) {
	if err := accept(ctx, key); err != nil {
		return "", err
	}
	if int64(len(content)) > s.maxBytes {
		return "", failed("write", &filememory.TooLargeError{Key: key, Size: int64(len(content)), Limit: s.maxBytes})
	}
	if isTombstone(content) {
		return "", failed("write", ErrReserved)
	}
	if expected != "" && !isStrong(expected) {
		return "", conflict("write", key, expected, "") // no object ever had it, and in a header it might match any
	}
	version, err = s.put(ctx, s.prefix+key, content, expected)
	if errors.Is(err, errCondition) && expected == "" {
		return s.create(ctx, key, content)
	}
	return version, s.concluded("write", key, expected, err)
}

// create writes a document where an object is: a conflict, unless the object is a tombstone.
func (s *Store) create(ctx context.Context, key string, content []byte) (version string, err error) {
	found, err := s.look(ctx, s.prefix+key)
	if err != nil {
		return "", failed("write", err)
	}
	if !found.tombstone {
		return "", conflict("write", key, "", found.etag)
	}
	version, err = s.put(ctx, s.prefix+key, content, found.etag)
	return version, s.concluded("write", key, "", err)
}

// concluded returns the caller's error for one of put.
func (s *Store) concluded(operation, key, expected string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errCondition):
		return conflict(operation, key, expected, "")
	case errors.Is(err, errDoubt):
		return unknown(operation, err)
	default:
		return failed(operation, err)
	}
}
