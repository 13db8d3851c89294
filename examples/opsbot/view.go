package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/recollect-go/recollect/memory"
)

// view prints the last prompt as it was sent: the system prompt, then every message as JSON, then every tool.
func (b *bot) view() error {
	p := b.lastPrompt
	if p == nil {
		b.say("the model has not been asked since the session was opened")
		return nil
	}
	b.say("system: %s", p.System)
	for _, m := range p.Messages {
		raw, err := json.Marshal(m)
		if err != nil {
			return err
		}
		b.say("message: %s", raw)
	}
	for _, t := range p.Tools {
		b.say("tool: %s: %q %s", t.Name, t.Description, t.InputSchema)
	}
	return nil
}

// readable returns JSON for a person: models may escape every letter that is not ASCII.
func readable(raw json.RawMessage) string {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return string(raw)
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return string(raw)
	}
	return strings.TrimSpace(text.String())
}

func (b *bot) isStandIn() bool {
	_, is := b.model.(standIn)
	return is
}

// summarize lets the model write the summary of a compaction.
func (b *bot) summarize(ctx context.Context, r *memory.SummaryRequest) (string, error) {
	if b.isStandIn() {
		return outline(r), nil
	}
	reply, err := b.model.Reply(ctx, &Prompt{System: r.Instructions, Messages: []memory.Message{memory.UserMessage(r.Prompt)}})
	if err != nil {
		return "", err
	}
	return reply.Text, nil
}

// outline is the stand-in's summary: the previous one, and what people have said since.
func outline(r *memory.SummaryRequest) string {
	lines := []string{}
	if r.Previous != "" {
		lines = append(lines, r.Previous)
	}
	for _, m := range r.Messages {
		if m.Kind() == memory.KindUser {
			lines = append(lines, fmt.Sprintf("- The user said: %s", strings.Join(strings.Fields(m.Text()), " ")))
		}
	}
	return strings.Join(lines, "\n")
}
