package redisstore

import (
	"context"
	"fmt"
)

// maxBytes is what the server takes as one value by default (proto-max-bulk-len), less the marker. A server breaks the
// connection over a larger one, which would look like an unknown outcome.
const maxBytes = 512<<20 - len(marker)

// Write replaces the document of key if its version is expected, or creates it if expected is "". The package comment
// says what becomes of a write whose reply is lost.
func (s *Store) Write(ctx context.Context, key string, content []byte, expected string) (version string, err error) {
	if err := accept(ctx, key); err != nil {
		return "", err
	}
	if len(content) > maxBytes {
		return "", failed("write", fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(content), maxBytes))
	}
	version = newVersion()
	// A create must not be repeated: when the first was carried out and somebody deleted the document since, nothing tells
	// the second that it comes too late, and what was deleted would be back.
	c := &call{operation: "write", key: key, expected: expected, sent: &sending{text: version, once: expected == ""},
		carriedOut: func(stored string) bool { return stored == version }}
	reply, err := s.run(ctx, writeScript, key, c.sent, encode(content), expected, s.ttl)
	if err := s.outcome(ctx, c, reply, err); err != nil {
		return "", err
	}
	return version, nil
}
