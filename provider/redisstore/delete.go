package redisstore

import "context"

// Delete removes the document of key if its version is expected; an absent document is success.
func (s *Store) Delete(ctx context.Context, key, expected string) error {
	if err := accept(ctx, key); err != nil {
		return err
	}
	c := &call{operation: "delete", key: key, expected: expected, sent: new(sending),
		carriedOut: func(stored string) bool { return stored == "" }}
	reply, err := s.run(ctx, deleteScript, key, c.sent, expected)
	return s.outcome(ctx, c, reply, err)
}
