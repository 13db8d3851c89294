package main

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

func caller(tenant, user string) *scope.Principal {
	return &scope.Principal{Type: "user", ID: user, Attributes: map[string]any{"tenantId": tenant}}
}

// saves is a model that calls the tool for saving, and answers with what it saw.
func saves(ctx context.Context, view []memory.Message, tools []memory.Tool) (memory.Message, error) {
	for _, tool := range tools {
		if tool.Name != "profile__save_memory" {
			continue
		}
		input, err := json.Marshal(map[string]string{"text": view[len(view)-1].Text()})
		if err != nil {
			return memory.Message{}, err
		}
		if _, err := tool.Call(ctx, &memory.ToolCall{Input: input}); err != nil {
			return memory.Message{}, err
		}
	}
	var seen string
	for _, m := range view {
		seen += m.Text() + "\n"
	}
	return memory.AssistantMessage(seen), nil
}

func TestAFactSavedInOneThreadIsRecalledInTheNextOfTheSameCallerOnly(t *testing.T) {
	t.Parallel()
	l, err := newLoop(filememory.InMemory(), saves)
	require.NoError(t, err)

	_, err = l.turn(t.Context(), &thread{ID: "thread_1"}, caller("acme", "u_42"), "Prefers Chinese.")
	require.NoError(t, err)

	again, err := l.turn(t.Context(), &thread{ID: "thread_2"}, caller("acme", "u_42"), "Hello!")
	require.NoError(t, err)
	assert.Contains(t, again, "0: Prefers Chinese.")

	other, err := l.turn(t.Context(), &thread{ID: "thread_3"}, caller("globex", "u_42"), "Hello!")
	require.NoError(t, err)
	assert.NotContains(t, other, "Chinese")
}

func TestATurnWhoseModelFailedKeepsWhatWasSaid(t *testing.T) {
	t.Parallel()
	broken := errors.New("model is down")
	l, err := newLoop(filememory.InMemory(), func(context.Context, []memory.Message, []memory.Tool) (memory.Message, error) {
		return memory.Message{}, broken
	})
	require.NoError(t, err)
	conversation := &thread{ID: "thread_1"}

	_, err = l.turn(t.Context(), conversation, caller("acme", "u_42"), "Hello!")

	require.ErrorIs(t, err, broken)
	assert.Len(t, conversation.History, 1)
	assert.EqualValues(t, 1, conversation.Turns)
}

func Example() {
	main()
	// Output:
	// I see 1 message(s).
	// I see 2 message(s).
}
