package vercelblob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/rest"
)

// Delete removes the document of key if its ETag is expected. An absent document is success.
func (b *Backend) Delete(ctx context.Context, key, expected string) error {
	if err := accept(ctx, key); err != nil {
		return err
	}
	if expected == "" || acceptVersion(key, expected) != nil {
		return b.absentOrConflict(ctx, key, expected)
	}
	c := b.remove(key, expected)
	_, err := c.do(ctx)
	switch {
	case err == nil:
		return nil
	case c.doubt:
		return b.resolveDelete(ctx, key, err)
	case errors.Is(err, errAbsent):
		return nil
	case errors.Is(err, errCondition):
		return b.absentOrConflict(ctx, key, expected)
	}
	return err
}

func (b *Backend) remove(key, expected string) *call {
	return &call{backend: b, operation: "delete", request: func(credential Credential) *rest.Request {
		// Strings without anything to escape: see checkPath, checkStoreID and rest.BaseURL.
		body, _ := rest.Encode(map[string][]string{"urls": {b.objectAddress(credential.StoreID, key)}})
		header := http.Header{}
		header.Set("Content-Type", "application/json")
		header.Set("X-If-Match", expected)
		return &rest.Request{Method: http.MethodPost, URL: b.apiURL + "/delete", Header: header, Body: body}
	}}
}

// absentOrConflict answers a delete whose version is not that of any stored object.
func (b *Backend) absentOrConflict(ctx context.Context, key, expected string) error {
	_, actual, err := b.read(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("vercelblob: %w", &docstore.ConflictError{Key: key, Expected: expected, Actual: actual})
}

// resolveDelete reads the object after a delete that may have happened: an absent object is what was wanted.
func (b *Backend) resolveDelete(ctx context.Context, key string, cause error) error {
	if ctx.Err() == nil {
		if _, _, err := b.read(ctx, key); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	return unknown("delete", cause)
}
