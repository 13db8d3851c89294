package memory

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rawjson"
)

// Types of a tool result's output.
const (
	outputText      = "text"
	outputErrorText = "error-text"
	outputErrorJSON = "error-json"
	outputContent   = "content"
)

const (
	resultNotice     = "\n[… %d of %d bytes left out; call the tool again if you need them …]\n"
	transcriptNotice = "\n[… %d of %d bytes left out …]\n"
)

// Shorten returns the messages with long tool results shortened, and how many results that were. Of a result longer than
// ToolResultBytes the beginning and the end are kept and a notice in between says how much was left out; attachments inside
// a result become a line that names them. A shortened result fits the limit, so it is never shortened again. Other messages,
// calls included, stay as they are, and so does the argument.
func (p *Policy) Shorten(messages []Message) ([]Message, int) {
	result, total := messages, 0
	for i, m := range messages {
		short, n := shortenMessage(m, p.toolResultBytes())
		if n == 0 {
			continue
		}
		if total == 0 {
			result = slices.Clone(messages)
		}
		result[i] = short
		total += n
	}
	return result, total
}

func shortenMessage(m Message, limit int) (Message, int) {
	if m.Role() != RoleTool || m.m.content == nil || m.IsRecord() {
		return m, 0
	}
	parts := elements(m.m.content)
	shortened := 0
	for i, part := range parts {
		if short := shortenResult(part, limit); short != nil {
			parts[i] = short
			shortened++
		}
	}
	if shortened == 0 {
		return m, 0
	}
	return m.withContent(appendArray(nil, parts)), shortened
}

// withContent returns the message with another content and everything else, members unknown to us included, as it was.
func (m Message) withContent(content json.RawMessage) Message {
	changed := *m.m
	changed.content, changed.text = content, ""
	if m.m.raw != nil {
		changed.raw = replaceMember(m.m.raw, "content", content)
	}
	return Message{&changed}
}

// shortenResult returns the shortened part, or nil when it is no tool result, fits, or would not become smaller.
func shortenResult(part json.RawMessage, limit int) json.RawMessage {
	kind, value := typedOutput(part)
	if value == nil {
		return nil
	}
	text, hadMedia := outputAsText(kind, value)
	if len(text) <= limit && !hadMedia {
		return nil
	}
	shortKind := outputText
	if kind == outputErrorText || kind == outputErrorJSON {
		shortKind = outputErrorText
	}
	output := []byte(`{"type":"` + shortKind + `","value":`)
	output = append(ecma.AppendQuote(output, clip(text, limit, resultNotice)), '}')
	if short := replaceMember(part, "output", output); len(short) < len(part) {
		return short
	}
	return nil
}

// typedOutput returns the type and the value of a tool-result part's output; nil for any other part and an output without a
// value.
func typedOutput(part json.RawMessage) (kind string, value json.RawMessage) {
	members, err := rawjson.Members(part)
	if err != nil || stringMember(members, "type") != "tool-result" {
		return "", nil
	}
	output, err := rawjson.Members(rawjson.Find(members, "output"))
	if err != nil {
		return "", nil
	}
	return stringMember(output, "type"), rawjson.Find(output, "value")
}

// outputAsText returns an output as one text, and whether attachments were reduced to their names on the way.
func outputAsText(kind string, value json.RawMessage) (text string, hadMedia bool) {
	switch {
	case kind == outputContent:
		return contentAsText(value)
	case rawjson.Kind(value) == '"':
		return rawjson.Text(value), false
	}
	return string(value), false
}

func contentAsText(content json.RawMessage) (text string, hadMedia bool) {
	var lines []string
	for _, element := range elements(content) {
		if media := mediaPart(element); media != nil {
			hadMedia = true
			lines = append(lines, media.describe())
			continue
		}
		members, err := rawjson.Members(element)
		if err == nil && stringMember(members, "type") == "text" {
			lines = append(lines, stringMember(members, "text"))
			continue
		}
		lines = append(lines, string(element))
	}
	return strings.Join(lines, "\n"), hadMedia
}

// describe returns the line that stands for an attachment in text.
func (m *MediaPart) describe() string {
	kind := m.Type
	if kind == "" {
		kind = "of unknown type"
	}
	switch {
	case m.Base64 != "":
		return fmt.Sprintf("[attachment %s, %d bytes]", kind, m.Size())
	case m.URL != "":
		return fmt.Sprintf("[attachment %s at %s]", kind, m.URL)
	}
	return fmt.Sprintf("[attachment %s]", kind)
}

// clip returns s when it has at most limit bytes. Otherwise it keeps three fifths of what fits from the beginning, where a
// text says what it is, and the rest from the end, where it says how it ended, with a notice in between. The result has at
// most limit bytes, so clipping it again changes nothing, and no character is split. limit must leave room for the notice.
func clip(s string, limit int, notice string) string {
	if len(s) <= limit {
		return s
	}
	room := limit - len(fmt.Sprintf(notice, len(s), len(s)))
	head := room * 3 / 5
	tail := len(s) - (room - head)
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + fmt.Sprintf(notice, tail-head, len(s)) + s[tail:]
}

// replaceMember returns a compact object with one member replaced. The object has the member.
func replaceMember(object []byte, name string, value json.RawMessage) []byte {
	members, err := rawjson.Members(object)
	if err != nil {
		return object
	}
	for i := range members {
		if members[i].Name == name {
			members[i].Value = value
		}
	}
	return rawjson.AppendObject(nil, members)
}

func appendArray(dst []byte, elements []json.RawMessage) []byte {
	dst = append(dst, '[')
	for i, element := range elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, element...)
	}
	return append(dst, ']')
}
