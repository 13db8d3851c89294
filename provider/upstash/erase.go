package upstash

import (
	"context"

	"github.com/recollect-go/recollect/memory"
)

// erase removes every record and every kept recall of the key. It scans the key space, because an index may not know yet
// what was written just before. A failure in between leaves the rest; erasing again removes it.
func (p *Provider) erase(ctx context.Context, r *memory.EraseRequest) error {
	if err := accept(ctx, "erase", r.Key); err != nil {
		return err
	}
	for _, prefix := range []string{p.recordPrefix(r.Key), p.replayPrefix(r.Key)} {
		if err := p.erasePrefix(ctx, prefix); err != nil {
			return err
		}
	}
	return p.waitIndexing(ctx, "erase")
}

func (p *Provider) erasePrefix(ctx context.Context, prefix string) error {
	for cursor := "0"; ; {
		page, err := p.client.scan(ctx, "erase", prefix, cursor, scanCount)
		if err != nil {
			return err
		}
		if len(page.keys) > 0 {
			if _, err := p.client.run(ctx, "erase", append(command{"DEL"}, page.keys...)); err != nil {
				return err
			}
		}
		if page.next == "0" {
			return nil
		}
		cursor = page.next
	}
}
