package redisstore

import (
	"errors"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/redis/go-redis/v9"
)

const (
	// DocumentPrefix is the default prefix. It is where Upstash AgentKit keeps the documents of eve's file memory.
	DocumentPrefix = "agentkit:memoryFile"
	// CheckpointPrefix is the prefix for the checkpoints of package state, which no other program reads. Its own prefix
	// keeps the listing of one kind free of the other.
	CheckpointPrefix = "recollect:state"
)

// Options configures New. The zero value means the defaults.
type Options struct {
	// Prefix comes before each key, with a colon between. "" means DocumentPrefix. A hash tag in braces puts all documents
	// on one node of a cluster.
	Prefix string
	// TTL removes a document that was not written for so long: whole seconds, counted anew by every write. 0 keeps documents
	// until they are deleted, also those that another program had given a time to live.
	TTL time.Duration
}

// check returns every problem of the options.
func (o *Options) check() error {
	var problems []error
	if !utf8.ValidString(o.Prefix) {
		problems = append(problems, errors.New("prefix is not valid UTF-8"))
	}
	switch {
	case o.TTL < 0:
		problems = append(problems, fmt.Errorf("TTL %v is negative", o.TTL))
	case o.TTL%time.Second != 0:
		problems = append(problems, fmt.Errorf("TTL %v is not in whole seconds", o.TTL))
	}
	return errors.Join(problems...)
}

// checkClient refuses a client that cannot keep the contract.
func checkClient(client redis.UniversalClient) error {
	if isNil(client) {
		return errors.New("client is missing")
	}
	switch c := client.(type) {
	case *redis.Ring:
		return errors.New("client is a Ring: it moves keys to other shards when one is down, and documents would be missing or double")
	case *redis.Client:
		if opts := c.Options(); opts.ClientSideCache != nil || opts.ClientSideCacheConfig != nil {
			return errors.New("client caches replies, which then lag behind the server: client-side caching must be off")
		}
	case *redis.ClusterClient:
		if opts := c.Options(); opts.ReadOnly || opts.RouteByLatency || opts.RouteRandomly {
			return errors.New("client reads from replicas, which lag behind: ReadOnly, RouteByLatency and RouteRandomly must be off")
		}
	}
	return nil
}

// isNil also finds a nil pointer in client, of the kind that a failed constructor leaves.
func isNil(client redis.UniversalClient) bool {
	if client == nil {
		return true
	}
	held := reflect.ValueOf(client)
	return held.Kind() == reflect.Pointer && held.IsNil()
}
