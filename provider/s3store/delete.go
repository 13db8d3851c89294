package s3store

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Delete removes the document of key if its ETag is expected; an absent document is success. The package comment says
// what is left.
func (s *Store) Delete(ctx context.Context, key, expected string) error {
	if err := accept(ctx, key); err != nil {
		return err
	}
	err := errCondition // of an expectation that no object meets
	if isStrong(expected) {
		err = s.remove(ctx, s.prefix+key, expected)
	}
	if errors.Is(err, errCondition) || errors.Is(err, errDoubt) {
		return s.settleDelete(ctx, key, expected, err)
	}
	return s.concluded("delete", key, expected, err)
}

// settleDelete looks what is there after a delete whose condition did not hold or whose answer was lost. Gone is success,
// whoever did it.
func (s *Store) settleDelete(ctx context.Context, key, expected string, cause error) error {
	found, err := s.look(ctx, s.prefix+key)
	switch {
	case err == nil && !found.document:
		return nil
	case errors.Is(cause, errDoubt):
		return unknown("delete", cause)
	case err != nil:
		return failed("delete", err)
	default:
		return conflict("delete", key, expected, found.etag)
	}
}

// remove makes the object go away, or a tombstone of it, if its ETag is expected. Its errors are those of put.
func (s *Store) remove(ctx context.Context, name, expected string) error {
	if !s.conditionalDelete {
		_, err := s.put(ctx, name, newTombstone(), expected)
		return err
	}
	var seen attempts
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: &name, IfMatch: &expected}, seen.watch)
	err = withContext(ctx, err)
	switch {
	case err == nil:
		return nil
	case seen.doubt:
		return fmt.Errorf("%w: %w", errDoubt, err)
	case isCondition(err):
		return errCondition
	}
	return err
}
