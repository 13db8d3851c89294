package memorytest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/memory"
)

const maxItemID = 1024

func attach(p *probe) error {
	again, err := p.provider.Attach(slotInfo())
	if err != nil {
		return fmt.Errorf("a second Attach: %w", err)
	}
	if again.Recall == nil {
		return errors.New("a second Attach has no Recall")
	}
	a, err := p.one()
	if err != nil {
		return err
	}
	text := p.text("Attached twice.")
	if err := a.mustSave(text); err != nil {
		return err
	}
	if _, err := p.provider.Attach(slotInfo()); err != nil {
		return fmt.Errorf("a third Attach: %w", err)
	}
	return a.mustSee(text)
}

func recallUnused(p *probe) error {
	a, err := p.one()
	if err != nil {
		return err
	}
	items, err := a.answer(&memory.TurnStarted{Operation: a.under(a.newID("turn.started")), Turn: a.turn("anything?")})
	if err != nil {
		return err
	}
	return validItems(items)
}

// answer returns the answer to a recall.
func (a *party) answer(request *memory.TurnStarted) (items []memory.Item, err error) {
	err = a.call(func(ctx context.Context) error {
		items, err = a.handlers.Recall(ctx, request)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("calling Recall: %w", err)
	}
	return items, nil
}

func recallValid(p *probe) error {
	a, err := p.one()
	if err != nil {
		return err
	}
	for i := range 5 {
		if err := a.mustSave(p.text(fmt.Sprintf("Fact number %d.", i))); err != nil {
			return err
		}
	}
	items, err := a.answer(&memory.TurnStarted{Operation: a.under(a.newID("turn.started")), Turn: a.turn("Which fact number is that?")})
	if err != nil {
		return err
	}
	return validItems(items)
}

func validItems(items []memory.Item) error {
	seen := make(map[string]bool)
	for i, item := range items {
		switch {
		case ecma.IsBlank(item.Content):
			return fmt.Errorf("item %d is blank", i)
		case !utf8.ValidString(item.Content) || !utf8.ValidString(item.ID):
			return fmt.Errorf("item %d is not UTF-8", i)
		case len(item.ID) > maxItemID:
			return fmt.Errorf("item %d has an id of %d bytes", i, len(item.ID))
		case item.ID != "" && seen[item.ID]:
			return fmt.Errorf("item %d has the id of an earlier one", i)
		}
		seen[item.ID] = true
	}
	return nil
}

func recallShows(p *probe) error {
	a, err := p.one()
	if err != nil {
		return err
	}
	first, second := p.text("Reports are due on Friday."), p.text("The staging database is called marigold.")
	if err := a.mustSave(first); err != nil {
		return err
	}
	if err := a.mustSave(second); err != nil {
		return err
	}
	return a.mustSee(first)
}

func recallRepeated(p *probe) error {
	a, err := p.one()
	if err != nil {
		return err
	}
	text := p.text("Reports are due on Friday.")
	if err := a.mustSave(text); err != nil {
		return err
	}
	p.settle()
	request := &memory.TurnStarted{Operation: a.under(a.newID("turn.started")), Turn: a.turn(text)}
	first, err := a.answer(request)
	if err != nil {
		return err
	}
	if p.opts.StableRecall {
		if err := a.call(func(ctx context.Context) error { return a.save(ctx, p.text("Stored after "+text)) }); err != nil {
			return fmt.Errorf("storing a text: %w", err)
		}
		p.settle()
	}
	second, err := a.answer(request)
	if err != nil {
		return fmt.Errorf("a second time: %w", err)
	}
	if !reflect.DeepEqual(first, second) {
		return fmt.Errorf("one operation id, two answers: %d items and %d items that are not equal", len(first), len(second))
	}
	return nil
}

// recallCancelled ends contexts before and during recalls. An answer that comes nevertheless is allowed, since the library
// drops it.
func recallCancelled(p *probe) error {
	a, err := p.one()
	if err != nil {
		return err
	}
	text := p.text("Reports are due on Friday.")
	if err := a.mustSave(text); err != nil {
		return err
	}
	for _, after := range []time.Duration{0, time.Microsecond, 50 * time.Microsecond, time.Millisecond} {
		if err := a.recallWithin(after); err != nil {
			return err
		}
	}
	return a.mustSee(text)
}

func (a *party) recallWithin(after time.Duration) error {
	ctx, cancel := context.WithTimeout(a.ctx, after)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := a.recall(ctx, a.newID("turn.started"), "anything?")
		failed <- err
	}()
	select {
	case err := <-failed:
		if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("the context ended and Recall returned an error that does not match it: %w", err)
		}
		return nil
	case <-time.After(a.opts.Patience):
		return fmt.Errorf("no answer of Recall within %s of the end of its context", a.opts.Patience)
	}
}

func recallCompacted(p *probe) error {
	if p.handlers.RecallCompacted == nil {
		return skip("the provider has no RecallCompacted")
	}
	a, b, err := p.two()
	if err != nil {
		return err
	}
	text := p.text("Reports are due on Friday.")
	if err := a.mustSave(text); err != nil {
		return err
	}
	for _, turn := range []*memory.Turn{nil, ptr(b.turn(text))} {
		items, err := b.recallCompacted(turn, text)
		if err != nil {
			return err
		}
		if err := validItems(items); err != nil {
			return err
		}
		if shows(items, p.opts.Text(text)) {
			return errors.New("a recall after a compaction shows what is stored under another key")
		}
	}
	return nil
}

func (a *party) recallCompacted(turn *memory.Turn, text string) (items []memory.Item, err error) {
	err = a.call(func(ctx context.Context) error {
		items, err = a.handlers.RecallCompacted(ctx, &memory.CompactionCompleted{
			Operation: a.under(a.newID("compaction.completed")),
			Messages:  []memory.Message{memory.NewMessage("user", memory.KindCheckpoint, "Summary follows."), memory.AssistantMessage(text)},
			Turn:      turn,
			ModelID:   "model",
		})
		if err != nil {
			return fmt.Errorf("calling RecallCompacted: %w", err)
		}
		return nil
	})
	return items, err
}
