package memorytest

import (
	"context"
	"fmt"
	"strings"

	"github.com/recollect-go/recollect/memory"
)

func (a *party) erase() error {
	return a.call(func(ctx context.Context) error {
		if err := a.handlers.Erase(ctx, &memory.EraseRequest{Operation: a.under("")}); err != nil {
			return fmt.Errorf("calling Erase: %w", err)
		}
		return nil
	})
}

func eraseLeavesNothing(p *probe) error {
	if p.handlers.Erase == nil {
		return skip("the provider has no Erase")
	}
	a, b, err := p.two()
	if err != nil {
		return err
	}
	own, foreign := p.text("Reports are due on Friday."), p.text("Reports are due on Monday.")
	if err := a.mustSave(own); err != nil {
		return err
	}
	if err := b.mustSave(foreign); err != nil {
		return err
	}
	if err := a.erase(); err != nil {
		return err
	}
	p.settle()
	if err := a.mustNotSee(own, "it was erased"); err != nil {
		return err
	}
	if err := a.readsNothing(own); err != nil {
		return err
	}
	if err := a.exportsNothing(); err != nil {
		return err
	}
	if err := b.mustSee(foreign); err != nil {
		return fmt.Errorf("after another key was erased: %w", err)
	}
	again := p.text("Reports are due on Tuesday.")
	if err := a.mustSave(again); err != nil {
		return fmt.Errorf("after it was erased, the key cannot be used: %w", err)
	}
	return a.mustNotSee(own, "it was erased, and came back with the next text")
}

// readsNothing returns an error if a reading tool shows the text that is not there any more.
func (a *party) readsNothing(text string) error {
	for _, tool := range a.opts.ReadTools {
		if output, err := a.read(tool, "reports"); err == nil && strings.Contains(output, text) {
			return fmt.Errorf("tool %q shows what was erased", tool.Name)
		}
	}
	return nil
}

// exportsNothing returns an error if an export, where it is offered, has a record.
func (a *party) exportsNothing() error {
	if a.handlers.Export == nil {
		return nil
	}
	records, err := a.export()
	if err == nil && len(records) > 0 {
		err = fmt.Errorf("an export has %d records where nothing is stored", len(records))
	}
	return err
}

func eraseRepeated(p *probe) error {
	if p.handlers.Erase == nil {
		return skip("the provider has no Erase")
	}
	a, err := p.one()
	if err != nil {
		return err
	}
	if err := a.erase(); err != nil {
		return fmt.Errorf("of a key under which nothing is stored: %w", err)
	}
	if err := a.mustSave(p.text("Reports are due on Friday.")); err != nil {
		return err
	}
	for range 2 {
		if err := a.erase(); err != nil {
			return err
		}
	}
	return nil
}
