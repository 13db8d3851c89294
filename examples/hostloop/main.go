// Command hostloop is a framework's own loop on the stateless form of memory: the framework keeps history and bookkeeping, and asks the
// library at the edges of a turn.
package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

// model is what the framework calls: it gets what may be seen, calls tools as it likes, and answers.
type model func(ctx context.Context, view []memory.Message, tools []memory.Tool) (memory.Message, error)

// thread is what the framework stores per conversation, in one transaction.
type thread struct {
	ID          string
	Turns       int64
	History     []memory.Message
	Bookkeeping memory.Bookkeeping
}

// loop is the part of a framework that runs turns.
type loop struct {
	memories *memory.Memory
	model    model
}

func newLoop(backend filememory.Backend, m model) (*loop, error) {
	files, err := filememory.New(backend, nil)
	if err != nil {
		return nil, err
	}
	slot := memory.Slot{Name: "profile", Provider: files, Scope: scope.ByTenantAndUser("tenantId"), Namespace: scope.Namespace("hostloop-v1")}
	memories, err := memory.New([]memory.Slot{slot}, nil)
	return &loop{memories, m}, err
}

// turn runs one turn. The thread changes only when the turn has started, and keeps what was said when the model fails.
func (l *loop) turn(ctx context.Context, t *thread, caller *scope.Principal, text string) (string, error) {
	start := &memory.TurnStart{
		Session: memory.SessionInfo{ID: t.ID, Current: caller},
		Turn:    memory.Turn{ID: fmt.Sprintf("turn_%d", t.Turns), Sequence: t.Turns, Input: []memory.Message{memory.UserMessage(text)}},
		History: t.History, Bookkeeping: t.Bookkeeping,
	}
	view, err := l.memories.StartTurn(ctx, start)
	if err != nil {
		return "", err
	}
	t.History = append(append(t.History, view.Records...), start.Turn.Input...)
	t.Bookkeeping, t.Turns = view.Bookkeeping, t.Turns+1
	answer, err := l.model(ctx, view.Messages, view.Tools)
	if err != nil {
		return "", err
	}
	t.History = append(t.History, answer)
	start.History, start.Bookkeeping = t.History, t.Bookkeeping
	t.Bookkeeping, err = l.memories.CompleteTurn(ctx, start)
	return answer.Text(), err
}

func main() {
	saver := func(ctx context.Context, view []memory.Message, tools []memory.Tool) (memory.Message, error) {
		_, err := tools[0].Call(ctx, &memory.ToolCall{Input: json.RawMessage(`{"text":"Likes tea."}`)})
		return memory.AssistantMessage(fmt.Sprintf("I see %d message(s).", len(view))), err
	}
	caller := &scope.Principal{Type: "user", ID: "u_42", Attributes: map[string]any{"tenantId": "acme"}}
	l, err := newLoop(filememory.InMemory(), saver)
	for i := 0; i < 2 && err == nil; i++ {
		var answer string
		answer, err = l.turn(context.Background(), &thread{ID: fmt.Sprintf("thread_%d", i)}, caller, "Hello!")
		fmt.Println(answer)
	}
	if err != nil {
		panic(err)
	}
}
