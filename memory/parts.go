package memory

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rawjson"
)

// The content of a message with tool calls or results is an array of parts. Their shape is that of the AI SDK, which eve
// stores.

// ToolCallPart is a tool call inside an assistant message.
type ToolCallPart struct {
	CallID string
	Name   string
	// Input is the JSON that the model gave. Text that is no JSON is stored as a JSON string, none at all as an empty object.
	Input json.RawMessage
}

// ToolResultPart is the result of a tool call inside a tool message.
type ToolResultPart struct {
	CallID string
	Name   string
	// Output is JSON: a string is stored as text, anything else as JSON, none at all as null.
	Output json.RawMessage
	// IsError tells the model that the call failed; Output says why.
	IsError bool
}

func appendCalls(text string, calls []ToolCallPart) (json.RawMessage, error) {
	if err := invalid(RoleAssistant, text); err != nil {
		return nil, err
	}
	content := []byte{'['}
	if text != "" {
		content = append(content, `{"type":"text","text":`...)
		content = ecma.AppendQuote(content, text)
		content = append(content, `},`...)
	}
	for i, call := range calls {
		if i > 0 {
			content = append(content, ',')
		}
		var err error
		if content, err = appendPart(content, "tool-call", call.CallID, call.Name); err != nil {
			return nil, err
		}
		content = append(content, `,"input":`...)
		if content, err = appendInput(content, call.Input); err != nil {
			return nil, err
		}
		content = append(content, '}')
	}
	return append(content, ']'), nil
}

func appendResults(results []ToolResultPart) (json.RawMessage, error) {
	content := []byte{'['}
	for i, result := range results {
		if i > 0 {
			content = append(content, ',')
		}
		var err error
		if content, err = appendPart(content, "tool-result", result.CallID, result.Name); err != nil {
			return nil, err
		}
		content = append(content, `,"output":`...)
		if content, err = appendOutput(content, result.Output, result.IsError); err != nil {
			return nil, err
		}
		content = append(content, '}')
	}
	return append(content, ']'), nil
}

// appendPart writes the members that calls and results share, without the closing brace.
func appendPart(dst []byte, kind, callID, name string) ([]byte, error) {
	if err := invalid(kind, callID, name); err != nil {
		return nil, err
	}
	dst = append(dst, `{"type":"`...)
	dst = append(dst, kind...)
	dst = append(dst, `","toolCallId":`...)
	dst = ecma.AppendQuote(dst, callID)
	dst = append(dst, `,"toolName":`...)
	return ecma.AppendQuote(dst, name), nil
}

func appendInput(dst []byte, input json.RawMessage) ([]byte, error) {
	if len(input) == 0 {
		return append(dst, '{', '}'), nil
	}
	if compact, err := rawjson.Compact(input); err == nil {
		return append(dst, compact...), nil
	}
	text := string(input)
	if err := ecma.Valid(text); err != nil {
		return nil, fmt.Errorf("%w: input of a tool call: %w", ErrInvalidMessage, err)
	}
	return ecma.AppendQuote(dst, text), nil
}

func appendOutput(dst []byte, output json.RawMessage, isError bool) ([]byte, error) {
	compact := []byte("null")
	if len(output) > 0 {
		var err error
		if compact, err = rawjson.Compact(output); err != nil {
			return nil, fmt.Errorf("%w: output of a tool: %w", ErrInvalidMessage, err)
		}
	}
	dst = append(dst, `{"type":"`...)
	if isError {
		dst = append(dst, "error-"...)
	}
	if rawjson.Kind(compact) == '"' {
		dst = append(dst, `text","value":`...)
	} else {
		dst = append(dst, `json","value":`...)
	}
	dst = append(dst, compact...)
	return append(dst, '}'), nil
}

// parts returns the members of every part of the content that is an object of the given type.
func parts(content json.RawMessage, kind string) [][]rawjson.Member {
	elements, err := rawjson.Elements(content)
	if err != nil {
		return nil
	}
	var found [][]rawjson.Member
	for _, element := range elements {
		members, err := rawjson.Members(element)
		if err == nil && stringMember(members, "type") == kind {
			found = append(found, members)
		}
	}
	return found
}

// stringMember returns the text of the named member, or "" when it is no string.
func stringMember(members []rawjson.Member, name string) string {
	value := rawjson.Find(members, name)
	if rawjson.Kind(value) != '"' {
		return ""
	}
	return rawjson.Text(value)
}

func textParts(content json.RawMessage) []string {
	var texts []string
	for _, part := range parts(content, "text") {
		texts = append(texts, stringMember(part, "text"))
	}
	return texts
}

func toolCalls(content json.RawMessage) []ToolCallPart {
	var calls []ToolCallPart
	for _, part := range parts(content, "tool-call") {
		calls = append(calls, toolCall(part))
	}
	return calls
}

// toolCall reads a part of type tool-call.
func toolCall(part []rawjson.Member) ToolCallPart {
	return ToolCallPart{
		CallID: stringMember(part, "toolCallId"),
		Name:   stringMember(part, "toolName"),
		Input:  slices.Clone(rawjson.Find(part, "input")),
	}
}

func toolResults(content json.RawMessage) []ToolResultPart {
	var results []ToolResultPart
	for _, part := range parts(content, "tool-result") {
		result := ToolResultPart{CallID: stringMember(part, "toolCallId"), Name: stringMember(part, "toolName")}
		result.Output, result.IsError = toolOutput(rawjson.Find(part, "output"))
		results = append(results, result)
	}
	return results
}

// toolOutput returns the value inside a typed output. Anything else is returned as it is.
func toolOutput(output json.RawMessage) (value json.RawMessage, isError bool) {
	members, err := rawjson.Members(output)
	if err != nil {
		return slices.Clone(output), false
	}
	kind := stringMember(members, "type")
	value = rawjson.Find(members, "value")
	if kind == "" || value == nil {
		return slices.Clone(output), false
	}
	return slices.Clone(value), kind == "error-text" || kind == "error-json"
}
