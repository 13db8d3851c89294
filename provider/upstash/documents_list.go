package upstash

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/recollect-go/recollect/internal/docstore"
)

// List returns up to limit keys. It scans the whole key space, so a page may be empty: the server looks at about limit keys,
// whoever's they are, for each page. A key may appear twice.
func (d *Documents) List(ctx context.Context, cursor string, limit int) (keys []string, next string, err error) {
	if limit < 1 {
		return nil, "", failed("list", errors.New("limit is less than 1"))
	}
	at, err := parseCursor(cursor)
	if err != nil {
		return nil, "", failed("list", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, "", failed("list", err)
	}
	if len(at.Left) < limit && at.Scan != scanEnd {
		if err := d.advance(ctx, at, limit); err != nil {
			return nil, "", err
		}
	}
	handed := min(limit, len(at.Left))
	keys, at.Left = at.Left[:handed:handed], at.Left[handed:]
	if at.Scan == scanEnd && len(at.Left) == 0 {
		return keys, "", nil
	}
	return keys, at.String(), nil
}

// advance scans once more, adds what it finds to at.Left and moves at.
func (d *Documents) advance(ctx context.Context, at *cursor, limit int) error {
	from := at.Scan
	if from == "" {
		from = "0"
	}
	page, err := d.client.scan(ctx, "list", d.prefix, from, limit)
	if err != nil {
		return err
	}
	for _, name := range page.keys {
		if key := strings.TrimPrefix(name, d.prefix); docstore.CheckKey(key) == nil {
			at.Left = append(at.Left, key)
		}
	}
	at.Scan = page.next
	if at.Scan == "0" {
		at.Scan = scanEnd
	}
	return nil
}

// cursorFormat is the version of the cursor's form.
const cursorFormat = 1

// scanEnd stands for the cursor of a scan that has seen everything.
const scanEnd = "end"

// cursor is where a listing stands. A server may answer with more keys than were asked for; those are carried along.
type cursor struct {
	Format int      `json:"v"`
	Scan   string   `json:"scan,omitempty"` // the server's own cursor; "" at the beginning
	Left   []string `json:"left,omitempty"` // keys found and not handed out yet
}

// String returns the opaque form.
func (c *cursor) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic("upstash: encoding a cursor: " + err.Error()) // it holds strings and a number only
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// parseCursor returns the beginning of a listing for "".
func parseCursor(text string) (*cursor, error) {
	if text == "" {
		return &cursor{Format: cursorFormat}, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%w: not base64url", ErrCursor)
	}
	c := &cursor{}
	if err := json.Unmarshal(raw, c); err != nil {
		return nil, fmt.Errorf("%w: not JSON", ErrCursor)
	}
	if c.Format != cursorFormat || c.Scan != scanEnd && strings.Trim(c.Scan, "0123456789") != "" {
		return nil, fmt.Errorf("%w: unknown format", ErrCursor)
	}
	for _, key := range c.Left {
		if docstore.CheckKey(key) != nil {
			return nil, fmt.Errorf("%w: it holds an invalid key", ErrCursor)
		}
	}
	return c, nil
}
