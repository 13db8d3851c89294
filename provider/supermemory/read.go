package supermemory

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/recollect-go/recollect/internal/ecma"
)

// maxPart is how much of stored text a tool shows at once, in bytes.
const maxPart = 50 << 10

// statusDone is the status of a document that was digested.
const statusDone = "done"

// fetch returns the document with an id if it lies under one of the tags. One of somebody else is the same error, to the
// letter, as one that does not exist, so that nobody learns that there is one.
func (b *bound) fetch(ctx context.Context, operation, id string, tags ...string) (*document, error) {
	if !idGrammar.MatchString(id) {
		return nil, input("id is not one that was shown")
	}
	d, err := b.provider.api.document(ctx, operation, id)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	if err != nil || d.ID != id && orEmpty(d.CustomID) != id || !d.liesUnder(tags...) {
		return nil, failed(operation, ErrNotFound)
	}
	return d, nil
}

type readDocumentInput struct {
	ID     string `json:"id"`
	Offset *int   `json:"offset,omitempty"`
}

type readDocumentOutput struct {
	ID      string `json:"id"`
	Title   string `json:"title,omitempty"`
	Type    string `json:"type,omitempty"`
	Status  string `json:"status"`
	Created string `json:"created"`
	Updated string `json:"updated"`
	Summary string `json:"summary,omitempty"`
	Content string `json:"content"`
	Next    int    `json:"next,omitempty"` // the offset to go on with; left out at the end
	Bytes   int    `json:"bytes"`          // of the whole content
}

func (b *bound) readDocument(ctx context.Context, in readDocumentInput) (readDocumentOutput, error) {
	offset := 0
	if in.Offset != nil {
		offset = *in.Offset
	}
	if offset < 0 {
		return readDocumentOutput{}, input("offset is negative")
	}
	d, err := b.fetch(ctx, readDocumentName, in.ID, b.tags.context, b.tags.extraction)
	if err != nil {
		return readDocumentOutput{}, err
	}
	out := readDocumentOutput{
		ID: d.ID, Title: orEmpty(d.Title), Type: d.Type, Status: d.Status, Created: d.CreatedAt, Updated: d.UpdatedAt, Summary: orEmpty(d.Summary),
	}
	if d.Status != statusDone || d.Content == nil {
		return out, nil
	}
	content := *d.Content
	out.Bytes = len(content)
	if offset > len(content) || offset < len(content) && !utf8.RuneStart(content[offset]) {
		return readDocumentOutput{}, input("offset is not one that an earlier part gave as next")
	}
	out.Content = part(content[offset:])
	if end := offset + len(out.Content); end < len(content) {
		out.Next = end
	}
	return out, nil
}

// part returns the longest beginning of text that is shown at once. It ends between two characters.
func part(text string) string {
	if len(text) <= maxPart {
		return text
	}
	end := maxPart
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

type readSessionInput struct {
	Conversation string `json:"conversation"`
	Page         *int   `json:"page,omitempty"`
}

type readSessionOutput struct {
	Turns    []turn `json:"turns"`
	NextPage int    `json:"next_page,omitempty"` // left out at the end
}

type turn struct {
	Document string `json:"document"`
	Created  string `json:"created"`
	Status   string `json:"status"`
	// Content is left out when it has no room; the document can be read by its id.
	Content *string `json:"content,omitempty"`
}

const sessionPage = 20

func (b *bound) readSession(ctx context.Context, in readSessionInput) (readSessionOutput, error) {
	name := ecma.Trim(in.Conversation)
	if name == "" {
		return readSessionOutput{}, input("conversation is blank; give its name")
	}
	page := 1
	if in.Page != nil {
		page = *in.Page
	}
	if page < 1 {
		return readSessionOutput{}, input("page is less than 1")
	}
	with := true
	list, err := b.provider.api.listDocuments(ctx, readSessionName, &listRequest{
		ContainerTags: []string{b.tags.context}, IncludeContent: &with, Page: page, Limit: sessionPage, Sort: "createdAt", Order: "asc",
		Filters: &filters{AND: []condition{{"source_type", "conversation"}, {"source_id", conversationID(name)}}},
	})
	if err != nil {
		return readSessionOutput{}, err
	}
	out := readSessionOutput{Turns: []turn{}}
	room := maxPart
	for i := range list.Memories {
		d := &list.Memories[i]
		t := turn{Document: d.ID, Created: d.CreatedAt, Status: d.Status}
		if d.Content != nil && len(*d.Content) <= room {
			t.Content = d.Content
			room -= len(*d.Content)
		}
		out.Turns = append(out.Turns, t)
	}
	if page < list.Pagination.TotalPages {
		out.NextPage = page + 1
	}
	return out, nil
}
