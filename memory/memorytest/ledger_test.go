package memorytest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/recollect-go/recollect/memory"
)

// ledger is a provider that keeps every rule: it stores lines under keys and operations, captures what users say, and has a
// tool to save and one to find. The broken providers of the kit's tests are made from it, each with one field.
type ledger struct {
	mu    sync.Mutex
	pages map[string]*page

	// partition returns under what a key is stored.
	partition func(memory.Operation) string
	// seen reports whether a capture was done before.
	seen func(p *page, operation string) bool
	// shown returns a stored line as it is recalled.
	shown func(line string) string
}

type page struct {
	lines      []string
	operations map[string]bool
	recalls    map[string][]memory.Item
}

func newLedger() *ledger {
	return &ledger{
		pages:     make(map[string]*page),
		partition: func(o memory.Operation) string { return o.Key },
		seen:      func(p *page, operation string) bool { return p.operations[operation] },
		shown:     func(line string) string { return line },
	}
}

// under runs f with the page of an operation.
func (l *ledger) under(ctx context.Context, o memory.Operation, f func(*page)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	name := l.partition(o)
	if l.pages[name] == nil {
		l.pages[name] = &page{operations: make(map[string]bool), recalls: make(map[string][]memory.Item)}
	}
	f(l.pages[name])
	return nil
}

func (l *ledger) handlers() memory.Handlers {
	return memory.Handlers{
		Recall: func(ctx context.Context, r *memory.TurnStarted) ([]memory.Item, error) {
			return l.recall(ctx, r.Operation)
		},
		RecallCompacted: func(ctx context.Context, r *memory.CompactionCompleted) ([]memory.Item, error) {
			return l.recall(ctx, r.Operation)
		},
		CaptureTurn: func(ctx context.Context, r *memory.TurnCompleted) error {
			return l.capture(ctx, r.Operation, r.Turn.Input)
		},
		CaptureCompaction: func(ctx context.Context, r *memory.CompactionRequested) error { return l.captureCompaction(ctx, r) },
		Tools:             l.tools,
		Erase: func(ctx context.Context, r *memory.EraseRequest) error {
			return l.under(ctx, r.Operation, func(*page) { delete(l.pages, l.partition(r.Operation)) })
		},
		Export: l.export,
	}
}

func (l *ledger) export(ctx context.Context, r *memory.ExportRequest) error {
	var lines []string
	if err := l.under(ctx, r.Operation, func(p *page) { lines = slices.Clone(p.lines) }); err != nil {
		return err
	}
	for i, line := range lines {
		record := &memory.ExportedRecord{Kind: "line", ID: fmt.Sprint(i), Content: line, Metadata: json.RawMessage(`{"page":1}`)}
		if err := r.Write(record); err != nil {
			return err
		}
	}
	return nil
}

func (l *ledger) Attach(memory.SlotInfo) (memory.Handlers, error) { return l.handlers(), nil }

func (l *ledger) recall(ctx context.Context, o memory.Operation) (items []memory.Item, err error) {
	err = l.under(ctx, o, func(p *page) {
		if _, known := p.recalls[o.ID]; !known {
			for i, line := range p.lines {
				p.recalls[o.ID] = append(p.recalls[o.ID], memory.Item{ID: fmt.Sprint(i), Content: l.shown(line)})
			}
		}
		items = slices.Clone(p.recalls[o.ID])
	})
	return items, err
}

func (l *ledger) capture(ctx context.Context, o memory.Operation, input []memory.Message) error {
	return l.under(ctx, o, func(p *page) {
		if l.seen(p, o.ID) {
			return
		}
		p.operations[o.ID] = true
		for _, m := range input {
			p.lines = append(p.lines, m.Text())
		}
	})
}

func (l *ledger) captureCompaction(ctx context.Context, r *memory.CompactionRequested) error {
	if r.Turn == nil {
		return nil
	}
	return l.capture(ctx, r.Operation, r.Turn.Input)
}

const saveSchema = `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`

func (l *ledger) tools(_ context.Context, r *memory.ToolsRequest) ([]memory.Tool, error) {
	save, err := memory.NewTool("save", "Saves a text.", json.RawMessage(saveSchema),
		func(ctx context.Context, in struct {
			Text string `json:"text"`
		}) (bool, error) {
			return true, l.under(ctx, r.Operation, func(p *page) { p.lines = append(p.lines, in.Text) })
		})
	if err != nil {
		return nil, err
	}
	find, err := memory.NewTool("find", "Finds texts.", json.RawMessage(saveSchema),
		func(ctx context.Context, in struct {
			Text string `json:"text"`
		}) (found []string, err error) {
			err = l.under(ctx, r.Operation, func(p *page) {
				for _, line := range p.lines {
					if strings.Contains(line, in.Text) {
						found = append(found, line)
					}
				}
			})
			return found, err
		})
	return []memory.Tool{save, find}, err
}

// ledgerOptions declare what a ledger does.
func ledgerOptions() *Options {
	return &Options{
		SaveTool: "save", SaveArgument: "text", Captures: true, CapturesCompaction: true, StableRecall: true,
		ReadTools: []ReadTool{{Name: "find", Input: func(text string) string { return saveInput("text", text) }}},
	}
}
