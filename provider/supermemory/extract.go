package supermemory

import (
	"context"
	"net/url"
	"strings"

	"github.com/recollect-go/recollect/internal/ecma"
)

type extractInput struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
	Title string `json:"title,omitempty"`
}

func (b *bound) extract(ctx context.Context, in extractInput) (addOutput, error) {
	value := ecma.Trim(in.Value)
	switch {
	case in.Kind != "text" && in.Kind != "url":
		return addOutput{}, input("kind is neither text nor url")
	case value == "":
		return addOutput{}, input("value is blank")
	case (in.Kind == "url") != isAddress(value):
		return addOutput{}, input("an address has the kind url, and nothing else has")
	}
	id := newID("extraction")
	metadata := map[string]any{
		"source": metadataSource, "source_type": "extraction", "source_id": id, "session_id": b.session, "input_type": in.Kind,
	}
	if in.Title != "" {
		metadata["title"] = in.Title
	}
	added, err := b.provider.api.add(ctx, extractName, &addRequest{
		ContainerTag: b.tags.extraction, Content: value, CustomID: id, Metadata: metadata, TaskType: TaskSuperRAG,
	})
	if err != nil {
		return addOutput{}, err
	}
	return addOutput{Document: added.ID, Status: added.Status}, nil
}

// isAddress reports whether text is one web address and nothing else.
func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && strings.IndexFunc(text, ecma.IsSpace) < 0
}
