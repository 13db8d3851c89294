package vercelblob

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/rest"
)

// maxPage is the service's largest page.
const maxPage = 1000

// List returns the keys of a page of at most limit objects under the prefix. Objects that are no documents of this layout
// are left out, so a page may be short. A limit over 1000, the service's largest page, means 1000.
func (b *Backend) List(ctx context.Context, cursor string, limit int) (keys []string, next string, err error) {
	if limit < 1 {
		return nil, "", errors.New("vercelblob: list: limit is less than 1")
	}
	if err := ctx.Err(); err != nil {
		return nil, "", fmt.Errorf("vercelblob: %w", err)
	}
	c := b.page(cursor, min(limit, maxPage))
	reply, err := c.do(ctx)
	if err != nil {
		return nil, "", err
	}
	var page struct {
		Blobs []struct {
			Pathname string `json:"pathname"`
		} `json:"blobs"`
		Cursor  string `json:"cursor"`
		HasMore *bool  `json:"hasMore"`
	}
	if err := rest.Decode(reply.Body, &page); err != nil {
		return nil, "", c.failed(err)
	}
	if page.Blobs == nil || page.HasMore == nil || *page.HasMore && page.Cursor == "" {
		return nil, "", c.failed(fmt.Errorf("%w: it is no page of a listing", ErrBadReply))
	}
	for _, blob := range page.Blobs {
		if key, ok := b.keyOf(blob.Pathname); ok {
			keys = append(keys, key)
		}
	}
	if !*page.HasMore {
		return keys, "", nil
	}
	return keys, page.Cursor, nil
}

func (b *Backend) page(cursor string, limit int) *call {
	query := url.Values{"prefix": {b.prefix + "/"}, "limit": {strconv.Itoa(limit)}, "mode": {"expanded"}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	address := b.apiURL + "?" + query.Encode()
	return &call{backend: b, operation: "list", request: func(Credential) *rest.Request {
		return &rest.Request{Method: http.MethodGet, URL: address, Header: http.Header{}}
	}}
}

// keyOf returns the key of the document at pathname, if there can be one.
func (b *Backend) keyOf(pathname string) (string, bool) {
	rest, under := strings.CutPrefix(pathname, b.prefix+"/")
	key, named := strings.CutSuffix(rest, "/"+b.name)
	return key, under && named && docstore.CheckKey(key) == nil
}
