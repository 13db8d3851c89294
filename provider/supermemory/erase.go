package supermemory

import (
	"context"
	"errors"

	"github.com/recollect-go/recollect/memory"
)

const erasePage = 100

// erase deletes the documents of both tags, then forgets the memories that are left. What fails does not keep the rest from
// being tried; erasing again goes on where it stopped.
func (p *Provider) erase(ctx context.Context, r *memory.EraseRequest) error {
	tags, err := p.tags("erase", r.Key)
	if err != nil {
		return err
	}
	return errors.Join(
		p.eraseDocuments(ctx, tags.context),
		p.eraseDocuments(ctx, tags.extraction),
		p.eraseMemories(ctx, tags.context),
		p.eraseMemories(ctx, tags.extraction),
	)
}

// eraseDocuments asks for the first page again and again, because what was deleted is no longer on it. A page that stays as
// it is ends in an error.
func (p *Provider) eraseDocuments(ctx context.Context, tag string) error {
	gone := make(map[string]bool)
	for {
		page, err := p.api.listDocuments(ctx, "erase", &listRequest{
			ContainerTags: []string{tag}, Page: 1, Limit: erasePage, Sort: "createdAt", Order: "asc",
		})
		if err != nil || len(page.Memories) == 0 {
			return err
		}
		removed := 0
		for _, d := range page.Memories {
			if gone[d.ID] {
				continue
			}
			if err := p.api.deleteDocument(ctx, "erase", d.ID); err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
			gone[d.ID] = true
			removed++
		}
		if removed == 0 {
			return failed("erase", ErrNotErased)
		}
	}
}

// eraseMemories walks the pages until a walk finds nothing that is not forgotten: forgetting may move what comes after to an
// earlier page.
func (p *Provider) eraseMemories(ctx context.Context, tag string) error {
	gone := make(map[string]bool)
	for {
		left, forgotten, err := p.forgetAll(ctx, tag, gone)
		if err != nil || left == 0 {
			return err
		}
		if forgotten == 0 {
			return failed("erase", ErrNotErased)
		}
	}
}

// forgetAll walks the pages once. It returns how many memories it found that are not forgotten, and how many of those it
// forgot; gone holds those that were forgotten already, whatever the service says.
func (p *Provider) forgetAll(ctx context.Context, tag string, gone map[string]bool) (left, forgotten int, err error) {
	err = p.eachMemory(ctx, "erase", tag, func(m *memoryEntry) error {
		if m.IsForgotten {
			return nil
		}
		left++
		if gone[m.ID] {
			return nil
		}
		_, err := p.api.forget(ctx, "erase", &forgetRequest{ContainerTag: tag, ID: m.ID, Reason: "erased"})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		gone[m.ID] = true
		forgotten++
		return nil
	})
	return left, forgotten, err
}
