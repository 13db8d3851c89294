package memory_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
	"github.com/recollect-go/recollect/state"
)

// diary is a provider that captures what users say, unless it is closed.
type diary struct {
	closed bool
	lines  map[string]string // by operation id, so that a repeated capture adds nothing
}

func (d *diary) slots() []memory.Slot {
	return []memory.Slot{{Name: "diary", Namespace: scope.Namespace("app"), Scope: scope.String("u_42"), Provider: memory.Handlers{
		Recall: func(context.Context, *memory.TurnStarted) (items []memory.Item, err error) {
			for _, line := range d.lines {
				items = append(items, memory.Item{Content: line})
			}
			return items, nil
		},
		CaptureTurn: func(_ context.Context, r *memory.TurnCompleted) error {
			if d.closed {
				return errors.New("closed")
			}
			d.lines[r.ID] = r.Turn.Input[0].Text()
			return nil
		},
		Erase: func(context.Context, *memory.EraseRequest) error {
			clear(d.lines)
			return nil
		},
		Export: func(_ context.Context, r *memory.ExportRequest) error {
			for id, line := range d.lines {
				if err := r.Write(&memory.ExportedRecord{Kind: "line", ID: id, Content: line}); err != nil {
					return err
				}
			}
			return nil
		},
	}}}
}

// tell runs one turn and returns the error of its completion.
func tell(m *memory.Memory, text string) error {
	ctx := context.Background()
	session, err := m.NewSession(&memory.SessionOptions{ID: "session_1"})
	if err != nil {
		return err
	}
	turn, err := session.Begin(ctx, &memory.Delivery{TurnID: "turn_1", Input: []memory.Message{memory.UserMessage(text)}})
	if err != nil {
		return err
	}
	defer turn.Fail()
	if err := turn.Append(memory.AssistantMessage("Noted.")); err != nil {
		return err
	}
	return turn.Complete(ctx)
}

func ExampleNewOutbox() {
	ctx := context.Background()
	outbox := must(memory.NewOutbox(state.InMemory(), nil)) // state.Dir or a database where it must survive the process
	d := &diary{closed: true, lines: map[string]string{}}
	m := must(memory.New(d.slots(), &memory.Options{Outbox: outbox, Logger: slog.New(slog.DiscardHandler)}))

	fmt.Println(tell(m, "We moved to Berlin."))
	fmt.Println(must(outbox.Stats(ctx)).Pending, "pending")

	d.closed = false
	report := must(m.DrainOutbox(ctx)) // what RunOutbox does in the background
	fmt.Println(report.Done, "done,", len(d.lines), "line")
	// Output:
	// memory: slot "diary", turn.completed: closed
	// 1 pending
	// 1 done, 1 line
}

func ExampleMemory_RunOutbox() {
	outbox := must(memory.NewOutbox(state.InMemory(), nil))
	d := &diary{lines: map[string]string{}}
	m := must(memory.New(d.slots(), &memory.Options{Outbox: outbox}))

	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- m.RunOutbox(ctx) }()
	fmt.Println(tell(m, "We moved to Berlin."))
	stop()
	fmt.Println(<-ended)
	// Output:
	// <nil>
	// <nil>
}

func ExampleOutbox_Discard() {
	ctx := context.Background()
	outbox := must(memory.NewOutbox(state.InMemory(), nil))
	d := &diary{closed: true, lines: map[string]string{}}
	m := must(memory.New(d.slots(), &memory.Options{Outbox: outbox, Logger: slog.New(slog.DiscardHandler)}))
	_ = tell(m, "We moved to Berlin.")

	turns, _, err := outbox.Pending(ctx, "", 100)
	if err != nil {
		panic(err)
	}
	for _, turn := range turns {
		fmt.Println(turn.TurnID, turn.Captures[0].Slot, turn.Captures[0].Attempts)
		if err := outbox.Discard(ctx, turn.ID); err != nil {
			panic(err)
		}
	}
	fmt.Println(must(outbox.Stats(ctx)).Pending, "pending")
	// Output:
	// turn_1 diary 1
	// 0 pending
}

func ExampleMemory_Export() {
	d := &diary{lines: map[string]string{}}
	m := must(memory.New(d.slots(), nil))
	_ = tell(m, "We moved to Berlin.")
	result, err := m.Export(context.Background(), &memory.ExportCall{}, os.Stdout)
	fmt.Println(result.Slots[0].Status, result.Slots[0].Records, err)
	// Output:
	// {"format":"recollect-export","version":1,"node":"__root__"}
	// {"slot":"diary","namespace":"app","scope":"u_42","kind":"line","id":"eve-memory-operation-v1:session_1:0:turn_1:turn.completed:diary","content":"We moved to Berlin."}
	// {"end":true,"records":1,"missing":[]}
	// done 1 <nil>
}

func ExampleMemory_Erase() {
	d := &diary{lines: map[string]string{}}
	m := must(memory.New(d.slots(), nil))
	_ = tell(m, "We moved to Berlin.")
	result, err := m.Erase(context.Background(), &memory.EraseCall{})
	slot := result.Slots[0]
	fmt.Println(slot.Slot, slot.Status, slot.Records, slot.VerifiedBy, err)
	// Output:
	// diary done 1 export <nil>
}
