package memory

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rawjson"
)

// Kinds of messages that the library writes or looks for.
const (
	KindUser       = "user"               // typed by a person
	KindRecord     = "memory.load"        // recalled by a slot
	KindCheckpoint = "context.compaction" // marks the summary of a compaction
)

// Roles of messages.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
	RoleSystem    = "system"
)

// Message is one entry of a conversation. It round-trips any message JSON of eve, unknown members included. A Message is
// immutable and as small as a pointer, so a history can be shared and sliced without copying. The zero Message is invalid,
// and so is one that was made from text that is not UTF-8: encoding it or handing it to the library is an error.
type Message struct{ m *message }

// message is what a Message points at. Either raw holds the JSON that was read, or the message was built from its fields.
// What a projection looks at stands first, on one cache line.
type message struct {
	fault       error        // why the message cannot be used: it is invalid, or its attribution is malformed
	attribution *attribution // nil for an ordinary message
	bare        *message     // the message without its attribution; set beside attribution
	role        string
	kind        string
	text        string          // the content, if that is a string
	content     json.RawMessage // the content, if that is not a string
	metadata    json.RawMessage // nil when absent
	raw         json.RawMessage // the whole message, compact; nil when built from fields
}

// NewMessage returns a message with text content. kind "" means none.
func NewMessage(role, kind, text string) Message {
	return Message{&message{role: role, kind: kind, text: text, fault: invalid(role, kind, text)}}
}

// invalid returns why a message cannot be made of the given role and texts.
func invalid(role string, texts ...string) error {
	if role == "" {
		return fmt.Errorf("%w: no role", ErrInvalidMessage)
	}
	for _, text := range append(texts, role) {
		if err := ecma.Valid(text); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalidMessage, err)
		}
	}
	return nil
}

// UserMessage returns a message of role and kind user.
func UserMessage(text string) Message { return NewMessage(RoleUser, KindUser, text) }

// AssistantMessage returns an answer of the model: its text, if any, and the tool calls it made, if any.
func AssistantMessage(text string, calls ...ToolCallPart) Message {
	if len(calls) == 0 {
		return NewMessage(RoleAssistant, "", text)
	}
	content, err := appendCalls(text, calls)
	return Message{&message{role: RoleAssistant, content: content, fault: err}}
}

// ToolMessage returns the results of tool calls.
func ToolMessage(results ...ToolResultPart) Message {
	content, err := appendResults(results)
	return Message{&message{role: RoleTool, content: content, fault: err}}
}

// Role returns the role: user, assistant, tool, system.
func (m Message) Role() string {
	if m.m == nil {
		return ""
	}
	return m.m.role
}

// Kind returns the kind, or "".
func (m Message) Kind() string {
	if m.m == nil {
		return ""
	}
	return m.m.kind
}

// Text returns the text of the message: its content if that is a string, else its text parts, joined by newlines. Half of a
// surrogate pair, which JSON can hold and Go text cannot, stays the six characters of its escape; the JSON is unchanged.
func (m Message) Text() string {
	if m.m == nil {
		return ""
	}
	if m.m.content == nil {
		return m.m.text
	}
	return strings.Join(textParts(m.m.content), "\n")
}

// Content returns a copy of the content's JSON: a string or an array of parts.
func (m Message) Content() json.RawMessage {
	if m.m == nil {
		return nil
	}
	if m.m.content == nil {
		return ecma.AppendQuote(nil, m.m.text)
	}
	return slices.Clone(m.m.content)
}

// Metadata returns a copy of the metadata's JSON, or nil. That of a record includes its attribution.
func (m Message) Metadata() json.RawMessage {
	if m.m == nil {
		return nil
	}
	if m.m.metadata == nil && m.m.attribution != nil {
		return m.m.attribution.appendMetadata(nil)
	}
	return slices.Clone(m.m.metadata)
}

// ToolCalls returns the tool calls in the content.
func (m Message) ToolCalls() []ToolCallPart {
	if m.m == nil || m.m.content == nil {
		return nil
	}
	return toolCalls(m.m.content)
}

// ToolResults returns the tool results in the content.
func (m Message) ToolResults() []ToolResultPart {
	if m.m == nil || m.m.content == nil {
		return nil
	}
	return toolResults(m.m.content)
}

// IsRecord reports whether the message is a recalled record: one that carries an attribution of the library. Records in a
// projection carry none; they are known by KindRecord.
func (m Message) IsRecord() bool {
	return m.m != nil && (m.m.attribution != nil || m.m.malformed())
}

// Validate returns why the message is invalid, matching ErrInvalidMessage, or nil.
func (m Message) Validate() error {
	if m.m == nil {
		return fmt.Errorf("%w: the zero Message", ErrInvalidMessage)
	}
	if m.m.malformed() {
		return nil
	}
	return m.m.fault
}

// malformed reports whether the message has an attribution that this version does not understand. It can be stored, and not
// be used.
func (m *message) malformed() bool { return m.fault == ErrAttribution }

// equal reports whether m and other say the same, whatever else is stored with them and however a host's database wrote
// their JSON.
func (m Message) equal(other Message) bool {
	a, b := m.m, other.m
	return a == b || a.role == b.role && a.kind == b.kind && a.text == b.text && rawjson.Equal(a.content, b.content)
}
