package notes

import (
	"context"
	"errors"
	"fmt"

	"github.com/recollect-go/recollect/internal/dialogue"
	"github.com/recollect-go/recollect/memory"
)

func (p *Provider) captureTurn(ctx context.Context, r *memory.TurnCompleted) error {
	return p.capture(ctx, &r.Operation, &r.Turn, r.Messages, false)
}

// captureCompaction keeps what the turn at hand has said so far. Between turns there is nothing to keep: a completed turn
// was captured when it was completed, a failed one is not captured, and to whom the older messages of a history belong is
// not known here, since a turn of somebody else may be among them.
func (p *Provider) captureCompaction(ctx context.Context, r *memory.CompactionRequested) error {
	if r.Turn == nil {
		return ctx.Err()
	}
	return p.capture(ctx, &r.Operation, r.Turn, r.Messages, true)
}

// capture keeps the turn's own messages, once for each operation. A message that a compaction kept already, when the turn goes
// on, is not kept again, also if it was forgotten since.
//
// Messages over the limit of a note are left out, and after the others are stored the error says so: once, since it would
// not become better.
func (p *Provider) capture(ctx context.Context, o *memory.Operation, turn *memory.Turn, messages []memory.Message, goesOn bool) error {
	own := conversation(dialogue.Own(turn, messages))
	done, err := p.store.done(ctx, o.Key, o.ID)
	if err != nil || done || len(own) == 0 {
		return failed(ctx, "capture", err)
	}
	captured, refused, err := p.utterances(ctx, o, turn, own)
	if err != nil {
		return failed(ctx, "capture", err)
	}
	facts, err := p.extract(ctx, o, turn, own)
	if err != nil {
		return failed(ctx, "capture", err)
	}
	err = p.store.change(ctx, o.Key, func(c *change) error {
		return c.once(o.ID, func() error { return c.keep(captured, facts, goesOn) })
	})
	return failed(ctx, "capture", errors.Join(err, refused))
}

// once runs f unless the operation was done before, and notes that it is done.
func (c *change) once(operation string, f func() error) error {
	if operation != "" {
		begun, err := c.execute(c.sql.beginOperation, operationDigest(operation), c.now)
		if err != nil || begun == 0 {
			return err
		}
	}
	return f()
}

func (c *change) keep(captured []prepared, facts *extraction, goesOn bool) error {
	fresh, err := c.notKept(captured)
	if err != nil {
		return err
	}
	if _, err := c.addAll(fresh); err != nil {
		return err
	}
	if goesOn {
		if err := c.noteKept(fresh); err != nil {
			return err
		}
	}
	return c.applyExtraction(facts)
}

// noteKept notes that the drafts were kept before the end of their turn: by their origins, beside the operations.
func (c *change) noteKept(drafts []prepared) error {
	for i := range drafts {
		if _, err := c.execute(c.sql.beginOperation, drafts[i].origin, c.now); err != nil {
			return err
		}
	}
	return nil
}

// notKept returns the drafts of which that was not noted.
func (c *change) notKept(captured []prepared) (fresh []prepared, err error) {
	for i := range captured {
		kept, err := c.numbers(c.sql.operation, captured[i].origin)
		if err != nil {
			return nil, err
		}
		if len(kept) == 0 {
			fresh = append(fresh, captured[i])
		}
	}
	return fresh, nil
}

// done reports whether the operation was done before.
func (s *Store) done(ctx context.Context, key, operation string) (bool, error) {
	if err := s.admit(ctx, key); err != nil {
		return false, err
	}
	var found []int64
	err := s.retry(ctx, func() (err error) {
		found, err = collect(ctx, s.db, s.sql.operation, []any{key, operationDigest(operation)}, func(scan scanner) (n int64, err error) {
			return n, scan(&n)
		})
		return err
	})
	return len(found) > 0, err
}

// conversation returns what people and the model said; recalled records, summaries and tools are not part of it.
func conversation(messages []memory.Message) (said []memory.Message) {
	for i, m := range messages {
		one := messages[i : i+1]
		if len(dialogue.Said(one))+len(dialogue.Answered(one)) > 0 {
			said = append(said, m)
		}
	}
	return said
}

// utterances returns the messages that are to be kept, and an error for those that are too large.
func (p *Provider) utterances(ctx context.Context, o *memory.Operation, turn *memory.Turn, own []memory.Message) (kept []prepared, refused, err error) {
	var drafts []Draft
	for _, m := range own {
		if !p.keeps(m) {
			continue
		}
		d := Draft{Kind: Utterance, Text: m.Text(), Provenance: Provenance{
			Source: SourceCaptured, Role: m.Role(), Session: o.Session.ID, Turn: turn.ID, Said: p.store.opts.Now().UTC(),
		}}
		switch err := p.store.checkText(d.Text); {
		case errors.Is(err, ErrTooLarge):
			refused = errors.Join(refused, fmt.Errorf("a message is not kept: %w", err))
			continue
		case err != nil:
			return nil, nil, err
		}
		if p.validate(ctx, o, d.Kind, d.Source, d.Text) == nil {
			drafts = append(drafts, d)
		}
	}
	kept, err = p.store.prepareDrafts(ctx, drafts)
	return kept, refused, err
}

func (p *Provider) keeps(m memory.Message) bool {
	switch p.opts.Capture {
	case CaptureConversation:
		return true
	case CaptureUser:
		return m.Role() == memory.RoleUser
	}
	return false
}

// validate returns an error matching ErrRefused when the host refuses the text.
func (p *Provider) validate(ctx context.Context, o *memory.Operation, kind Kind, source Source, text string) error {
	if p.opts.Validate == nil {
		return nil
	}
	if err := p.opts.Validate(ctx, &ValidateRequest{Slot: o.Slot, Key: o.Key, Kind: kind, Source: source, Text: text}); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return nil
}
