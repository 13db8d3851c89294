package supermemory

import (
	"context"
	"fmt"

	"github.com/recollect-go/recollect/internal/ecma"
)

type searchInput struct {
	Query  string `json:"query"`
	Within string `json:"within,omitempty"`
	Source string `json:"source,omitempty"`
}

type searchOutput struct {
	Results []searchResult `json:"results"`
}

type searchResult struct {
	ID         string   `json:"id"`
	Kind       string   `json:"kind"` // memory or document
	Text       string   `json:"text"`
	Similarity float64  `json:"similarity"`
	Updated    string   `json:"updated"`
	Documents  []source `json:"documents"`
}

type source struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	Type  string `json:"type,omitempty"`
}

const toolResults = 10

// modes are the service's names for where to look.
var modes = map[string]string{"": "hybrid", "all": "hybrid", "memories": "memories", "documents": "documents", "conversations": "hybrid"}

func (b *bound) search(ctx context.Context, in searchInput) (searchOutput, error) {
	query := ecma.Trim(in.Query)
	if err := checkQuery(query); err != nil {
		return searchOutput{}, err
	}
	mode, known := modes[in.Within]
	if !known {
		return searchOutput{}, input("within is none of all, memories, documents and conversations")
	}
	var conditions []condition
	if in.Within == "conversations" {
		conditions = append(conditions, condition{"source_type", "conversation"})
	}
	if in.Source != "" {
		conditions = append(conditions, condition{"source_id", in.Source})
	}
	found, err := b.provider.api.search(ctx, searchName, searchFor(b.tags.context, query, mode, toolResults, conditions...))
	if err != nil {
		return searchOutput{}, err
	}
	out := searchOutput{Results: make([]searchResult, len(found))}
	for i := range found {
		out.Results[i] = found[i].forModel()
	}
	return out, nil
}

func checkQuery(query string) error {
	if query == "" {
		return input("query is blank; say what to look for")
	}
	if n := ecma.UTF16Len(query); n > maxQueryCharacters {
		return input(fmt.Sprintf("query has %d characters, at most %d; use fewer words", n, maxQueryCharacters))
	}
	return nil
}

func (r *result) forModel() searchResult {
	out := searchResult{ID: r.ID, Kind: "document", Text: r.text(), Similarity: r.Similarity, Updated: r.UpdatedAt, Documents: []source{}}
	if !ecma.IsBlank(r.Memory) {
		out.Kind = "memory"
	}
	for _, d := range r.Documents {
		out.Documents = append(out.Documents, source{ID: d.ID, Title: orEmpty(d.Title), Type: orEmpty(d.Type)})
	}
	return out
}
