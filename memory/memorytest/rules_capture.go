package memorytest

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/recollect-go/recollect/memory"
)

const replays = 8

// capture offers a turn in which the user said the text.
func (a *party) capture(id, text string) error {
	return a.call(func(ctx context.Context) error {
		if err := a.handlers.CaptureTurn(ctx, a.completed(id, text)); err != nil {
			return fmt.Errorf("calling CaptureTurn: %w", err)
		}
		return nil
	})
}

func captureRepeated(p *probe) error {
	if p.handlers.CaptureTurn == nil {
		return skip("the provider has no CaptureTurn")
	}
	a, err := p.one()
	if err != nil {
		return err
	}
	text := p.text("We moved to the Berlin office.")
	request := a.completed(a.newID("turn.completed"), text)
	if err := a.storesOnce(text, p.opts.Captures, func(ctx context.Context) error {
		return p.handlers.CaptureTurn(ctx, request)
	}); err != nil {
		return fmt.Errorf("calling CaptureTurn: %w", err)
	}
	return nil
}

func captureCompactionRepeated(p *probe) error {
	if p.handlers.CaptureCompaction == nil {
		return skip("the provider has no CaptureCompaction")
	}
	a, err := p.one()
	if err != nil {
		return err
	}
	text := p.text("We moved to the Berlin office.")
	completed := a.completed("", text)
	request := &memory.CompactionRequested{
		Operation:   a.under(a.newID("compaction.requested")),
		Messages:    completed.Messages,
		Turn:        &completed.Turn,
		ModelID:     "model",
		InputTokens: 1000,
	}
	if err := a.storesOnce(text, p.opts.CapturesCompaction, func(ctx context.Context) error {
		return p.handlers.CaptureCompaction(ctx, request)
	}); err != nil {
		return fmt.Errorf("calling CaptureCompaction: %w", err)
	}
	return nil
}

// storesOnce runs a capture several times, one after another and at once, and looks how often its text is stored. A text of
// which the model of the provider keeps nothing is allowed unless it is shown.
func (a *party) storesOnce(text string, shown bool, capture func(context.Context) error) error {
	for range 2 {
		if err := a.call(capture); err != nil {
			return err
		}
	}
	if shown {
		if err := a.mustSee(text); err != nil {
			return err
		}
	}
	a.settle()
	once, err := a.occurrences(text)
	if err != nil {
		return err
	}
	if once > 1 {
		return fmt.Errorf("captured twice with one operation id, the text is stored %d times", once)
	}
	var group errgroup.Group
	for range replays {
		group.Go(func() error { return a.call(capture) })
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("repeated %d times at once: %w", replays, err)
	}
	a.settle()
	again, err := a.occurrences(text)
	if err != nil {
		return err
	}
	if again != once {
		return fmt.Errorf("captured again with one operation id, the text is stored %d times instead of %d", again, once)
	}
	return nil
}

func captureDifferent(p *probe) error {
	if p.handlers.CaptureTurn == nil || !p.opts.Captures {
		return skip("the options do not say that a captured text can be recalled")
	}
	a, err := p.one()
	if err != nil {
		return err
	}
	first, second := p.text("We moved to the Berlin office."), p.text("The Berlin office closes at six.")
	for _, text := range []string{first, second} {
		if err := a.capture(a.newID("turn.completed"), text); err != nil {
			return err
		}
	}
	return errors.Join(a.mustSee(first), a.mustSee(second))
}

func captureCancelled(p *probe) error {
	if p.handlers.CaptureTurn == nil {
		return skip("the provider has no CaptureTurn")
	}
	a, err := p.one()
	if err != nil {
		return err
	}
	text := p.text("We moved to the Berlin office.")
	request := a.completed(a.newID("turn.completed"), text)
	ctx, cancel := context.WithCancel(p.ctx)
	cancel()
	if err := p.handlers.CaptureTurn(ctx, request); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("the context ended and CaptureTurn returned an error that does not match it: %w", err)
	}
	return a.storesOnce(text, p.opts.Captures, func(ctx context.Context) error { return p.handlers.CaptureTurn(ctx, request) })
}
