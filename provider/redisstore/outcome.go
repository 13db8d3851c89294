package redisstore

import (
	"context"
	"errors"
	"io/fs"

	"github.com/redis/go-redis/v9"

	"github.com/recollect-go/recollect/filememory"
)

// call is one conditional write or delete.
type call struct {
	operation string // "write" or "delete"
	key       string
	expected  string
	sent      *sending
	// carriedOut reports whether a stored version, "" when there is no document, proves that the call was carried out.
	carriedOut func(stored string) bool
}

// outcome returns what became of the call, given the answer of the server or the error in its place.
func (s *Store) outcome(ctx context.Context, c *call, reply answer, err error) error {
	if err != nil {
		return s.settle(ctx, c, err)
	}
	switch reply.word {
	case wordDone:
		return nil
	case wordConflict:
		return c.conflict(reply.detail)
	case wordShape:
		return failed(c.operation, &ShapeError{Key: c.key, Found: found(reply.detail)})
	default:
		return unknown(c.operation, errAnswer)
	}
}

// conflict returns the error for another version than expected. When the call was sent more than once, an earlier one may
// have been carried out and the stored version been written on top of it.
func (c *call) conflict(stored string) error {
	if c.sent.repeated() {
		return unknown(c.operation, errRepeated)
	}
	return failed(c.operation, &filememory.ConflictError{Key: c.key, Expected: c.expected, Actual: stored})
}

var errRepeated = errors.New("sent again after a lost reply, and another version is stored now")

// settle tells a call that certainly was not carried out from one that may have been, and reads the document to learn
// more about the latter. The version that the call expected being there proves nothing: the call may still be on its way.
func (s *Store) settle(ctx context.Context, c *call, cause error) error {
	if c.sent.abandon() || refused(cause) && !c.sent.repeated() {
		return failed(c.operation, cause)
	}
	if ctx.Err() != nil {
		return unknown(c.operation, cause)
	}
	stored, err := s.storedVersion(ctx, c.key)
	if err == nil && c.carriedOut(stored) {
		return nil
	}
	return unknown(c.operation, cause)
}

// refused reports whether err is the server's own reply, which it gives instead of carrying a call out.
func refused(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// storedVersion returns the version of the document, "" when there is none. What is there and is no document is an error: it
// reads the document whole, since a missing field alone does not tell a missing key.
func (s *Store) storedVersion(ctx context.Context, key string) (string, error) {
	_, version, err := s.Read(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return version, err
}
