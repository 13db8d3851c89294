package supermemory

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rest"
)

// listRequest asks for a page of documents or of memories.
type listRequest struct {
	ContainerTags  []string `json:"containerTags"`
	Filters        *filters `json:"filters,omitempty"`
	IncludeContent *bool    `json:"includeContent,omitempty"`
	Page           int      `json:"page"`
	Limit          int      `json:"limit"`
	Sort           string   `json:"sort"`
	Order          string   `json:"order"`
}

type pagination struct {
	TotalPages int `json:"totalPages"`
}

// document is a document of the service. Content is null until it was digested.
type document struct {
	ID            string          `json:"id"`
	CustomID      *string         `json:"customId"`
	Title         *string         `json:"title"`
	Type          string          `json:"type"`
	Status        string          `json:"status"`
	Summary       *string         `json:"summary"`
	Content       *string         `json:"content,omitempty"`
	Metadata      json.RawMessage `json:"metadata,omitempty"` // an object, or anything else
	CreatedAt     string          `json:"createdAt"`
	UpdatedAt     string          `json:"updatedAt"`
	ContainerTags []string        `json:"containerTags"`
}

// complete refuses an id that could be anything but one part of a path.
func (d *document) complete() bool { return idGrammar.MatchString(d.ID) }

func (d *document) liesUnder(tags ...string) bool {
	return slices.ContainsFunc(tags, func(tag string) bool { return slices.Contains(d.ContainerTags, tag) })
}

// session returns the name of the session that a captured conversation belongs to, "" when it has none.
func (d *document) session() string {
	var metadata struct {
		SessionID string `json:"session_id"`
	}
	if rest.Decode(d.Metadata, &metadata) != nil {
		return ""
	}
	return ecma.Trim(metadata.SessionID)
}

type documentList struct {
	Memories   []document  `json:"memories"` // the API's name for documents
	Pagination *pagination `json:"pagination"`
}

func (l *documentList) complete() bool {
	return l.Memories != nil && l.Pagination != nil && !slices.ContainsFunc(l.Memories, func(d document) bool { return !d.complete() })
}

// listDocuments returns a page. A document that says that it lies elsewhere than under the tags of the request is an error:
// what is listed is shown, or deleted.
func (a *api) listDocuments(ctx context.Context, operation string, r *listRequest) (*documentList, error) {
	var reply documentList
	if err := a.call(ctx, operation, http.MethodPost, "/v3/documents/list", r, &reply); err != nil {
		return nil, err
	}
	for i := range reply.Memories {
		if d := &reply.Memories[i]; d.ContainerTags != nil && !d.liesUnder(r.ContainerTags...) {
			return nil, badReply(operation)
		}
	}
	return &reply, nil
}

func (a *api) document(ctx context.Context, operation, id string) (*document, error) {
	var reply document
	return &reply, a.call(ctx, operation, http.MethodGet, "/v3/documents/"+url.PathEscape(id), nil, &reply)
}

func (a *api) deleteDocument(ctx context.Context, operation, id string) error {
	return a.call(ctx, operation, http.MethodDelete, "/v3/documents/"+url.PathEscape(id), nil, nil)
}

type addRequest struct {
	ContainerTag  string         `json:"containerTag"`
	Content       string         `json:"content"`
	CustomID      string         `json:"customId"`
	Dreaming      Dreaming       `json:"dreaming,omitempty"`
	EntityContext string         `json:"entityContext,omitempty"`
	Metadata      map[string]any `json:"metadata"`
	TaskType      TaskType       `json:"taskType"`
}

type addReply struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

func (r *addReply) complete() bool { return r.ID != "" }

func (a *api) add(ctx context.Context, operation string, r *addRequest) (*addReply, error) {
	var reply addReply
	return &reply, a.call(ctx, operation, http.MethodPost, "/v3/documents", r, &reply)
}
