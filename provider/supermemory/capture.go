package supermemory

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"strings"

	"github.com/recollect-go/recollect/internal/dialogue"
	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/memory"
)

const defaultEntityContext = "The text is one turn of a conversation: what a person said follows a line [user], what the assistant answered a line [assistant]. " +
	"Extract what the person said about themselves, their work, wishes, decisions, plans, people and limits, if it will matter in another conversation. " +
	"Extract nothing that only the assistant said, nothing about the assistant or its tools, and nothing that holds for this conversation only. " +
	"That the person did not mention something is no fact."

// toolNote goes behind the entity context of a turn in which the model used this memory.
const toolNote = "\n\nThe assistant used this memory in the turn, so the text may repeat what is stored already. Extract only what the person said " +
	"newly, and nothing that the assistant found, saved or forgot."

// capture stores the turn as one document. Its customId depends on key and operation id, so a repeated capture is the same
// document.
func (p *Provider) capture(ctx context.Context, r *memory.TurnCompleted) error {
	tags, err := p.tags("capture", r.Key)
	if err != nil {
		return err
	}
	own := dialogue.Own(&r.Turn, r.Messages)
	content := conversation(dialogue.Said(r.Turn.Input), dialogue.Answered(own))
	if content == "" {
		return nil
	}
	instructions := p.opts.EntityContext
	if usesTools(own, r.Slot) {
		instructions += toolNote
	}
	_, err = p.api.add(ctx, "capture", &addRequest{
		ContainerTag:  tags.context,
		Content:       content,
		CustomID:      turnID(r.Key, r.ID),
		Dreaming:      p.opts.Dreaming,
		EntityContext: instructions,
		Metadata:      p.metadata(r.Session.ID),
		TaskType:      p.opts.TaskType,
	})
	return err
}

// conversation returns the turn in the form in which the service's provider for eve stores it, "" when nobody said anything.
func conversation(said, answered []string) string {
	if len(said) == 0 {
		return ""
	}
	content := "[user]\n" + ecma.Trim(strings.Join(said, "\n\n")) + "\n"
	if len(answered) > 0 {
		content += "\n[assistant]\n" + ecma.Trim(answered[len(answered)-1]) + "\n"
	}
	return content
}

// usesTools reports whether the model called a tool of the slot.
func usesTools(messages []memory.Message, slot string) bool {
	for _, m := range messages {
		for _, call := range m.ToolCalls() {
			if strings.HasPrefix(call.Name, slot+"__") {
				return true
			}
		}
	}
	return false
}

func (p *Provider) metadata(session string) map[string]any {
	metadata := maps.Clone(p.opts.Metadata)
	if metadata == nil {
		metadata = make(map[string]any)
	}
	metadata["source"] = metadataSource
	metadata["source_type"] = "conversation"
	metadata["source_id"] = conversationID(session)
	metadata["session_id"] = session
	return metadata
}

// metadataSource is what eve's provider writes, so that both are found alike.
const metadataSource = "eve-agent"

// conversationID is the name under which the conversations of a session are found.
func conversationID(session string) string { return "conv_" + session }

// turnID returns the customId of a captured turn, within the service's grammar. The key is part of it: customIds may be
// shared by all container tags of an account.
func turnID(key, operation string) string {
	sum := sha256.Sum256(ecma.AppendQuote(ecma.AppendQuote(nil, key), operation))
	return "turn_" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// newID returns a customId that no other call has. A text that was forgotten can so be stored again, which the service might
// take for one that it has; the repetitions of one call have the same.
func newID(kind string) string { return kind + "_" + rand.Text() }
