// Command customprovider is a provider of one's own, over a map. It prints the key of each call: two users never meet.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

// notebook keeps notes by key. The id of a note is the operation that captured it, so that a repeated capture adds nothing.
type notebook struct {
	mu    sync.Mutex
	notes map[string][]memory.Item
}

func (n *notebook) recall(_ context.Context, r *memory.TurnStarted) ([]memory.Item, error) {
	return n.change("recall", r.Key, func(notes []memory.Item) []memory.Item { return notes }), nil
}

func (n *notebook) capture(_ context.Context, r *memory.TurnCompleted) error {
	n.change("capture", r.Key, func(notes []memory.Item) []memory.Item {
		if slices.ContainsFunc(notes, func(note memory.Item) bool { return note.ID == r.ID }) {
			return notes
		}
		return append(notes, memory.Item{ID: r.ID, Content: "Said earlier: " + r.Turn.Input[0].Text()})
	})
	return nil
}

func (n *notebook) tools(_ context.Context, r *memory.ToolsRequest) ([]memory.Tool, error) {
	schema := json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
	forget, err := memory.NewTool("forget", "Forget everything.", schema, func(context.Context, struct{}) (string, error) {
		n.change("forget", r.Key, func([]memory.Item) []memory.Item { return nil })
		return "forgotten", nil
	})
	return []memory.Tool{forget}, err
}

func (n *notebook) change(call, key string, f func([]memory.Item) []memory.Item) []memory.Item {
	n.mu.Lock()
	defer n.mu.Unlock()
	fmt.Println(call, key)
	n.notes[key] = f(n.notes[key])
	return slices.Clone(n.notes[key])
}

func main() {
	n := &notebook{notes: map[string][]memory.Item{}}
	provider := memory.Handlers{Recall: n.recall, CaptureTurn: n.capture, Tools: n.tools}
	slot := memory.Slot{Name: "notes", Provider: provider, Scope: scope.ByPrincipal(), Namespace: scope.Namespace("customprovider-v1")}
	m, err := memory.New([]memory.Slot{slot}, nil)
	for i := 0; i < 3 && err == nil; i++ {
		caller := &scope.Principal{Type: "user", Authenticator: "app", ID: []string{"u_42", "u_99", "u_42"}[i]}
		err = talk(context.Background(), m, memory.SessionInfo{ID: fmt.Sprint("session_", i), Current: caller})
	}
	if err != nil {
		panic(err)
	}
}

func talk(ctx context.Context, m *memory.Memory, who memory.SessionInfo) error {
	turn := &memory.TurnStart{Session: who, Turn: memory.Turn{ID: "turn_0", Input: []memory.Message{memory.UserMessage("Hello")}}}
	view, err := m.StartTurn(ctx, turn)
	if err != nil {
		return err
	}
	for _, record := range view.Records { // whoever sees a note lets it be forgotten
		fmt.Printf("%s sees %q\n", who.Current.ID, record.Text())
		_, err = view.Tools[0].Call(ctx, &memory.ToolCall{Input: json.RawMessage(`{}`)})
	}
	turn.History, turn.Bookkeeping = append(view.Records, turn.Turn.Input...), view.Bookkeeping
	_, completeErr := m.CompleteTurn(ctx, turn)
	return errors.Join(err, completeErr)
}
