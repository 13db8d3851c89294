// Command erase answers two requests of a person: give me what you remember about me, and forget it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	files, err := filememory.New(filememory.InMemory(), nil)
	if err != nil {
		return err
	}
	const app = scope.Namespace("acme-support-v1")
	agent, err := memory.New([]memory.Slot{
		{Name: "profile", Provider: files, Scope: scope.ByTenantAndUser("tenantId"), Namespace: app},
		{Name: "workspace", Provider: files, Scope: scope.ByTenant("tenantId"), Namespace: app},
	}, nil)
	if err != nil {
		return err
	}
	person := &scope.Principal{Type: "user", ID: "u_42", Attributes: map[string]any{"tenantId": "acme"}}
	session, err := talk(ctx, agent, person)
	if err != nil {
		return err
	}
	// The workspace belongs to the whole tenant, so it stays out of what one person asks for.
	caller, slots := memory.SessionInfo{Current: person}, []string{"profile"}

	fmt.Fprintln(out, "Export:")
	if _, err := agent.Export(ctx, &memory.ExportCall{Session: caller, Slots: slots}, out); err != nil {
		return err
	}
	erasure, err := agent.Erase(ctx, &memory.EraseCall{Session: caller, Slots: slots})
	if err != nil {
		return err // some slots may be done; erasure says which, and Erase can be called again
	}
	fmt.Fprintln(out, "Erasure:")
	for _, slot := range erasure.Slots {
		fmt.Fprintf(out, "%s: %s, %d record erased, found empty by %s\n", slot.Slot, slot.Status, slot.Records, slot.VerifiedBy)
	}
	// What was recalled before is still in the history of every session that is kept.
	n, err := session.Forget(ctx, "profile")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Session: %d record forgotten\n", n)
	return nil
}

// talk lets the person's agent remember something, and recall it in a second turn.
func talk(ctx context.Context, agent *memory.Memory, person *scope.Principal) (*memory.Session, error) {
	session, err := agent.NewSession(nil)
	if err != nil {
		return nil, err
	}
	for _, text := range []string{"Please write to me in Chinese.", "Hello again!"} {
		turn, err := session.Begin(ctx, &memory.Delivery{Current: person, Input: []memory.Message{memory.UserMessage(text)}})
		if err != nil {
			return nil, err
		}
		defer turn.Fail()
		for _, tool := range turn.Tools() { // your model decides which of them it calls
			if tool.Name != "profile__save_memory" {
				continue
			}
			if _, err := tool.Call(ctx, &memory.ToolCall{Input: json.RawMessage(`{"text":"Prefers Chinese."}`)}); err != nil {
				return nil, err
			}
		}
		if err := turn.Append(memory.AssistantMessage("好的。")); err != nil {
			return nil, err
		}
		if err := turn.Complete(ctx); err != nil {
			return nil, err
		}
	}
	return session, nil
}
