package supermemory

import (
	"context"

	"github.com/recollect-go/recollect/internal/rest"
	"github.com/recollect-go/recollect/memory"
)

const (
	exportPage = 25 // of documents, whose contents have to fit into one reply
	memoryPage = 100
)

// export writes the documents of both tags, then the memories that are not forgotten, the oldest first. A document that is
// not digested yet has no content.
func (p *Provider) export(ctx context.Context, r *memory.ExportRequest) error {
	tags, err := p.tags("export", r.Key)
	if err != nil {
		return err
	}
	both := []string{tags.context, tags.extraction}
	for _, tag := range both {
		if err := p.eachDocument(ctx, tag, func(d *document) error { return write(r, d.exported()) }); err != nil {
			return err
		}
	}
	for _, tag := range both {
		err := p.eachMemory(ctx, "export", tag, func(m *memoryEntry) error {
			if m.IsForgotten {
				return nil
			}
			return write(r, m.exported())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachDocument calls f for every document of a tag, with its content, the oldest first.
func (p *Provider) eachDocument(ctx context.Context, tag string, f func(*document) error) error {
	with := true
	for n := 1; ; n++ {
		page, err := p.api.listDocuments(ctx, "export", &listRequest{
			ContainerTags: []string{tag}, IncludeContent: &with, Page: n, Limit: exportPage, Sort: "createdAt", Order: "asc",
		})
		if err != nil {
			return err
		}
		for i := range page.Memories {
			if err := f(&page.Memories[i]); err != nil {
				return err
			}
		}
		if n >= page.Pagination.TotalPages {
			return nil
		}
	}
}

// eachMemory calls f for every memory of a tag, forgotten ones included, the oldest first.
func (p *Provider) eachMemory(ctx context.Context, operation, tag string, f func(*memoryEntry) error) error {
	for n := 1; ; n++ {
		page, err := p.api.listMemories(ctx, operation, &listRequest{
			ContainerTags: []string{tag}, Page: n, Limit: memoryPage, Sort: "createdAt", Order: "asc",
		})
		if err != nil {
			return err
		}
		for i := range page.MemoryEntries {
			if err := f(&page.MemoryEntries[i]); err != nil {
				return err
			}
		}
		if n >= page.Pagination.TotalPages {
			return nil
		}
	}
}

// exported is what an export has of one thing: its text, and the rest as metadata.
type exported struct {
	kind, id, content string
	metadata          any
}

func write(r *memory.ExportRequest, e exported) error {
	metadata, err := rest.Encode(e.metadata)
	if err != nil {
		return failed("export", err)
	}
	return r.Write(&memory.ExportedRecord{Kind: e.kind, ID: e.id, Content: e.content, Metadata: metadata})
}

func (d *document) exported() exported {
	rest := *d
	rest.Content = nil
	return exported{kind: "document", id: d.ID, content: orEmpty(d.Content), metadata: rest}
}

func (m *memoryEntry) exported() exported {
	rest := *m
	rest.Memory = ""
	return exported{kind: "memory", id: m.ID, content: m.Memory, metadata: rest}
}
