package vercelblob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/rest"
)

// Write replaces the document of key if its ETag is expected, or creates it if expected is "". The package comment says what
// becomes of a write whose answer is lost.
func (b *Backend) Write(ctx context.Context, key string, content []byte, expected string) (version string, err error) {
	if err := b.acceptWrite(ctx, key, content, expected); err != nil {
		return "", err
	}
	c := b.put(key, content, expected)
	reply, err := c.do(ctx)
	if err == nil {
		version, err = writtenVersion(c, reply)
	}
	switch {
	case err == nil:
		return version, nil
	case c.doubt:
		return b.resolveWrite(ctx, key, content, err)
	case errors.Is(err, errCondition), expected != "" && errors.Is(err, errAbsent):
		return "", fmt.Errorf("vercelblob: %w", &docstore.ConflictError{Key: key, Expected: expected})
	case expected == "" && errors.Is(err, ErrRefused):
		return "", b.resolveCreate(ctx, key, err)
	}
	return "", err
}

func (b *Backend) acceptWrite(ctx context.Context, key string, content []byte, expected string) error {
	if err := accept(ctx, key); err != nil {
		return err
	}
	if len(content) == 0 {
		return fmt.Errorf("vercelblob: write: %w", ErrEmpty)
	}
	if len(content) > b.maxBytes {
		return fmt.Errorf("vercelblob: write: document of %d bytes, at most %d: %w", len(content), b.maxBytes, ErrTooLarge)
	}
	return acceptVersion(key, expected)
}

// acceptVersion refuses a version that no object can have, before it gets into a header.
func acceptVersion(key, expected string) error {
	if expected == "" || isStrong(expected) {
		return nil
	}
	if isWeak(expected) {
		return fmt.Errorf("vercelblob: expected version is weak: %w", ErrWeakETag)
	}
	return fmt.Errorf("vercelblob: %w", &docstore.ConflictError{Key: key, Expected: expected})
}

func (b *Backend) put(key string, content []byte, expected string) *call {
	address := b.apiURL + "/?pathname=" + url.QueryEscape(b.pathname(key))
	request := func(Credential) *rest.Request {
		header := http.Header{}
		header.Set("X-Vercel-Blob-Access", "private")
		header.Set("X-Content-Type", b.contentType)
		header.Set("X-Add-Random-Suffix", "0")
		// A condition and a forbidden overwrite contradict each other, and the service answers that with a 500.
		if expected == "" {
			header.Set("X-Allow-Overwrite", "0")
		} else {
			header.Set("X-Allow-Overwrite", "1")
			header.Set("X-If-Match", expected)
		}
		return &rest.Request{Method: http.MethodPut, URL: address, Header: header, Body: content}
	}
	// A repeated create would bring back a document that was deleted in between. A repeated update would find no object then.
	return &call{backend: b, operation: "write", request: request, once: expected == ""}
}

// writtenVersion reads the answer to a write that was carried out. If that cannot be used the outcome is in doubt, since the
// version is unknown.
func writtenVersion(c *call, reply *rest.Response) (string, error) {
	var body struct {
		ETag string `json:"etag"`
	}
	err := rest.Decode(reply.Body, &body)
	if err == nil && !isStrong(body.ETag) {
		err = ErrWeakETag
	}
	if err != nil {
		c.doubt = true
		return "", c.failed(err)
	}
	return body.ETag, nil
}

// resolveWrite reads the object after a write that may have happened. Only content equal to what was sent settles it: other
// content may have been written on top of ours.
func (b *Backend) resolveWrite(ctx context.Context, key string, content []byte, cause error) (string, error) {
	if ctx.Err() == nil {
		stored, version, err := b.read(ctx, key)
		if err == nil && bytes.Equal(stored, content) {
			return version, nil
		}
	}
	return "", unknown("write", cause)
}

// unknown is the error of a request that may have been carried out. It never matches a conflict.
func unknown(operation string, cause error) error {
	return fmt.Errorf("vercelblob: %s: %w: %w", operation, docstore.ErrUnknownOutcome, cause)
}

// resolveCreate tells whether a create was refused because the object exists; the service says bad_request for that and for
// other reasons.
func (b *Backend) resolveCreate(ctx context.Context, key string, cause error) error {
	_, version, err := b.read(ctx, key)
	if err != nil {
		return cause
	}
	return fmt.Errorf("vercelblob: %w", &docstore.ConflictError{Key: key, Actual: version})
}
