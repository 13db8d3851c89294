package supermemory

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/recollect-go/recollect/internal/ecma"
)

type profileRequest struct {
	ContainerTag string `json:"containerTag"`
}

type profileReply struct {
	Profile *struct {
		Static []string `json:"static"`
	} `json:"profile"`
}

func (r *profileReply) complete() bool { return r.Profile != nil }

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

func searchFor(tag, query, mode string, limit int, conditions ...condition) *searchRequest {
	r := &searchRequest{Q: query, ContainerTag: tag, SearchMode: mode, Limit: limit, Include: include{Documents: true}}
	if len(conditions) > 0 {
		r.Filters = &filters{AND: conditions}
	}
	return r
}

type searchReply struct {
	Results []result `json:"results"`
}

func (r *searchReply) complete() bool { return r.Results != nil }

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
	var reply searchReply
	err := a.call(ctx, operation, http.MethodPost, "/v4/search", r, &reply)
	return reply.Results, err
}
