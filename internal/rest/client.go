package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// userAgent is what every request says about its sender.
const userAgent = "recollect-go (+https://github.com/recollect-go/recollect)"

// DefaultTimeout bounds one exchange where the caller gives no bound.
const DefaultTimeout = 30 * time.Second

// Client sends requests. It may be used concurrently.
type Client struct {
	http     *http.Client
	timeout  time.Duration
	maxBytes int64
}

// NewClient returns a client that uses a copy of base, or a transport of its own when base is nil. timeout bounds one
// exchange, its body included; 0 means DefaultTimeout. maxBytes bounds a reply's body.
func NewClient(base *http.Client, timeout time.Duration, maxBytes int64) *Client {
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	return &Client{http: withoutRedirects(base), timeout: timeout, maxBytes: maxBytes}
}

func withoutRedirects(base *http.Client) *http.Client {
	own := http.Client{}
	if base != nil {
		own = *base
	}
	if own.Transport == nil {
		own.Transport = ownTransport()
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

func ownTransport() http.RoundTripper {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	transport := standard.Clone()
	transport.DisableCompression = true
	return transport
}

// Request is one request.
type Request struct {
	Method string
	URL    string
	Header http.Header // not changed
	Body   []byte      // nil for none; not changed
}

// Response is a whole reply.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends r once and returns the reply, whatever its status. The error is a *TransportError when there is no reply, and
// matches ErrTooLarge or ErrBadReply when the reply cannot be used.
func (c *Client) Do(ctx context.Context, r *Request) (*Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, &TransportError{Err: err, NotSent: true}
	}
	attempt, cancel := context.WithTimeoutCause(ctx, c.timeout, ErrNoReply)
	defer cancel()

	request, err := newRequest(attempt, r)
	if err != nil {
		return nil, &TransportError{Err: err, NotSent: true}
	}
	reply, err := c.http.Do(request)
	if err != nil {
		return nil, failure(ctx, attempt, err)
	}
	defer reply.Body.Close()

	body, err := io.ReadAll(io.LimitReader(reply.Body, c.maxBytes+1))
	if err != nil {
		return nil, failure(ctx, attempt, err)
	}
	if int64(len(body)) > c.maxBytes {
		return nil, fmt.Errorf("%w: reply has more than %d bytes", ErrTooLarge, c.maxBytes)
	}
	if encoding := reply.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, fmt.Errorf("%w: it is encoded although identity was asked for", ErrBadReply)
	}
	return &Response{Status: reply.StatusCode, Header: reply.Header, Body: body}, nil
}

func newRequest(ctx context.Context, r *Request) (*http.Request, error) {
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, ErrBadURL) // err would quote the address
	}
	if r.Header != nil {
		request.Header = r.Header.Clone()
	}
	request.Header.Set("User-Agent", userAgent)
	// Explicit, so that no transport asks for gzip: a compressed reply has a weak ETag, which no condition can use.
	request.Header.Set("Accept-Encoding", "identity")
	return request, nil
}

// failure says what became of an exchange without a whole reply. The *url.Error of net/http is dropped with the address in it.
func failure(ctx, attempt context.Context, err error) error {
	notSent := neverSent(err)
	if ctx.Err() != nil {
		return &TransportError{Err: ctx.Err(), NotSent: notSent}
	}
	if attempt.Err() != nil {
		return &TransportError{Err: context.Cause(attempt), NotSent: notSent}
	}
	return &TransportError{Err: fmt.Errorf("%w: %w", ErrNoReply, plain(err)), NotSent: notSent}
}

// neverSent reports whether err proves that no connection was there to send anything on.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
