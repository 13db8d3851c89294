package upstash

import (
	"context"
	"slices"

	"github.com/recollect-go/recollect/internal/rest"
	"github.com/recollect-go/recollect/memory"
)

// scanCount is how many keys the server looks at for each step of an erasure or export.
const scanCount = 500

// exportedMetadata is a record but for its text and its key.
type exportedMetadata struct {
	CreatedAt int64  `json:"createdAt"`
	SessionID string `json:"sessionId"`
	Source    source `json:"source"`
	Deleted   bool   `json:"deleted"`
	Sequence  int64  `json:"sequence"`
	SubIndex  int    `json:"subIndex"`
}

// export writes every record of the key in the order of their ids, the marks of forgotten ones included. It scans the key
// space, because an index may not know yet what was written just before. Kept recalls are copies and left out.
func (p *Provider) export(ctx context.Context, r *memory.ExportRequest) error {
	if err := accept(ctx, "export", r.Key); err != nil {
		return err
	}
	names, err := p.recordNames(ctx, r.Key)
	if err != nil {
		return err
	}
	for names := range slices.Chunk(names, batch) {
		if err := p.exportBatch(ctx, r, names); err != nil {
			return err
		}
	}
	return nil
}

// recordNames returns where the records of key lie, in order.
func (p *Provider) recordNames(ctx context.Context, key string) (names []string, err error) {
	for cursor := "0"; ; {
		page, err := p.client.scan(ctx, "export", p.recordPrefix(key), cursor, scanCount)
		if err != nil {
			return nil, err
		}
		names = append(names, page.keys...)
		if cursor = page.next; cursor == "0" {
			slices.Sort(names)
			return slices.Compact(names), nil // a scan may name a key twice
		}
	}
}

func (p *Provider) exportBatch(ctx context.Context, r *memory.ExportRequest, names []string) error {
	cmds := make([]command, len(names))
	for i, name := range names {
		cmds[i] = command{"JSON.GET", name, "$"}
	}
	replies, err := p.client.pipeline(ctx, "export", cmds...)
	if err != nil {
		return err
	}
	for i, name := range names {
		stored, err := parseStored(r.Key, replies[i])
		if err != nil {
			return badReply("export", err)
		}
		if stored == nil {
			continue // removed in between
		}
		if err := r.Write(stored.exported(name[len(p.recordPrefix(r.Key)):])); err != nil {
			return err
		}
	}
	return nil
}

func (r *record) exported(id string) *memory.ExportedRecord {
	kind := "message"
	if r.Source == sourceFact {
		kind = "fact"
	}
	// Text that was decoded from JSON, and numbers.
	metadata, _ := rest.Encode(exportedMetadata{r.CreatedAt, r.SessionID, r.Source, r.Deleted, r.Sequence, r.SubIndex})
	return &memory.ExportedRecord{Kind: kind, ID: id, Content: r.Text, Metadata: metadata}
}
