package upstash

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rest"
)

// Client sends commands to one database. It may be used concurrently, and holds nothing that needs closing.
type Client struct {
	rest  *rest.Client
	retry rest.Retry
	url   string
	token rest.Secret
	// sync is the service's latest token for reading this process's own writes.
	sync atomic.Pointer[string]
}

// Retry says how often and when a request that brought no definite answer is sent again.
type Retry = rest.Retry

// Secret gives the token of the database.
type Secret = rest.Secret

// SecretFunc is a function that is a Secret.
type SecretFunc = rest.SecretFunc

// Token returns a Secret that is always token.
func Token(token string) (Secret, error) {
	secret, err := rest.FixedSecret(token)
	if err != nil {
		return nil, fmt.Errorf("upstash: %w", err)
	}
	return secret, nil
}

// Options configures NewClient. The zero value means the defaults.
type Options struct {
	// Retry applies to every request, but one that could bring back what was deleted in between is sent again only while it
	// certainly was not carried out. The package comment says which.
	Retry Retry
	// Timeout bounds one request. 0 means 30 s. The context bounds the whole call.
	Timeout time.Duration
	// MaxBytes bounds a reply. 0 means 32 MiB.
	MaxBytes int64
	// HTTPClient is copied, and the copy follows no redirect. It must not send a POST again by itself, as some transports do. nil
	// means a client with a connection pool of its own.
	HTTPClient *http.Client
}

const defaultMaxBytes = 32 << 20

// NewClient returns a client of the database at url, or one error that lists every problem. It sends nothing.
func NewClient(url string, token Secret, opts *Options) (*Client, error) {
	if opts == nil {
		opts = &Options{}
	}
	var problems []error
	base, err := rest.BaseURL(url)
	if err != nil {
		problems = append(problems, err)
	}
	if token == nil {
		problems = append(problems, errors.New("token is missing"))
	}
	retry, err := opts.Retry.Normalize()
	if err != nil {
		problems = append(problems, err)
	}
	if opts.Timeout < 0 || opts.MaxBytes < 0 {
		problems = append(problems, errors.New("a limit is negative"))
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("upstash: %w", errors.Join(problems...))
	}
	maxBytes := opts.MaxBytes
	if maxBytes == 0 {
		maxBytes = defaultMaxBytes
	}
	return &Client{rest: rest.NewClient(opts.HTTPClient, opts.Timeout, maxBytes), retry: retry, url: base, token: token}, nil
}

// ClientFromEnvironment returns a client of the database that the environment names: UPSTASH_REDIS_REST_URL and
// UPSTASH_REDIS_REST_TOKEN, and where one of them is blank, KV_REST_API_URL and KV_REST_API_TOKEN in its place. Values are
// trimmed. lookup is usually os.LookupEnv.
func ClientFromEnvironment(lookup func(name string) (string, bool), opts *Options) (*Client, error) {
	url := first(lookup, "UPSTASH_REDIS_REST_URL", "KV_REST_API_URL")
	value := first(lookup, "UPSTASH_REDIS_REST_TOKEN", "KV_REST_API_TOKEN")
	var problems []error
	if url == "" {
		problems = append(problems, errors.New("set UPSTASH_REDIS_REST_URL or KV_REST_API_URL"))
	}
	if value == "" {
		problems = append(problems, errors.New("set UPSTASH_REDIS_REST_TOKEN or KV_REST_API_TOKEN"))
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("upstash: %w", errors.Join(problems...))
	}
	token, err := Token(value)
	if err != nil {
		return nil, err
	}
	return NewClient(url, token, opts)
}

func first(lookup func(string) (string, bool), names ...string) string {
	for _, name := range names {
		value, _ := lookup(name)
		if value = ecma.Trim(value); value != "" {
			return value
		}
	}
	return ""
}
