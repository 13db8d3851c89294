// Command quickstart saves a fact in one session and reads it in the next. It is the program of the README.
package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

func main() {
	ctx := context.Background()
	files := must(filememory.New(filememory.InMemory(), nil))
	agent := must(memory.New([]memory.Slot{{Name: "profile", Provider: files,
		Scope: scope.ByTenantAndUser("tenantId"), Namespace: scope.Namespace("acme-support-v1")}}, nil))
	caller := &scope.Principal{Type: "user", ID: "u_42", Attributes: map[string]any{"tenantId": "acme"}}
	for _, text := range []string{"Please write to me in Chinese.", "Hello again!"} {
		session := must(agent.NewSession(nil))
		turn := must(session.Begin(ctx, &memory.Delivery{Current: caller, Input: []memory.Message{memory.UserMessage(text)}}))
		for _, message := range turn.View() { // what your model is called with; then it may call a tool:
			fmt.Println(message.Text())
		}
		must(turn.Tools()[0].Call(ctx, &memory.ToolCall{Input: json.RawMessage(`{"text":"Prefers Chinese."}`)}))
		must(0, turn.Append(memory.AssistantMessage("好的。")))
		must(0, turn.Complete(ctx))
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
