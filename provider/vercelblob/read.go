package vercelblob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/recollect-go/recollect/internal/rest"
)

// Read returns the document of key and its strong ETag. It asks the service and not its cache.
func (b *Backend) Read(ctx context.Context, key string) (content []byte, version string, err error) {
	if err := accept(ctx, key); err != nil {
		return nil, "", err
	}
	return b.read(ctx, key)
}

func (b *Backend) read(ctx context.Context, key string) (content []byte, version string, err error) {
	c := &call{backend: b, operation: "read", object: true, request: func(credential Credential) *rest.Request {
		return &rest.Request{
			Method: http.MethodGet,
			URL:    b.objectAddress(credential.StoreID, key) + "?cache=0",
			Header: http.Header{},
		}
	}}
	reply, err := c.do(ctx)
	if errors.Is(err, errAbsent) {
		return nil, "", fmt.Errorf("vercelblob: document %q: %w", key, fs.ErrNotExist)
	}
	if err != nil {
		return nil, "", err
	}
	if len(reply.Body) > b.maxBytes {
		return nil, "", c.failed(ErrTooLarge)
	}
	version = reply.Header.Get("Etag")
	if !isStrong(version) {
		return nil, "", c.failed(ErrWeakETag)
	}
	return reply.Body, version, nil
}

// objectAddress returns where the object of key is read.
func (b *Backend) objectAddress(storeID, key string) string {
	base := b.objectURL
	if base == "" {
		base = "https://" + storeID + ".private.blob.vercel-storage.com"
	}
	return base + "/" + b.pathname(key)
}
