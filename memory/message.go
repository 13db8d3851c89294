package memory

import "encoding/json"

// Kinds of messages that the library writes or looks for.
const (
	KindUser       = "user"               // typed by a person
	KindRecord     = "memory.load"        // recalled by a slot
	KindCheckpoint = "context.compaction" // marks the summary of a compaction
)

// Message is one entry of a conversation. It round-trips any message JSON of eve, unknown members included. A Message is
// immutable, so a history can be shared without copying. The zero Message is invalid.
type Message struct{ m *message }

type message struct{} // being written

// NewMessage returns a message with text content. kind "" means none.
func NewMessage(role, kind, text string) Message { panic("being written") }

// UserMessage returns a message of role and kind user.
func UserMessage(text string) Message { return NewMessage("user", KindUser, text) }

// AssistantMessage returns an answer of the model: its text, if any, and the tool calls it made, if any.
func AssistantMessage(text string, calls ...ToolCallPart) Message { panic("being written") }

// ToolMessage returns the results of tool calls.
func ToolMessage(results ...ToolResultPart) Message { panic("being written") }

// ToolCallPart is a tool call inside an assistant message.
type ToolCallPart struct {
	CallID string
	Name   string
	Input  json.RawMessage
}

// ToolResultPart is the result of a tool call inside a tool message.
type ToolResultPart struct {
	CallID  string
	Name    string
	Output  json.RawMessage
	IsError bool
}

// Role returns the role: user, assistant, tool, system.
func (m Message) Role() string { panic("being written") }

// Kind returns the kind, or "".
func (m Message) Kind() string { panic("being written") }

// Text returns the text of the message: its content if that is a string, else its text parts, joined by newlines.
func (m Message) Text() string { panic("being written") }

// ToolCalls returns the tool calls in the content.
func (m Message) ToolCalls() []ToolCallPart { panic("being written") }

// ToolResults returns the tool results in the content.
func (m Message) ToolResults() []ToolResultPart { panic("being written") }

// MarshalJSON writes the message as eve stores it.
func (m Message) MarshalJSON() ([]byte, error) { panic("being written") }

// UnmarshalJSON reads a message as eve stores it.
func (m *Message) UnmarshalJSON(data []byte) error { panic("being written") }
