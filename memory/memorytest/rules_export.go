package memorytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rawjson"
	"github.com/recollect-go/recollect/memory"
)

// export returns everything that the provider exports for the party, or why a record is none.
func (a *party) export() (records []memory.ExportedRecord, err error) {
	err = a.call(func(ctx context.Context) error {
		records = nil
		return a.exportTo(ctx, func(r *memory.ExportedRecord) error {
			if err := checkRecord(r); err != nil {
				return err
			}
			own := *r
			own.Metadata = append(json.RawMessage(nil), r.Metadata...)
			records = append(records, own)
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("calling Export: %w", err)
	}
	return records, nil
}

func (a *party) exportTo(ctx context.Context, write func(*memory.ExportedRecord) error) error {
	return a.handlers.Export(ctx, &memory.ExportRequest{Operation: a.under(""), Write: write})
}

func checkRecord(r *memory.ExportedRecord) error {
	switch {
	case r == nil || r.Kind == "":
		return errors.New("a record has no kind")
	case ecma.Valid(r.Kind) != nil || ecma.Valid(r.ID) != nil || ecma.Valid(r.Content) != nil:
		return errors.New("a record has text that is not valid UTF-8")
	case r.Metadata == nil:
		return nil
	}
	if compact, err := rawjson.Compact(r.Metadata); err != nil || rawjson.Kind(compact) != '{' {
		return fmt.Errorf("the metadata of a %s is no JSON object", r.Kind)
	}
	return nil
}

// exported reports whether a text is in a record, as it is or as it is shown.
func (a *party) exported(records []memory.ExportedRecord, text string) bool {
	for _, r := range records {
		if strings.Contains(r.Content, text) || strings.Contains(r.Content, a.opts.Text(text)) {
			return true
		}
	}
	return false
}

// exportHolds waits until the text is exported, after the time to settle at the latest.
func (a *party) exportHolds(text string) ([]memory.ExportedRecord, error) {
	deadline := time.Now().Add(a.opts.Settle)
	for {
		records, err := a.export()
		if err != nil || a.exported(records, text) {
			return records, err
		}
		if !time.Now().Before(deadline) {
			return nil, fmt.Errorf("%.80q was stored and is not exported", text)
		}
		time.Sleep(a.opts.Settle/10 + time.Millisecond)
	}
}

func exportHoldsWhatIsStored(p *probe) error {
	if p.handlers.Export == nil {
		return skip("the provider has no Export")
	}
	a, b, err := p.two()
	if err != nil {
		return err
	}
	if err := a.exportsNothing(); err != nil {
		return fmt.Errorf("of a key under which nothing is stored: %w", err)
	}
	own, foreign := p.text("Reports are due on Friday."), p.text("Reports are due on Monday.")
	if err := a.mustSave(own); err != nil {
		return err
	}
	if err := b.mustSave(foreign); err != nil {
		return err
	}
	records, err := a.exportHolds(own)
	if err != nil {
		return err
	}
	if a.exported(records, foreign) {
		return errors.New("the export holds what is stored under another key")
	}
	again, err := a.export()
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(records, again) {
		return errors.New("two exports of the same are not the same")
	}
	return nil
}

func exportStops(p *probe) error {
	if p.handlers.Export == nil {
		return skip("the provider has no Export")
	}
	a, err := p.one()
	if err != nil {
		return err
	}
	for range 3 {
		if err := a.mustSave(p.text("Reports are due on Friday.")); err != nil {
			return err
		}
	}
	full, writes := errors.New("the disk is full"), 0
	err = a.call(func(ctx context.Context) error {
		return a.exportTo(ctx, func(*memory.ExportedRecord) error {
			writes++
			return full
		})
	})
	if writes > 0 && !errors.Is(err, full) {
		return fmt.Errorf("after Write failed, Export did not return its error but: %v", err)
	}
	if writes > 1 {
		return fmt.Errorf("although it failed, Write was called %d times", writes)
	}
	ctx, cancel := context.WithCancel(p.ctx)
	cancel()
	if err := a.exportTo(ctx, func(*memory.ExportedRecord) error { return nil }); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("the context ended and Export returned an error that does not match it: %w", err)
	}
	return nil
}
