package supermemory

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rest"
)

// api sends requests to the service.
type api struct {
	client *rest.Client
	retry  rest.Retry
	url    string
	key    Secret
}

func newAPI(key Secret, o *Options) *api {
	return &api{client: rest.NewClient(o.HTTPClient, o.Timeout, o.MaxBytes), retry: o.Retry, url: o.BaseURL, key: key}
}

func variable(lookup func(string) (string, bool), name string) string {
	value, _ := lookup(name)
	return ecma.Trim(value)
}

// call sends body as JSON, unless it is nil, and reads the answer into out, unless that is nil. Every request of this
// package can be sent again: it reads, or it says what is to be.
func (a *api) call(ctx context.Context, operation, method, path string, body, out any) error {
	var encoded []byte
	if body != nil {
		var err error
		if encoded, err = rest.Encode(body); err != nil {
			return failed(operation, err)
		}
	}
	var reply *rest.Response
	err := a.retry.Do(ctx, func(int) (rest.Verdict, error) {
		var err error
		var verdict rest.Verdict
		reply, verdict, err = a.attempt(ctx, operation, &rest.Request{Method: method, URL: a.url + path, Body: encoded})
		return verdict, err
	})
	if err != nil || out == nil {
		return err
	}
	if err := rest.Decode(reply.Body, out); err != nil {
		return &Error{Service: "supermemory", Operation: operation, Err: err}
	}
	return nil
}

func (a *api) attempt(ctx context.Context, operation string, r *rest.Request) (*rest.Response, rest.Verdict, error) {
	authorization, err := rest.Authorize(ctx, a.key)
	if err != nil {
		return nil, rest.Verdict{}, &Error{Service: "supermemory", Operation: operation, Err: err}
	}
	r.Header = http.Header{"Authorization": {authorization}, "Accept": {"application/json"}}
	if r.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	reply, err := a.client.Do(ctx, r)
	if err != nil {
		again := errors.Is(err, ErrNoReply)
		return nil, rest.Verdict{Again: again}, &Error{Service: "supermemory", Operation: operation, Err: err}
	}
	if reply.Status >= 200 && reply.Status < 300 {
		return reply, rest.Verdict{}, nil
	}
	after := rest.RetryAfter(reply.Header, time.Now())
	verdict := rest.Verdict{Again: again(reply), After: after}
	return nil, verdict, &Error{
		Service: "supermemory", Operation: operation, Status: reply.Status, RetryAfter: after, Err: kind(reply.Status),
	}
}

// again reports whether the service's client would send the request again: when the reply says so, or else for these statuses.
func again(reply *rest.Response) bool {
	switch reply.Header.Get("X-Should-Retry") {
	case "true":
		return true
	case "false":
		return false
	}
	switch reply.Status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return reply.Status >= 500
}

// kind returns what a status means. What the service says in its body stays there: it may quote a memory.
func kind(status int) error {
	switch {
	case status < 400:
		return ErrBadReply
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return ErrUnauthorized
	case status == http.StatusNotFound:
		return ErrNotFound
	case status == http.StatusRequestEntityTooLarge:
		return ErrTooLarge
	case status == http.StatusTooManyRequests:
		return ErrRateLimited
	case status == http.StatusRequestTimeout, status >= 500:
		return ErrUnavailable
	}
	return ErrRefused
}

// badReply is the error of an answer that does not hold what it must.
func badReply(operation string) error {
	return &Error{Service: "supermemory", Operation: operation, Err: ErrBadReply}
}

// The API's types hold what this package needs of them.

type profileRequest struct {
	ContainerTag string `json:"containerTag"`
}

type profileReply struct {
	Profile struct {
		Static []string `json:"static"`
	} `json:"profile"`
}

func (a *api) profile(ctx context.Context, tag string) (*profileReply, error) {
	var reply profileReply
	return &reply, a.call(ctx, "recall", http.MethodPost, "/v4/profile", profileRequest{ContainerTag: tag}, &reply)
}

type filters struct {
	AND []condition `json:"AND"`
}

type condition struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

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
	CurrentPage int `json:"currentPage"`
	TotalItems  int `json:"totalItems"`
	TotalPages  int `json:"totalPages"`
}

// document is a document of the service. Content is null until it was digested.
type document struct {
	ID            string          `json:"id"`
	CustomID      *string         `json:"customId"`
	Title         *string         `json:"title"`
	Type          string          `json:"type"`
	Status        string          `json:"status"`
	Summary       *string         `json:"summary"`
	Content       *string         `json:"content"`
	Metadata      json.RawMessage `json:"metadata"` // an object, or anything else
	CreatedAt     string          `json:"createdAt"`
	UpdatedAt     string          `json:"updatedAt"`
	ContainerTags []string        `json:"containerTags"`
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
	Memories   []document `json:"memories"` // the API's name for documents
	Pagination pagination `json:"pagination"`
}

func (a *api) listDocuments(ctx context.Context, operation string, r *listRequest) (*documentList, error) {
	var reply documentList
	return &reply, a.call(ctx, operation, http.MethodPost, "/v3/documents/list", r, &reply)
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

func (a *api) add(ctx context.Context, operation string, r *addRequest) (*addReply, error) {
	var reply addReply
	err := a.call(ctx, operation, http.MethodPost, "/v3/documents", r, &reply)
	if err == nil && reply.ID == "" {
		err = badReply(operation)
	}
	return &reply, err
}

// memoryEntry is a fact that the service extracted.
type memoryEntry struct {
	ID          string   `json:"id"`
	Memory      string   `json:"memory"`
	IsLatest    bool     `json:"isLatest"`
	IsForgotten bool     `json:"isForgotten"`
	IsStatic    bool     `json:"isStatic"`
	CreatedAt   string   `json:"createdAt"`
	DocumentIDs []string `json:"documentIds"`
}

type memoryList struct {
	MemoryEntries []memoryEntry `json:"memoryEntries"`
	Pagination    pagination    `json:"pagination"`
}

func (a *api) listMemories(ctx context.Context, operation string, r *listRequest) (*memoryList, error) {
	var reply memoryList
	return &reply, a.call(ctx, operation, http.MethodPost, "/v4/memories/list", r, &reply)
}

type searchRequest struct {
	Q            string   `json:"q"`
	ContainerTag string   `json:"containerTag"`
	SearchMode   string   `json:"searchMode"`
	Limit        int      `json:"limit"`
	Include      include  `json:"include"`
	Filters      *filters `json:"filters,omitempty"`
}

type include struct {
	Documents bool `json:"documents"`
}

// result is a memory or a piece of a document that a search found.
type result struct {
	ID         string    `json:"id"`
	Memory     string    `json:"memory"`
	Chunk      string    `json:"chunk"`
	Similarity float64   `json:"similarity"`
	UpdatedAt  string    `json:"updatedAt"`
	Documents  []related `json:"documents"`
}

type related struct {
	ID       string          `json:"id"`
	Title    *string         `json:"title"`
	Type     *string         `json:"type"`
	Metadata json.RawMessage `json:"metadata"`
}

// text returns what was found.
func (r *result) text() string {
	if !ecma.IsBlank(r.Memory) {
		return r.Memory
	}
	return r.Chunk
}

func (a *api) search(ctx context.Context, operation string, r *searchRequest) ([]result, error) {
	var reply struct {
		Results []result `json:"results"`
	}
	return reply.Results, a.call(ctx, operation, http.MethodPost, "/v4/search", r, &reply)
}

type forgetRequest struct {
	ContainerTag string `json:"containerTag"`
	ID           string `json:"id"`
	Reason       string `json:"reason,omitempty"`
}

type forgetReply struct {
	ID        string `json:"id"`
	Forgotten bool   `json:"forgotten"`
}

func (a *api) forget(ctx context.Context, operation string, r *forgetRequest) (*forgetReply, error) {
	var reply forgetReply
	return &reply, a.call(ctx, operation, http.MethodDelete, "/v4/memories", r, &reply)
}

type matchingRequest struct {
	ContainerTag string   `json:"containerTag"`
	DryRun       bool     `json:"dryRun"`
	Query        string   `json:"query,omitempty"`
	IDs          []string `json:"ids,omitempty"`
	Threshold    *float64 `json:"threshold,omitempty"`
	MaxForget    *int     `json:"maxForget,omitempty"`
	Reason       string   `json:"reason,omitempty"`
}

type matchingReply struct {
	DryRun     *bool       `json:"dryRun"`
	Count      int         `json:"count"`
	Candidates []candidate `json:"candidates"`
	Forgotten  []candidate `json:"forgotten"`
}

type candidate struct {
	ID     string  `json:"id"`
	Memory string  `json:"memory"`
	Score  float64 `json:"score"`
}

func (a *api) forgetMatching(ctx context.Context, r *matchingRequest) (*matchingReply, error) {
	var reply matchingReply
	err := a.call(ctx, "forget_matching", http.MethodPost, "/v4/memories/forget-matching", r, &reply)
	if err == nil && (reply.DryRun == nil || *reply.DryRun != r.DryRun) {
		err = badReply("forget_matching")
	}
	return &reply, err
}
