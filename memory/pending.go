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
	calls := m.hostCalls()
	if len(calls) == 0 {
		return nil
	}
	answered := make(map[string]bool)
	for _, result := range m.ToolResults() {
		answered[result.CallID] = true
	}
	for _, b := range behind {
		for _, result := range b.ToolResults() {
			answered[result.CallID] = true
		}
	}
	return slices.DeleteFunc(calls, func(call ToolCallPart) bool { return answered[call.CallID] })
}

// hostCalls returns the tool calls in the content but those of tools that the model's provider runs, whose results come with
// an answer of the model, and not always with the same one.
func (m Message) hostCalls() []ToolCallPart {
	calls := m.ToolCalls()
	if len(calls) == 0 {
		return nil
	}
	elsewhere := make(map[string]bool)
	for _, part := range parts(m.m.content, "tool-call") {
		if rawjson.Kind(rawjson.Find(part, "providerExecuted")) == 't' {
			elsewhere[stringMember(part, "toolCallId")] = true
		}
	}
	return slices.DeleteFunc(calls, func(call ToolCallPart) bool { return elsewhere[call.CallID] })
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
			waiting := len(open)
			open = slices.DeleteFunc(open, func(call ToolCallPart) bool { return call.CallID == result.CallID })
			if len(open) == waiting {
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
