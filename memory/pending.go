package memory

import (
	"fmt"
	"slices"

	"github.com/recollect-go/recollect/internal/rawjson"
)

// waitingCaller returns the index of the last message but tool messages when not all of its calls have been answered, else
// -1. An unanswered call with anything but results behind it will never be answered.
func waitingCaller(messages []Message) int {
	last := len(messages) - 1
	for last >= 0 && messages[last].Role() == RoleTool {
		last--
	}
	if last < 0 || len(unanswered(messages[last], messages[last+1:])) == 0 {
		return -1
	}
	return last
}

// waitingCalls returns the calls at the end of messages that have no result yet.
func waitingCalls(messages []Message) []ToolCallPart {
	caller := waitingCaller(messages)
	if caller < 0 {
		return nil
	}
	return unanswered(messages[caller], messages[caller+1:])
}

// unanswered returns the calls of a message that the host is to answer and that have no result in the messages behind it.
func unanswered(m Message, behind []Message) []ToolCallPart {
	open := m.hostCalls()
	if len(open) == 0 {
		return nil
	}
	for _, result := range m.ToolResults() {
		open, _ = take(open, result.CallID)
	}
	for _, b := range behind {
		for _, result := range b.ToolResults() {
			open, _ = take(open, result.CallID)
		}
	}
	return open
}

// take removes the call that a result of the given id answers, and reports whether there is one. Some models give parallel
// calls one id, or none: each of them has a result of its own.
func take(open []ToolCallPart, id string) ([]ToolCallPart, bool) {
	at := slices.IndexFunc(open, func(call ToolCallPart) bool { return call.CallID == id })
	if at < 0 {
		return open, false
	}
	return slices.Delete(open, at, at+1), true
}

// hostCalls returns the tool calls that the model made, but those of tools that its provider runs, whose results come with
// an answer of the model, and not always with the same one. A part like a call in what somebody else says is no call:
// Pending would have the host make it.
func (m Message) hostCalls() []ToolCallPart {
	if m.Role() != RoleAssistant || m.m.content == nil {
		return nil
	}
	var calls []ToolCallPart
	for _, part := range parts(m.m.content, "tool-call") {
		if rawjson.Kind(rawjson.Find(part, "providerExecuted")) != 't' {
			calls = append(calls, toolCall(part))
		}
	}
	return calls
}

// follow returns why messages cannot stand behind a view: one of them would come between a call and its results, or is a
// result without a call.
func follow(view, messages []Message) error {
	open := waitingCalls(view)
	for _, m := range messages {
		if m.Role() != RoleTool {
			if len(open) > 0 {
				return fmt.Errorf("%w: call %.80q of tool %.80q has no result", ErrUnanswered, open[0].CallID, open[0].Name)
			}
			open = unanswered(m, nil)
			continue
		}
		for _, result := range m.ToolResults() {
			var waited bool
			if open, waited = take(open, result.CallID); !waited {
				return fmt.Errorf("%w: no call %.80q of tool %.80q waits for a result", ErrInvalidMessage, result.CallID, result.Name)
			}
		}
	}
	return nil
}

// lostResults returns results for the calls at the end of a history that wait for theirs.
func lostResults(history []Message) []ToolResultPart {
	var results []ToolResultPart
	for _, call := range waitingCalls(history) {
		results = append(results, ToolResultPart{
			CallID: call.CallID, Name: call.Name, IsError: true,
			Output: []byte(`"The turn ended before this call returned. It is not known whether it took effect."`),
		})
	}
	return results
}
