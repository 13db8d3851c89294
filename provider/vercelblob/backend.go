package vercelblob

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/rest"
)

// Backend keeps documents in one Vercel Blob store. It is a filememory.Backend, a filememory.Lister and a state.Store. It holds
// no credential and nothing that needs closing.
type Backend struct {
	credentials Credentials
	client      *rest.Client
	retry       rest.Retry
	timeNow     func() time.Time
	apiURL      string
	objectURL   string // "" means the store's own host
	prefix      string
	name        string
	contentType string
	maxBytes    int
}

// Retry says how often and when a request that brought no definite answer is sent again.
type Retry = rest.Retry

// Options configures New. The zero value means the defaults.
type Options struct {
	// Prefix is the folder of all documents. Slashes around it are trimmed. "" means eve/memory/file, which eve uses.
	Prefix string
	// Name is the last part of a document's path. "" means MEMORY.md, which eve uses.
	Name string
	// ContentType is stored with a document. "" means text/markdown; charset=utf-8.
	ContentType string
	// MaxBytes is the size of the largest document that is read or written. 0 means 16 MiB.
	MaxBytes int
	// Retry applies to all requests alike, but a create is sent again only while it certainly was not carried out.
	Retry Retry
	// Timeout bounds one request. 0 means 30 s. The context bounds the whole call.
	Timeout time.Duration
	// HTTPClient is copied, and the copy follows no redirect. It must not send a PUT or POST again by itself, as some transports
	// do. nil means a client with a connection pool of its own.
	HTTPClient *http.Client
	// APIURL is the base address of the control API. "" means https://vercel.com/api/blob.
	APIURL string
	// ObjectURL is the address under which objects are read. "" means https://<store id>.private.blob.vercel-storage.com. The
	// credential is sent there.
	ObjectURL string
}

const (
	defaultPrefix      = "eve/memory/file"
	defaultName        = "MEMORY.md"
	defaultContentType = "text/markdown; charset=utf-8"
	defaultAPIURL      = "https://vercel.com/api/blob"
	defaultMaxBytes    = 16 << 20

	// listBytes bounds a page of a listing, however small documents have to be.
	listBytes = 4 << 20
	// maxPathname is the service's limit.
	maxPathname = 950
	// keyBytes leaves room for any key of this library in the check of the prefix.
	keyBytes = 128
)

// New returns a backend for the store of credentials, or one error that lists every problem. It sends nothing.
func New(credentials Credentials, opts *Options) (*Backend, error) {
	if opts == nil {
		opts = &Options{}
	}
	b := &Backend{
		credentials: credentials,
		timeNow:     time.Now,
		prefix:      strings.Trim(orDefault(opts.Prefix, defaultPrefix), "/"),
		name:        orDefault(opts.Name, defaultName),
		contentType: orDefault(opts.ContentType, defaultContentType),
		maxBytes:    opts.MaxBytes,
	}
	if b.maxBytes == 0 {
		b.maxBytes = defaultMaxBytes
	}
	var retryErr, apiErr, objectErr error
	b.retry, retryErr = opts.Retry.Normalize()
	b.apiURL, apiErr = rest.BaseURL(orDefault(opts.APIURL, defaultAPIURL))
	if opts.ObjectURL != "" {
		b.objectURL, objectErr = rest.BaseURL(opts.ObjectURL)
	}
	if err := errors.Join(b.check(opts), retryErr, wrap("API URL", apiErr), wrap("object URL", objectErr)); err != nil {
		return nil, fmt.Errorf("vercelblob: %w", err)
	}
	b.client = rest.NewClient(opts.HTTPClient, opts.Timeout, int64(max(b.maxBytes, listBytes)))
	return b, nil
}

func (b *Backend) check(opts *Options) error {
	var problems []error
	if b.credentials == nil {
		problems = append(problems, errors.New("credentials are missing"))
	}
	if err := checkPath(b.prefix); err != nil {
		problems = append(problems, fmt.Errorf("prefix %w", err))
	}
	if err := checkPath(b.name); err != nil || strings.Contains(b.name, "/") {
		problems = append(problems, errors.New("name is not one part of a path"))
	}
	if len(b.prefix)+len(b.name)+keyBytes > maxPathname {
		problems = append(problems, fmt.Errorf("prefix and name are too long for a path of %d characters", maxPathname))
	}
	if strings.ContainsFunc(b.contentType, func(c rune) bool { return c < ' ' || c > '~' }) {
		problems = append(problems, errors.New("content type has a character outside printable ASCII"))
	}
	if opts.MaxBytes < 0 || opts.Timeout < 0 {
		problems = append(problems, errors.New("a limit is negative"))
	}
	return errors.Join(problems...)
}

// checkPath accepts only what reaches the service as it is: a path is put into addresses without escaping, as eve does.
func checkPath(path string) error {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." {
			return errors.New("has an empty part or one of dots")
		}
		for _, c := range []byte(part) {
			if !isPathByte(c) {
				return errors.New("has a character that would have to be escaped")
			}
		}
	}
	return nil
}

// isPathByte reports whether c is an unreserved or sub-delimiter character of a path (RFC 3986, 3.3).
func isPathByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~!$&'()*+,;=:@", c) >= 0
}

func orDefault(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// pathname returns where the document of key lies in the store.
func (b *Backend) pathname(key string) string { return b.prefix + "/" + key + "/" + b.name }

// accept checks what every call of a document begins with.
func accept(ctx context.Context, key string) error {
	if err := docstore.CheckKey(key); err != nil {
		return fmt.Errorf("vercelblob: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("vercelblob: %w", err)
	}
	return nil
}
