package supermemory

import (
	"context"
	"fmt"
	"strings"

	"github.com/recollect-go/recollect/internal/ecma"
)

type rememberInput struct {
	Memory   string `json:"memory"`
	Document string `json:"document,omitempty"`
}

type addOutput struct {
	Document string `json:"document"`
	Status   string `json:"status"`
}

const (
	maxMemoryCharacters = 3000
	maxMemoryWords      = 180
)

func (b *bound) remember(ctx context.Context, in rememberInput) (addOutput, error) {
	text := ecma.Trim(in.Memory)
	if err := checkMemory(text); err != nil {
		return addOutput{}, err
	}
	metadata := map[string]any{
		"source": metadataSource, "source_type": "memory", "source_id": "memory_" + b.session,
		"conversation_id": conversationID(b.session), "session_id": b.session,
	}
	if in.Document != "" {
		d, err := b.fetch(ctx, rememberName, in.Document, b.tags.extraction)
		if err != nil {
			return addOutput{}, err
		}
		if d.Status != statusDone {
			return addOutput{}, input("document is still being digested; read it again later, then remember")
		}
		metadata["source_document_id"] = d.ID
	}
	added, err := b.provider.api.add(ctx, rememberName, &addRequest{
		ContainerTag: b.tags.context, Content: text, CustomID: newID("memory"),
		Dreaming: DreamingInstant, Metadata: metadata, TaskType: TaskMemory,
	})
	if err != nil {
		return addOutput{}, err
	}
	return addOutput{Document: added.ID, Status: added.Status}, nil
}

func checkMemory(text string) error {
	switch {
	case text == "":
		return input("memory is blank; write the fact")
	case ecma.UTF16Len(text) > maxMemoryCharacters, len(strings.FieldsFunc(text, ecma.IsSpace)) > maxMemoryWords:
		return input(fmt.Sprintf("memory is too long, at most %d characters and %d words; say it shorter or remember several facts",
			maxMemoryCharacters, maxMemoryWords))
	case isAddress(text):
		// The service would fetch the page in place of the text.
		return input("memory is only an address; say what is to be remembered, or use extract")
	}
	return nil
}
