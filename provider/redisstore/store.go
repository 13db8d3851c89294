package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/recollect-go/recollect/filememory"
)

// Store keeps documents in Redis or Valkey. It is a filememory.Backend, a filememory.Lister and a state.Store. It holds
// nothing that needs closing; the client stays the caller's.
type Store struct {
	client  redis.UniversalClient
	prefix  string
	ttl     int64 // seconds; 0 means none
	workers workers
}

// New returns a store on client, or one error that lists every problem. It sends nothing. The client may be a
// *redis.Client, also one that sentinels guide, or a *redis.ClusterClient that reads from masters; a *redis.Ring is
// refused.
func New(client redis.UniversalClient, opts *Options) (*Store, error) {
	if opts == nil {
		opts = &Options{}
	}
	if err := errors.Join(checkClient(client), opts.check()); err != nil {
		return nil, fmt.Errorf("redisstore: %w", err)
	}
	prefix := opts.Prefix
	if prefix == "" {
		prefix = DocumentPrefix
	}
	return &Store{client: client, prefix: prefix + ":", ttl: int64(opts.TTL / time.Second)}, nil
}

// accept checks what every call of a document begins with.
func accept(ctx context.Context, key string) error {
	if err := filememory.CheckKey(key); err != nil {
		return fmt.Errorf("redisstore: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("redisstore: %w", err)
	}
	return nil
}
