package s3store

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/recollect-go/recollect/filememory"
)

// Store keeps documents in one bucket. It is a filememory.Backend, a filememory.Lister and a state.Store. It holds
// nothing that needs closing; the client stays the caller's.
type Store struct {
	client            *s3.Client
	bucket            string
	prefix            string
	maxBytes          int64
	conditionalDelete bool
	digests           bool // ETags are MD5 digests of the content, as the probe found
}

// New returns a store in bucket, which must exist. It tries the store's conditions on an object of its own under the
// prefix, which it removes: eight requests, eleven with ConditionalDelete, so make a Store once. The error lists every
// problem of the arguments, or tells what the store does wrong; a store that ignores a condition is an error matching
// ErrUnconditional. The client's credentials need s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket; without
// the last one a missing object is not told from a forbidden one.
func New(ctx context.Context, client *s3.Client, bucket string, opts *Options) (*Store, error) {
	options := opts.withDefaults()
	problems := []error{options.check()}
	if client == nil {
		problems = append(problems, errors.New("client is missing"))
	}
	if bucket == "" {
		problems = append(problems, errors.New("bucket is missing"))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("s3store: %w", err)
	}
	s := &Store{
		client: client, bucket: bucket, prefix: options.Prefix + "/", maxBytes: options.MaxBytes,
		conditionalDelete: options.ConditionalDelete,
	}
	if err := s.probe(ctx); err != nil {
		return nil, failed("probing bucket "+bucket, withContext(ctx, err))
	}
	return s, nil
}

// accept checks what every call of a document begins with.
func accept(ctx context.Context, key string) error {
	if err := filememory.CheckKey(key); err != nil {
		return fmt.Errorf("s3store: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("s3store: %w", err)
	}
	return nil
}

// withContext makes err match the error of a context that has ended, whatever the client made of it.
func withContext(ctx context.Context, err error) error {
	if ended := ctx.Err(); err != nil && ended != nil && !errors.Is(err, ended) {
		return fmt.Errorf("%w: %w", ended, err)
	}
	return err
}
