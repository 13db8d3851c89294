package redisstore

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/recollect-go/recollect/filememory"
)

// cursorFormat is the version of the cursor's form.
const cursorFormat = 1

// cursor is where a listing stands. A server may answer with more keys than were asked for; those are carried along,
// because a server cannot be asked for the same place again.
type cursor struct {
	Format int      `json:"v"`
	Layout string   `json:"layout,omitempty"` // digest of the cluster's slots; "" without a cluster
	Node   int      `json:"node,omitempty"`   // index of the master that is being listed
	Run    string   `json:"run,omitempty"`    // run id of that master; "" before its first page
	Scan   uint64   `json:"scan,omitempty"`   // its own cursor, which means nothing to another process
	Left   []string `json:"left,omitempty"`   // keys found and not handed out yet
}

// String returns the opaque form.
func (c *cursor) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic("redisstore: encoding a cursor: " + err.Error()) // it holds strings and numbers only
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// parseCursor returns the beginning of a listing for "".
func parseCursor(text string) (*cursor, error) {
	c := &cursor{Format: cursorFormat}
	if text == "" {
		return c, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%w: not base64url", ErrCursor)
	}
	if err := json.Unmarshal(raw, c); err != nil {
		return nil, fmt.Errorf("%w: not JSON", ErrCursor)
	}
	if c.Format != cursorFormat || c.Node < 0 {
		return nil, fmt.Errorf("%w: unknown format", ErrCursor)
	}
	for _, key := range c.Left {
		if filememory.CheckKey(key) != nil {
			return nil, fmt.Errorf("%w: it holds an invalid key", ErrCursor)
		}
	}
	return c, nil
}
