package upstash

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// scanned is one step of a scan of the key space.
type scanned struct {
	keys []string
	next string // "0" at the end
}

// scan returns some of the keys that begin with prefix. The server looks at about count keys, whoever's they are. A key that
// does not begin with it is an error: what is scanned is handed out, or deleted.
func (c *Client) scan(ctx context.Context, operation, prefix, cursor string, count int) (*scanned, error) {
	result, err := c.run(ctx, operation, command{"SCAN", cursor, "MATCH", escapeGlob(prefix) + "*", "COUNT", strconv.Itoa(count)})
	if err != nil {
		return nil, err
	}
	page, err := parseScan(result, prefix)
	if err != nil {
		return nil, badReply(operation, err)
	}
	return page, nil
}

func parseScan(r reply, prefix string) (*scanned, error) {
	parts, err := r.list()
	if err != nil {
		return nil, err
	}
	if len(parts) != 2 {
		return nil, fmt.Errorf("%w: a scan of %d parts", ErrBadReply, len(parts))
	}
	page := &scanned{}
	if page.next, err = parts[0].must(); err != nil {
		return nil, err
	}
	if page.next == "" || strings.Trim(page.next, "0123456789") != "" {
		return nil, fmt.Errorf("%w: a cursor that is no number", ErrBadReply)
	}
	names, err := parts[1].list()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		key, err := name.must()
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(key, prefix) {
			return nil, fmt.Errorf("%w: a key that was not asked for", ErrBadReply)
		}
		page.keys = append(page.keys, key)
	}
	return page, nil
}

// escapeGlob returns the pattern that matches text alone.
func escapeGlob(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(text)
}
