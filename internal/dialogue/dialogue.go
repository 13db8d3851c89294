// Package dialogue picks out of a conversation what people and the model said, for the providers that search and capture it.
// Recalled records are not part of it: capturing what was recalled would store it again, and more of it every turn.
package dialogue

import (
	"strings"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/memory"
)

// Said returns the texts of the messages of role user, without blank ones: what people say, and what a host says in that
// role, such as an alarm that begins a turn. Records and the marks of summaries are neither.
func Said(messages []memory.Message) []string {
	return texts(messages, func(m memory.Message) bool {
		return m.Role() == memory.RoleUser && m.Kind() != memory.KindRecord && m.Kind() != memory.KindCheckpoint
	})
}

// Answered returns the texts of the messages that come from the model, without blank ones.
func Answered(messages []memory.Message) []string {
	return texts(messages, func(m memory.Message) bool { return m.Role() == memory.RoleAssistant })
}

func texts(messages []memory.Message, wanted func(memory.Message) bool) (found []string) {
	for _, m := range messages {
		if !wanted(m) {
			continue
		}
		if text := m.Text(); !ecma.IsBlank(text) {
			found = append(found, text)
		}
	}
	return found
}

// Query returns what a recall should look for: what the turn's input says, or else what a person said last, at most limit
// UTF-16 units of it. "" means that nobody said anything. turn may be nil.
func Query(turn *memory.Turn, messages []memory.Message, limit int) string {
	if turn != nil {
		if said := Said(turn.Input); len(said) > 0 {
			return ecma.Trim(Cut(strings.Join(said, "\n"), limit))
		}
	}
	said := Said(messages)
	if len(said) == 0 {
		return ""
	}
	return ecma.Trim(Cut(said[len(said)-1], limit))
}

// Own returns the messages that belong to the turn: its input and what followed.
func Own(turn *memory.Turn, messages []memory.Message) []memory.Message {
	return messages[min(max(turn.Start, 0), len(messages)):]
}

// Cut returns the longest beginning of text that has at most limit UTF-16 units and ends between two characters.
func Cut(text string, limit int) string {
	units := 0
	for i, r := range text {
		units++
		if r > 0xFFFF {
			units++
		}
		if units > limit {
			return text[:i]
		}
	}
	return text
}
