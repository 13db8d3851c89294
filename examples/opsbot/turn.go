package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/recollect-go/recollect/memory"
)

const (
	systemPrompt = "You are an on-call assistant. Keep the incident with your tools, and answer briefly."
	maxAnswers   = 12 // of the model in one turn
	settleTime   = 10 * time.Second
)

// deliver runs one turn for what the caller has typed.
func (b *bot) deliver(ctx context.Context, line string) error {
	return b.turn(ctx, uuid.NewString(), []memory.Message{memory.UserMessage(line)})
}

// turn begins the turn, or resumes it when it is the one that was interrupted, and answers it. A turn that fails is given
// up: what was said stays in the history, and nothing is captured.
func (b *bot) turn(ctx context.Context, id string, input []memory.Message) error {
	if err := b.conversation.state.BeginTurn(ctx, id); err != nil {
		return err
	}
	turn, err := b.conversation.memory.Begin(ctx, &memory.Delivery{TurnID: id, Current: b.caller, Input: input})
	if err != nil {
		return err
	}
	defer turn.Fail()
	if err := b.answer(ctx, turn); err != nil {
		turn.Fail()
		settle, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
		defer cancel()
		return errors.Join(fmt.Errorf("the turn is given up: %w", err), b.attach(settle))
	}
	return nil
}

// answer runs the steps of a turn. What comes next is read off the conversation, so a resumed turn goes on where it was.
func (b *bot) answer(ctx context.Context, turn *memory.OpenTurn) error {
	if err := b.commit(ctx, "start"); err != nil {
		return err
	}
	for range maxAnswers {
		if err := b.runPending(ctx, turn); err != nil {
			return err
		}
		done, err := b.ask(ctx, turn)
		if err != nil {
			return err
		}
		if done {
			return b.complete(ctx, turn)
		}
	}
	return fmt.Errorf("no answer after %d calls of the model", maxAnswers)
}

// commit stores the conversation as a step of its own.
func (b *bot) commit(ctx context.Context, name string) error {
	_, err := step(ctx, b, name, func(context.Context) (struct{}, error) { return struct{}{}, nil })
	return err
}

func (b *bot) complete(ctx context.Context, turn *memory.OpenTurn) error {
	_, err := step(ctx, b, "complete", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, turn.Complete(ctx)
	})
	return err
}

// ask lets the model answer, unless it has, and reports whether it is done.
func (b *bot) ask(ctx context.Context, turn *memory.OpenTurn) (done bool, err error) {
	view := turn.View()
	if last := view[len(view)-1]; last.Role() == memory.RoleAssistant && len(last.ToolCalls()) == 0 {
		return true, nil
	}
	reply, err := step(ctx, b, fmt.Sprintf("answer at %d", len(view)), func(ctx context.Context) (*Reply, error) {
		if _, err := turn.Compact(ctx, &memory.CompactCall{ModelID: b.modelName}); err != nil {
			return nil, err
		}
		b.lastPrompt = b.prompt(turn)
		reply, err := b.model.Reply(ctx, b.lastPrompt)
		if err != nil {
			return nil, err
		}
		if reply.Text == "" && len(reply.Calls) == 0 {
			return nil, errors.New("the model's answer is empty")
		}
		return reply, turn.Append(memory.AssistantMessage(reply.Text, reply.Calls...))
	})
	if err != nil {
		return false, err
	}
	if reply.Text != "" {
		b.say("%s", reply.Text)
	}
	return len(reply.Calls) == 0, nil
}

// runPending runs the tool calls that have no result yet, each as a step: its result and what it has changed in the state
// are committed together.
func (b *bot) runPending(ctx context.Context, turn *memory.OpenTurn) error {
	for _, call := range turn.Pending() {
		result, err := step(ctx, b, fmt.Sprintf("tool at %d", len(turn.View())), func(ctx context.Context) (memory.ToolResultPart, error) {
			result := b.call(ctx, turn, call)
			return result, turn.Append(memory.ToolMessage(result))
		})
		if err != nil {
			return err
		}
		b.say("  [%s %s → %s]", call.Name, readable(call.Input), result.Output)
	}
	return nil
}

// call runs one tool. Its error goes to the model, which can act on it.
func (b *bot) call(ctx context.Context, turn *memory.OpenTurn, call memory.ToolCallPart) memory.ToolResultPart {
	result := memory.ToolResultPart{CallID: call.CallID, Name: call.Name}
	output, err := b.invoke(ctx, turn, call)
	if err != nil {
		output, _ = json.Marshal(err.Error())
		result.IsError = true
	}
	result.Output = output
	return result
}

func (b *bot) invoke(ctx context.Context, turn *memory.OpenTurn, call memory.ToolCallPart) (json.RawMessage, error) {
	for _, tool := range b.toolsOf(turn) {
		if tool.Name == call.Name {
			return tool.Call(ctx, &memory.ToolCall{ID: call.CallID, Input: call.Input})
		}
	}
	return nil, fmt.Errorf("there is no tool %q in this turn", call.Name)
}

// toolsOf returns what the model may call: the tools of the slots that the caller has, then the incident's.
func (b *bot) toolsOf(turn *memory.OpenTurn) []memory.Tool { return append(turn.Tools(), b.tools...) }

func (b *bot) prompt(turn *memory.OpenTurn) *Prompt {
	return &Prompt{
		System:   systemPrompt + "\n\n" + memory.SystemPrompt(""),
		Messages: turn.View(),
		Tools:    b.toolsOf(turn),
	}
}
