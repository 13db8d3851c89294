package notes

import (
	"context"
	"encoding/json"
	"time"

	"github.com/recollect-go/recollect/memory"
)

const (
	exportFormat  = "recollect-note"
	exportVersion = 1
	exportPage    = 200
)

// exported is a line of an export.
type exported struct {
	Format        string `json:"format"`
	FormatVersion int    `json:"formatVersion"`
	*Note
}

// Export calls f for every note of the key, in the order in which they were stored, as one JSON object: a line of JSON
// Lines, without the line feed. It stops at the first error of f and returns it. What is stored beside the notes is made
// from them and is not exported.
func (s *Store) Export(ctx context.Context, key string, f func(line json.RawMessage) error) error {
	return s.each(ctx, key, func(n *Note) error {
		line, err := json.Marshal(exported{exportFormat, exportVersion, n})
		if err != nil {
			return failed(ctx, "export", err)
		}
		return f(line)
	})
}

// each calls f for every note of the key.
func (s *Store) each(ctx context.Context, key string, f func(*Note) error) error {
	after := ""
	for {
		page, err := s.List(ctx, key, after, exportPage)
		if err != nil {
			return err
		}
		for i := range page {
			if err := f(&page[i]); err != nil {
				return err
			}
		}
		if len(page) < exportPage {
			return nil
		}
		after = page[len(page)-1].ID
	}
}

// exportKind is what a note is called in an export of a memory.
const exportKind = "note"

// metadata is what an export of a memory has beside a note's id and text.
type metadata struct {
	Kind Kind `json:"kind"`
	Provenance
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	Expires time.Time `json:"expires,omitzero"`
	Version int       `json:"version"`
}

func (p *Provider) export(ctx context.Context, r *memory.ExportRequest) error {
	return p.store.each(ctx, r.Key, func(n *Note) error {
		beside, err := json.Marshal(metadata{n.Kind, n.Provenance, n.Created, n.Updated, n.Expires, n.Version})
		if err != nil {
			return failed(ctx, "export", err)
		}
		return r.Write(&memory.ExportedRecord{Kind: exportKind, ID: n.ID, Content: n.Text, Metadata: beside})
	})
}
