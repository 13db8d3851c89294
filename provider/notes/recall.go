package notes

import (
	"context"

	"github.com/recollect-go/recollect/internal/dialogue"
	"github.com/recollect-go/recollect/memory"
)

// maxQuery is how much of what is asked is looked for, in UTF-16 units.
const maxQuery = 4000

func (p *Provider) recall(ctx context.Context, r *memory.TurnStarted) ([]memory.Item, error) {
	return p.answer(ctx, &r.Operation, dialogue.Query(&r.Turn, r.Messages, maxQuery))
}

func (p *Provider) recallCompacted(ctx context.Context, r *memory.CompactionCompleted) ([]memory.Item, error) {
	return p.answer(ctx, &r.Operation, dialogue.Query(r.Turn, r.Messages, maxQuery))
}

// answer returns what was recalled under the operation's id before, or else the notes that fit the query.
func (p *Provider) answer(ctx context.Context, o *memory.Operation, query string) ([]memory.Item, error) {
	if p.opts.NoRecall {
		return nil, ctx.Err()
	}
	keep := p.opts.Replays > 0 && o.ID != ""
	if !keep {
		shown, err := p.look(ctx, o, query)
		return shown.items, failed(ctx, "recall", err)
	}
	items, err := p.kept(ctx, o, query)
	return items, failed(ctx, "recall", err)
}

// kept looks, and records what it found. When a note was deleted between the two, or the same operation was recorded by
// somebody else, it begins again.
func (p *Provider) kept(ctx context.Context, o *memory.Operation, query string) ([]memory.Item, error) {
	for {
		items, found, err := p.store.recalled(ctx, o.Key, o.ID)
		if err != nil || found {
			return items, err
		}
		shown, err := p.look(ctx, o, query)
		if err != nil {
			return nil, err
		}
		recorded, err := p.store.record(ctx, o.Key, o.ID, shown, p.opts.Replays)
		if err != nil || recorded {
			return shown.items, err
		}
	}
}

func (p *Provider) look(ctx context.Context, o *memory.Operation, query string) (shown, error) {
	if query == "" {
		return shown{}, p.store.admit(ctx, o.Key)
	}
	found, err := p.store.search(ctx, o.Key, &SearchRequest{Query: query, Facts: p.opts.Facts, Utterances: p.opts.Utterances})
	if err != nil {
		return shown{}, err
	}
	return fit(o.Slot, found, p.opts.MaxBytes), nil
}
