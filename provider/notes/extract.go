package notes

import (
	"context"
	"fmt"

	"github.com/recollect-go/recollect/internal/dialogue"
	"github.com/recollect-go/recollect/memory"
)

// Extractor makes facts of a turn: the host's function, usually a call of a model. It is called before anything is stored,
// more than once for one operation if the first time was not the end of it. An error fails the capture, of which nothing is
// stored then and which can be repeated.
type Extractor func(ctx context.Context, r *ExtractRequest) ([]FactChange, error)

// ExtractRequest is a turn to make facts of.
type ExtractRequest struct {
	memory.Operation
	// Messages are what the people and the model said in the turn, in their order. Recalled records are not among them.
	Messages []memory.Message
	// Known are the facts that fit the messages best, so that one of them can be replaced or dropped.
	Known []Note
}

// FactChange is one thing that an Extractor wants changed.
type FactChange struct {
	// ID is the fact that is replaced or dropped, one of Known. "" adds one. The id of anything else drops nothing, and what
	// should replace it is added.
	ID string
	// Text is the fact. "" drops the one with ID.
	Text string
}

// known is how many facts an Extractor is shown.
const known = 20

// extraction is what an Extractor wants, prepared.
type extraction struct {
	changes []FactChange
	facts   []prepared // one for each change with a text, in their order
}

// extract asks the Extractor.
func (p *Provider) extract(ctx context.Context, o *memory.Operation, turn *memory.Turn, own []memory.Message) (*extraction, error) {
	if p.opts.Extractor == nil {
		return &extraction{}, nil
	}
	request := &ExtractRequest{Operation: *o, Messages: own}
	found, err := p.store.search(ctx, o.Key, &SearchRequest{Query: dialogue.Query(nil, own, maxQuery), Facts: known})
	if err != nil {
		return nil, err
	}
	for _, hit := range found.Facts {
		request.Known = append(request.Known, hit.Note)
	}
	changes, err := p.opts.Extractor(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExtraction, err)
	}
	return p.prepareExtraction(ctx, o, turn, changes)
}

func (p *Provider) prepareExtraction(ctx context.Context, o *memory.Operation, turn *memory.Turn, changes []FactChange) (*extraction, error) {
	var out extraction
	var drafts []Draft
	for _, change := range changes {
		switch {
		case change.Text == "" && change.ID == "":
			return nil, fmt.Errorf("%w: a change without id and text", ErrExtraction)
		case change.Text == "":
		case p.validate(ctx, o, Fact, SourceExtracted, change.Text) != nil:
			continue
		default:
			if err := p.store.checkText(change.Text); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrExtraction, err)
			}
			drafts = append(drafts, Draft{Kind: Fact, Text: change.Text, Provenance: Provenance{
				Source: SourceExtracted, Session: o.Session.ID, Turn: turn.ID, Said: p.store.opts.Now().UTC(),
			}})
		}
		out.changes = append(out.changes, change)
	}
	var err error
	out.facts, err = p.store.prepareDrafts(ctx, drafts)
	return &out, err
}

// applyExtraction carries the changes out in their order. A fact that is gone needs no dropping, and its replacement is
// added.
func (c *change) applyExtraction(e *extraction) error {
	facts := e.facts
	for _, change := range e.changes {
		if change.Text == "" {
			if err := c.dropFact(change.ID); err != nil {
				return err
			}
			continue
		}
		fact := facts[:1]
		facts = facts[1:]
		if err := c.applyFact(change.ID, fact); err != nil {
			return err
		}
	}
	return nil
}

// dropFact deletes a fact. What was said is not an Extractor's to drop.
func (c *change) dropFact(id string) error {
	numbers := c.numbersOf([]string{id})
	rows, err := c.removable(numbers)
	if err != nil || len(rows) == 0 || rows[0].kind != Fact {
		return err
	}
	_, err = c.remove(numbers)
	return err
}

func (c *change) applyFact(id string, fact []prepared) error {
	rows, err := c.live(c.numbersOf([]string{id}))
	if err != nil {
		return err
	}
	if len(rows) > 0 && rows[0].kind == Fact {
		_, err = c.replace(id, &fact[0], SourceExtracted)
		return err
	}
	_, err = c.addAll(fact)
	return err
}
