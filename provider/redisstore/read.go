package redisstore

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/redis/go-redis/v9"
)

// Read returns the document of key with one HGETALL. That tells a missing key from a hash of another shape, which HMGET
// does not.
func (s *Store) Read(ctx context.Context, key string) (content []byte, version string, err error) {
	if err := accept(ctx, key); err != nil {
		return nil, "", err
	}
	cmd := redis.NewMapStringStringCmd(ctx, "hgetall", s.prefix+key)
	if err := s.workers.prompt(ctx, func() error { return s.client.Process(ctx, cmd) }); err != nil {
		if redis.HasErrorPrefix(err, "WRONGTYPE") {
			err = s.wrongType(ctx, key)
		}
		return nil, "", failed("read", err)
	}
	fields := cmd.Val()
	if len(fields) == 0 {
		return nil, "", failed("read", fmt.Errorf("document %q: %w", key, fs.ErrNotExist))
	}
	stored, hasContent := fields[contentField]
	version = fields[versionField]
	if !hasContent || version == "" {
		return nil, "", failed("read", &ShapeError{Key: key, Found: foundHash})
	}
	return decode(stored), version, nil
}

// wrongType returns the error for a key that is no hash, with its type.
func (s *Store) wrongType(ctx context.Context, key string) error {
	cmd := redis.NewStatusCmd(ctx, "type", s.prefix+key)
	if err := s.workers.prompt(ctx, func() error { return s.client.Process(ctx, cmd) }); err != nil {
		return err
	}
	return &ShapeError{Key: key, Found: found(cmd.Val())}
}
