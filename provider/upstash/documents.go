package upstash

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/recollect-go/recollect/internal/docstore"
)

const (
	// DocumentPrefix is the default prefix of Documents. It is where Upstash AgentKit keeps the documents of eve's file memory.
	DocumentPrefix = "agentkit:memoryFile"
	// CheckpointPrefix is the prefix for the checkpoints of package state, which no other program reads.
	CheckpointPrefix = "recollect:state"
)

// Documents is a filememory.Backend, a filememory.Lister and a state.Store.
type Documents struct {
	client *Client
	prefix string // with the colon
	ttl    string // seconds; "0" means none
}

// DocumentsOptions configures NewDocuments. The zero value means the defaults.
type DocumentsOptions struct {
	// Prefix comes before each key, with a colon between. "" means DocumentPrefix.
	Prefix string
	// TTL removes a document that was not written for so long: whole seconds, counted anew by every write. 0 keeps documents
	// until they are deleted, also those that another program had given a time to live.
	TTL time.Duration
}

// NewDocuments returns the documents in the client's database, or one error that lists every problem. It sends nothing.
func NewDocuments(client *Client, opts *DocumentsOptions) (*Documents, error) {
	if opts == nil {
		opts = &DocumentsOptions{}
	}
	var problems []error
	if client == nil {
		problems = append(problems, errors.New("client is missing"))
	}
	if !utf8.ValidString(opts.Prefix) {
		problems = append(problems, errors.New("prefix is not valid UTF-8"))
	}
	if opts.TTL < 0 || opts.TTL%time.Second != 0 {
		problems = append(problems, fmt.Errorf("TTL %v is negative or not in whole seconds", opts.TTL))
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("upstash: %w", errors.Join(problems...))
	}
	prefix := opts.Prefix
	if prefix == "" {
		prefix = DocumentPrefix
	}
	return &Documents{client: client, prefix: prefix + ":", ttl: strconv.FormatInt(int64(opts.TTL/time.Second), 10)}, nil
}

// accept checks what every call for a key begins with.
func accept(ctx context.Context, operation, key string) error {
	if err := docstore.CheckKey(key); err != nil {
		return failed(operation, err)
	}
	if err := ctx.Err(); err != nil {
		return failed(operation, err)
	}
	return nil
}
