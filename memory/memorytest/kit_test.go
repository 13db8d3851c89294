package memorytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
)

func TestProviderThatKeepsEveryRulePasses(t *testing.T) {
	t.Parallel()
	Run(t, func(*testing.T) memory.Provider { return newLedger() }, ledgerOptions())
}

func TestProviderThatOnlyCapturesPasses(t *testing.T) {
	t.Parallel()
	Run(t, func(*testing.T) memory.Provider {
		h := newLedger().handlers()
		h.Tools, h.Erase, h.Export, h.RecallCompacted, h.CaptureCompaction = nil, nil, nil, nil, nil
		return h
	}, nil)
}

func TestProviderThatIsOnlyReadPasses(t *testing.T) {
	t.Parallel()
	shared := newLedger()
	Run(t, func(*testing.T) memory.Provider { return memory.Handlers{Recall: shared.handlers().Recall} }, &Options{
		Seed: func(ctx context.Context, key, text string) error {
			return shared.under(ctx, memory.Operation{Key: key}, func(p *page) { p.lines = append(p.lines, text) })
		},
	})
}

func TestProviderThatTakesItsTimePasses(t *testing.T) {
	t.Parallel()
	delay := 20 * time.Millisecond
	Run(t, func(*testing.T) memory.Provider {
		l := newLedger()
		began := make(map[string]time.Time)
		var mu sync.Mutex
		h := l.handlers()
		recall := h.Recall
		h.CaptureCompaction, h.RecallCompacted = nil, nil
		h.Recall = func(ctx context.Context, r *memory.TurnStarted) ([]memory.Item, error) {
			items, err := recall(ctx, r)
			mu.Lock()
			defer mu.Unlock()
			return slices.DeleteFunc(items, func(i memory.Item) bool {
				if began[i.Content].IsZero() {
					began[i.Content] = time.Now()
				}
				return time.Since(began[i.Content]) < delay
			}), err
		}
		return h
	}, &Options{Captures: true, Settle: 200 * time.Millisecond, Scale: 2})
}

func TestTimeToSettleIsNoneOfACall(t *testing.T) {
	t.Parallel()
	opts := ledgerOptions()
	opts.Settle, opts.Patience = 200*time.Millisecond, 100*time.Millisecond
	require.NoError(t, find(t, "recall repeated").run(newLedger(), opts.withDefaults()))
}

// broken are providers with one mistake each, and the rules that must find it.
var broken = map[string]struct {
	make  func() memory.Provider
	rules []string
}{
	"no recall": {
		func() memory.Provider { return memory.Handlers{} },
		[]string{"recall of an unused key"},
	},
	"attach that empties the store": {
		func() memory.Provider { return forgetful{newLedger()} },
		[]string{"attach has no side effects"},
	},
	"one store for everybody": {
		func() memory.Provider {
			return ledgerWith(func(l *ledger) { l.partition = func(memory.Operation) string { return "" } })
		},
		[]string{"isolation of recall", "isolation of capture", "isolation of tools", "isolation of reading tools", "recall after compaction"},
	},
	"partition by user id": {
		func() memory.Provider {
			return ledgerWith(func(l *ledger) {
				l.partition = func(o memory.Operation) string { return o.Session.Current.ID }
			})
		},
		[]string{"isolation of recall", "isolation of capture", "isolation of tools"},
	},
	"partition by joined scope": {
		func() memory.Provider {
			return ledgerWith(func(l *ledger) {
				l.partition = func(o memory.Operation) string { return string(o.Namespace) + strings.Join(o.Scope.Parts(), "") }
			})
		},
		[]string{"isolation of recall"},
	},
	"partition without the namespace": {
		func() memory.Provider {
			return ledgerWith(func(l *ledger) {
				l.partition = func(o memory.Operation) string { return fmt.Sprint(o.Session.ID, o.Scope) }
			})
		},
		[]string{"isolation of recall"},
	},
	"partition folded to lower case": {
		func() memory.Provider {
			return ledgerWith(func(l *ledger) {
				l.partition = func(o memory.Operation) string {
					return strings.ToLower(string(o.Namespace) + fmt.Sprintf("%q", o.Scope.Parts()))
				}
			})
		},
		[]string{"isolation of recall"},
	},
	"tools of the latest key": {
		func() memory.Provider {
			l := newLedger()
			return changed(l, func(h *memory.Handlers) {
				var latest memory.Operation
				var mu sync.Mutex
				h.Tools = func(ctx context.Context, r *memory.ToolsRequest) ([]memory.Tool, error) {
					mu.Lock()
					defer mu.Unlock()
					latest = r.Operation
					tools, err := l.tools(ctx, r)
					for i := range tools {
						name := tools[i].Name
						tools[i].Call = func(ctx context.Context, c *memory.ToolCall) (json.RawMessage, error) {
							mu.Lock()
							now, err := l.tools(ctx, &memory.ToolsRequest{Operation: latest})
							mu.Unlock()
							if err != nil {
								return nil, err
							}
							tool, err := named(now, name)
							if err != nil {
								return nil, err
							}
							return tool.Call(ctx, c)
						}
					}
					return tools, err
				}
			})
		},
		[]string{"isolation of tools"},
	},
	"capture without idempotency": {
		func() memory.Provider {
			return ledgerWith(func(l *ledger) { l.seen = func(*page, string) bool { return false } })
		},
		[]string{"capture repeated", "capture cancelled", "capture of a compaction repeated"},
	},
	"capture with one idempotency for all keys": {
		func() memory.Provider {
			return ledgerWith(func(l *ledger) {
				done := make(map[string]bool)
				l.seen = func(_ *page, operation string) bool {
					was := done[operation]
					done[operation] = true
					return was
				}
			})
		},
		[]string{"isolation of capture"},
	},
	"capture that is done once": {
		func() memory.Provider {
			return ledgerWith(func(l *ledger) { l.seen = func(p *page, _ string) bool { return len(p.operations) > 0 } })
		},
		[]string{"capture of different turns"},
	},
	"capture that marks before it stores": {
		func() memory.Provider {
			l := newLedger()
			return changed(l, func(h *memory.Handlers) {
				h.CaptureTurn = func(ctx context.Context, r *memory.TurnCompleted) error {
					if ctx.Err() != nil {
						_ = l.under(context.Background(), r.Operation, func(p *page) { p.operations[r.ID] = true })
						return ctx.Err()
					}
					return l.capture(ctx, r.Operation, r.Turn.Input)
				}
			})
		},
		[]string{"capture cancelled"},
	},
	"recall that differs": {
		func() memory.Provider {
			l := newLedger()
			return changed(l, func(h *memory.Handlers) {
				n := 0
				h.Recall = func(ctx context.Context, r *memory.TurnStarted) ([]memory.Item, error) {
					items, err := l.recall(ctx, r.Operation)
					n++
					return append(items, memory.Item{Content: fmt.Sprint("recall ", n)}), err
				}
			})
		},
		[]string{"recall repeated"},
	},
	"recall that follows the store": {
		func() memory.Provider {
			l := newLedger()
			return changed(l, func(h *memory.Handlers) {
				h.Recall = func(ctx context.Context, r *memory.TurnStarted) (items []memory.Item, err error) {
					err = l.under(ctx, r.Operation, func(p *page) {
						for i, line := range p.lines {
							items = append(items, memory.Item{ID: fmt.Sprint(i), Content: line})
						}
					})
					return items, err
				}
			})
		},
		[]string{"recall repeated"},
	},
	"recall that ignores its context": {
		func() memory.Provider {
			l := newLedger()
			return changed(l, func(h *memory.Handlers) {
				h.Recall = func(ctx context.Context, r *memory.TurnStarted) ([]memory.Item, error) {
					if ctx.Err() != nil {
						time.Sleep(time.Second)
					}
					return l.recall(context.WithoutCancel(ctx), r.Operation)
				}
			})
		},
		[]string{"recall cancelled"},
	},
	"recall that hides why it ended": {
		func() memory.Provider {
			l := newLedger()
			return changed(l, func(h *memory.Handlers) {
				h.Recall = func(ctx context.Context, r *memory.TurnStarted) ([]memory.Item, error) {
					items, err := l.recall(ctx, r.Operation)
					if err != nil {
						err = errors.New("storage failed")
					}
					return items, err
				}
			})
		},
		[]string{"recall cancelled"},
	},
	"blank items": {
		func() memory.Provider {
			return ledgerWith(func(l *ledger) { l.shown = func(string) string { return "\u3000" } })
		},
		[]string{"recall is valid"},
	},
	"one id for all items": {
		func() memory.Provider {
			l := newLedger()
			return changed(l, func(h *memory.Handlers) {
				h.Recall = func(ctx context.Context, r *memory.TurnStarted) ([]memory.Item, error) {
					items, err := l.recall(ctx, r.Operation)
					for i := range items {
						items[i].ID = "document"
					}
					return items, err
				}
			})
		},
		[]string{"recall is valid"},
	},
	"content that is escaped": {
		func() memory.Provider {
			return ledgerWith(func(l *ledger) { l.shown = func(s string) string { return strings.ReplaceAll(s, "<", "&lt;") } })
		},
		[]string{"hostile content"},
	},
	"content that is cut": {
		func() memory.Provider {
			return ledgerWith(func(l *ledger) { l.shown = func(s string) string { return s[:min(len(s), 500)] } })
		},
		[]string{"hostile content"},
	},
	"content without control characters": {
		func() memory.Provider {
			return ledgerWith(func(l *ledger) {
				l.shown = func(s string) string {
					return strings.Map(func(r rune) rune {
						if r < ' ' {
							return -1
						}
						return r
					}, s)
				}
			})
		},
		[]string{"hostile content"},
	},
	"tool with a partition": {
		func() memory.Provider {
			return withTool(func(t *memory.Tool) {
				t.InputSchema = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"filter":{"type":"object","properties":{"User-ID":{"type":"string"}}}},"additionalProperties":false}`)
			})
		},
		[]string{"tools take no partition"},
	},
	"tool with an open schema": {
		func() memory.Provider {
			return withTool(func(t *memory.Tool) { t.InputSchema = json.RawMessage(`{"type":"object"}`) })
		},
		[]string{"tools are well formed"},
	},
	"tool with a bad name": {
		func() memory.Provider { return withTool(func(t *memory.Tool) { t.Name = strings.Repeat("n", 60) }) },
		[]string{"tools are well formed"},
	},
	"tool that takes anything": {
		func() memory.Provider {
			return withTool(func(t *memory.Tool) {
				strict := t.Call
				t.Call = func(ctx context.Context, c *memory.ToolCall) (json.RawMessage, error) {
					var in struct{ Text string }
					_ = json.Unmarshal(c.Input, &in)
					return strict(ctx, &memory.ToolCall{Input: json.RawMessage(saveInput("text", in.Text))})
				}
			})
		},
		[]string{"tools refuse unknown arguments"},
	},
	"tools in the order of a map": {
		func() memory.Provider {
			l := newLedger()
			return changed(l, func(h *memory.Handlers) {
				n := 0
				h.Tools = func(ctx context.Context, r *memory.ToolsRequest) ([]memory.Tool, error) {
					tools, err := l.tools(ctx, r)
					if n++; n%2 == 0 {
						slices.Reverse(tools)
					}
					return tools, err
				}
			})
		},
		[]string{"tools keep their order"},
	},
	"tools that need the input": {
		func() memory.Provider {
			l := newLedger()
			return changed(l, func(h *memory.Handlers) {
				h.Tools = func(ctx context.Context, r *memory.ToolsRequest) ([]memory.Tool, error) {
					tools, err := l.tools(ctx, r)
					if len(r.Turn.Input) == 0 {
						return tools[:1], err
					}
					return tools, err
				}
			})
		},
		[]string{"tools resumed elsewhere"},
	},
	"requests that are changed": {
		func() memory.Provider {
			l := newLedger()
			return changed(l, func(h *memory.Handlers) {
				h.CaptureTurn = func(ctx context.Context, r *memory.TurnCompleted) error {
					r.Messages[0] = memory.UserMessage("changed")
					return l.capture(ctx, r.Operation, r.Turn.Input)
				}
			})
		},
		[]string{"requests are read-only"},
	},
	"last writer wins": {
		func() memory.Provider { return &careless{} },
		[]string{"concurrency"},
	},
	"erase that leaves the texts": {
		func() memory.Provider {
			return changed(newLedger(), func(h *memory.Handlers) {
				h.Erase = func(context.Context, *memory.EraseRequest) error { return nil }
			})
		},
		[]string{"erase leaves nothing"},
	},
	"erase of everything": {
		func() memory.Provider {
			l := newLedger()
			return changed(l, func(h *memory.Handlers) {
				h.Erase = func(context.Context, *memory.EraseRequest) error {
					l.mu.Lock()
					defer l.mu.Unlock()
					clear(l.pages)
					return nil
				}
			})
		},
		[]string{"erase leaves nothing"},
	},
	"erase that fails on nothing": {
		func() memory.Provider {
			l := newLedger()
			erase := l.handlers().Erase
			return changed(l, func(h *memory.Handlers) {
				h.Erase = func(ctx context.Context, r *memory.EraseRequest) error {
					l.mu.Lock()
					_, known := l.pages[r.Key]
					l.mu.Unlock()
					if !known {
						return errors.New("not found")
					}
					return erase(ctx, r)
				}
			})
		},
		[]string{"erase repeated"},
	},
	"erase that leaves the texts to an export": {
		func() memory.Provider {
			l := newLedger()
			return changed(l, func(h *memory.Handlers) {
				h.Export = func(_ context.Context, r *memory.ExportRequest) error {
					return r.Write(&memory.ExportedRecord{Kind: "line", Content: "kept elsewhere"})
				}
			})
		},
		[]string{"erase leaves nothing", "export holds what is stored"},
	},
	"export without the newest": {
		func() memory.Provider {
			return exporting(func(lines []string) []string { return lines[:max(0, len(lines)-1)] })
		},
		[]string{"export holds what is stored"},
	},
	"export of everybody": {
		func() memory.Provider {
			l := newLedger()
			return changed(l, func(h *memory.Handlers) {
				h.Export = func(_ context.Context, r *memory.ExportRequest) error {
					l.mu.Lock()
					defer l.mu.Unlock()
					for _, p := range l.pages {
						for _, line := range p.lines {
							if err := r.Write(&memory.ExportedRecord{Kind: "line", Content: line}); err != nil {
								return err
							}
						}
					}
					return nil
				}
			})
		},
		[]string{"export holds what is stored"},
	},
	"export without kinds": {
		func() memory.Provider { return exportingAs(memory.ExportedRecord{}) },
		[]string{"export holds what is stored"},
	},
	"export with metadata that is no object": {
		func() memory.Provider {
			return exportingAs(memory.ExportedRecord{Kind: "line", Metadata: json.RawMessage(`null`)})
		},
		[]string{"export holds what is stored"},
	},
	"export with metadata that is not text": {
		func() memory.Provider {
			return exportingAs(memory.ExportedRecord{Kind: "line", Metadata: json.RawMessage("{\"a\":\"\xff\"}")})
		},
		[]string{"export holds what is stored"},
	},
	"export with an id that is not text": {
		func() memory.Provider { return exportingAs(memory.ExportedRecord{Kind: "line", ID: "\xff"}) },
		[]string{"export holds what is stored"},
	},
	"export that differs every time": {
		func() memory.Provider {
			var exports atomic.Int64
			return exporting(func(lines []string) []string {
				if len(lines) > 0 && exports.Add(1)%2 == 0 {
					lines = append(lines, "of the second export")
				}
				return lines
			})
		},
		[]string{"export holds what is stored"},
	},
	"export that forgets an error": {
		func() memory.Provider {
			l := newLedger()
			return changed(l, func(h *memory.Handlers) {
				h.Export = func(ctx context.Context, r *memory.ExportRequest) error {
					_ = l.export(ctx, r)
					return nil
				}
			})
		},
		[]string{"export stops"},
	},
	"export that blames the store for the end of the context": {
		func() memory.Provider {
			l := newLedger()
			return changed(l, func(h *memory.Handlers) {
				h.Export = func(ctx context.Context, r *memory.ExportRequest) error {
					if ctx.Err() != nil {
						return errors.New("store is down")
					}
					return l.export(ctx, r)
				}
			})
		},
		[]string{"export stops"},
	},
	"export that goes on after an error": {
		func() memory.Provider {
			l := newLedger()
			return changed(l, func(h *memory.Handlers) {
				h.Export = func(ctx context.Context, r *memory.ExportRequest) error {
					failing := *r
					var first error
					failing.Write = func(record *memory.ExportedRecord) error {
						if err := r.Write(record); first == nil {
							first = err
						}
						return nil
					}
					if err := l.export(ctx, &failing); err != nil {
						return err
					}
					return first
				}
			})
		},
		[]string{"export stops"},
	},
	"panic": {
		func() memory.Provider {
			return memory.Handlers{Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) { panic("broken") }}
		},
		[]string{"recall of an unused key"},
	},
}

// TestKitFindsBrokenProviders runs each rule on the provider that breaks it. The kit would be worth nothing if it let one
// pass.
func TestKitFindsBrokenProviders(t *testing.T) {
	t.Parallel()
	opts := ledgerOptions()
	opts.Patience = 300 * time.Millisecond
	for name, b := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, ruleName := range b.rules {
				err := find(t, ruleName).run(b.make(), opts.withDefaults())
				require.Error(t, err, ruleName)
				var skipped *skipError
				assert.False(t, errors.As(err, &skipped), ruleName)
			}
		})
	}
}

// TestKitBlamesEveryRule sees that each rule is one that some broken provider breaks.
func TestKitBlamesEveryRule(t *testing.T) {
	t.Parallel()
	blamed := map[string]bool{"recall shows what was stored": true} // every other rule rests on it
	for _, b := range broken {
		for _, name := range b.rules {
			blamed[name] = true
		}
	}
	for _, r := range rules {
		assert.True(t, blamed[r.name], r.name)
	}
}

func find(t *testing.T, name string) rule {
	for _, r := range rules {
		if r.name == name {
			return r
		}
	}
	t.Fatalf("no rule %q", name)
	return rule{}
}

func ledgerWith(change func(*ledger)) memory.Provider {
	l := newLedger()
	change(l)
	return l
}

func changed(l *ledger, change func(*memory.Handlers)) memory.Provider {
	h := l.handlers()
	change(&h)
	return h
}

func withTool(change func(*memory.Tool)) memory.Provider {
	l := newLedger()
	return changed(l, func(h *memory.Handlers) {
		h.Tools = func(ctx context.Context, r *memory.ToolsRequest) ([]memory.Tool, error) {
			tools, err := l.tools(ctx, r)
			if err == nil {
				change(&tools[0])
			}
			return tools, err
		}
	})
}

// exporting is a ledger that exports something else than it keeps.
func exporting(of func(lines []string) []string) memory.Provider {
	l := newLedger()
	return changed(l, func(h *memory.Handlers) {
		h.Export = func(ctx context.Context, r *memory.ExportRequest) error {
			var lines []string
			_ = l.under(ctx, r.Operation, func(p *page) { lines = slices.Clone(p.lines) })
			for _, line := range of(lines) {
				if err := r.Write(&memory.ExportedRecord{Kind: "line", Content: line}); err != nil {
					return err
				}
			}
			return nil
		}
	})
}

// exportingAs is a ledger that exports its lines in records like the given one.
func exportingAs(record memory.ExportedRecord) memory.Provider {
	l := newLedger()
	return changed(l, func(h *memory.Handlers) {
		h.Export = func(ctx context.Context, r *memory.ExportRequest) error {
			changing := *r
			changing.Write = func(line *memory.ExportedRecord) error {
				own := record
				own.Content = line.Content
				return r.Write(&own)
			}
			return l.export(ctx, &changing)
		}
	})
}

// forgetful empties its store when it is attached.
type forgetful struct{ *ledger }

func (f forgetful) Attach(memory.SlotInfo) (memory.Handlers, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.pages)
	return f.handlers(), nil
}

// careless reads a whole document, waits a little and writes it back, so that one of two concurrent texts is lost.
type careless struct{ documents sync.Map }

func (c *careless) read(key string) string {
	text, _ := c.documents.Load(key)
	s, _ := text.(string)
	return s
}

func (c *careless) Attach(memory.SlotInfo) (memory.Handlers, error) {
	return memory.Handlers{
		Recall: func(_ context.Context, r *memory.TurnStarted) ([]memory.Item, error) {
			if c.read(r.Key) == "" {
				return nil, nil
			}
			return []memory.Item{{Content: c.read(r.Key)}}, nil
		},
		Tools: func(_ context.Context, r *memory.ToolsRequest) ([]memory.Tool, error) {
			save, err := memory.NewTool("save", "Saves a text.", json.RawMessage(saveSchema),
				func(_ context.Context, in struct {
					Text string `json:"text"`
				}) (bool, error) {
					before := c.read(r.Key)
					time.Sleep(time.Millisecond)
					c.documents.Store(r.Key, before+in.Text+"\n")
					return true, nil
				})
			return []memory.Tool{save}, err
		},
	}, nil
}
