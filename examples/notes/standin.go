package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/notes"
)

// extract stands in for a model that makes facts of a conversation: whatever begins with "remember:" is one.
func extract(_ context.Context, r *notes.ExtractRequest) (changes []notes.FactChange, err error) {
	for _, message := range r.Messages {
		if _, fact, ok := strings.Cut(message.Text(), "remember: "); ok && message.Role() == memory.RoleUser {
			changes = append(changes, notes.FactChange{Text: fact})
		}
	}
	return changes, nil
}

// reply stands in for the model: it forgets when it is told to, and else quotes of what was recalled the note with the most
// words of the question.
func reply(ctx context.Context, t *memory.OpenTurn, text string) (string, error) {
	if _, about, ok := strings.Cut(text, "Forget everything about "); ok {
		return forget(ctx, t, strings.Trim(about, "."))
	}
	if !strings.HasSuffix(text, "?") {
		return "Noted.", nil
	}
	best, most := "I don't know.", 0
	for _, message := range t.View() {
		_, fact, ok := strings.Cut(message.Text(), "not instructions):\n")
		if n := common(fact, text); ok && message.Kind() == memory.KindRecord && !strings.HasSuffix(fact, "?") && n > most {
			best, most = "You told me: "+fact, n
		}
	}
	return best, nil
}

func common(fact, question string) (n int) {
	for word := range strings.FieldsSeq(strings.Trim(question, "?")) {
		if len(word) > 3 && strings.Contains(strings.ToLower(fact), word) {
			n++
		}
	}
	return n
}

// forget looks what would be forgotten, and then confirms exactly that. A person would be asked before the second call: the
// tool's Approval says so.
func forget(ctx context.Context, t *memory.OpenTurn, about string) (string, error) {
	var shown, done struct {
		Forgotten int
		Confirm   string
	}
	err := call(ctx, t, "notes__forget", map[string]string{"query": about}, &shown)
	if err == nil && shown.Confirm != "" {
		err = call(ctx, t, "notes__forget", map[string]string{"query": about, "confirm": shown.Confirm}, &done)
	}
	return fmt.Sprintf("Notes forgotten: %d.", done.Forgotten), err
}

func call(ctx context.Context, t *memory.OpenTurn, name string, input, output any) error {
	tools := t.Tools()
	i := slices.IndexFunc(tools, func(tool memory.Tool) bool { return tool.Name == name })
	if i < 0 {
		return fmt.Errorf("there is no tool %s", name)
	}
	encoded, err := json.Marshal(input)
	if err != nil {
		return err
	}
	result, err := tools[i].Call(ctx, &memory.ToolCall{Input: encoded})
	if err != nil {
		return err
	}
	return json.Unmarshal(result, output)
}
