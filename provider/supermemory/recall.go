package supermemory

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/recollect-go/recollect/internal/dialogue"
	"github.com/recollect-go/recollect/memory"
)

// Ids of the two recalled messages, which are those of the service's provider for eve: each recall replaces the one before.
const (
	profileItem = "supermemory-profile-context"
	searchItem  = "supermemory-auto-search"
)

const (
	maxQueryCharacters = 2000 // the beginning of a long message says what it is about
	profileFacts       = 10
	recentMemories     = 5
	conversations      = 10
	memoriesOfOne      = 3
	searchResults      = 5

	listedMemories  = 50
	listedDocuments = 50
)

// stored is what the service says about a key.
type stored struct {
	profile   *profileReply
	documents *documentList // captured conversations, the last ones first
	memories  *memoryList   // the last ones first
	results   []result      // nil without a search
}

// recall asks for everything at once. The first error ends the rest.
func (p *Provider) recall(ctx context.Context, key string, turn *memory.Turn, messages []memory.Message) ([]memory.Item, error) {
	tags, err := p.tags("recall", key)
	if err != nil {
		return nil, err
	}
	query := ""
	if turn != nil && !p.opts.NoSearch {
		query = dialogue.Query(turn, messages, maxQueryCharacters)
	}
	found, err := p.ask(ctx, tags.context, query)
	if err != nil {
		return nil, err
	}
	shown := newShown()
	var items []memory.Item
	content := p.renderProfile(found, shown)
	if content == "" && showsProfile(messages) {
		content = empty(profileElement)
	}
	if content != "" {
		items = append(items, memory.Item{ID: profileItem, Content: content})
	}
	// An empty result is said as well: it takes the place of that of an earlier turn.
	if query != "" {
		items = append(items, memory.Item{ID: searchItem, Content: p.renderResults(found.results, shown)})
	}
	return items, nil
}

// showsProfile reports whether an earlier profile is in sight. A recall that finds nothing has to replace it: what it shows
// was forgotten since.
func showsProfile(messages []memory.Message) bool {
	return slices.ContainsFunc(messages, func(m memory.Message) bool {
		return m.Kind() == memory.KindRecord && strings.HasPrefix(m.Text(), "<"+profileElement+">")
	})
}

func (p *Provider) ask(ctx context.Context, tag, query string) (*stored, error) {
	var found stored
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		found.profile, err = p.api.profile(ctx, tag)
		return err
	})
	group.Go(func() (err error) {
		without := false
		found.documents, err = p.api.listDocuments(ctx, "recall", &listRequest{
			ContainerTags: []string{tag}, Filters: &filters{AND: []condition{{"source_type", "conversation"}}},
			IncludeContent: &without, Page: 1, Limit: listedDocuments, Sort: "updatedAt", Order: "desc",
		})
		return err
	})
	group.Go(func() (err error) {
		found.memories, err = p.api.listMemories(ctx, "recall", &listRequest{
			ContainerTags: []string{tag}, Page: 1, Limit: listedMemories, Sort: "createdAt", Order: "desc",
		})
		return err
	})
	if query != "" {
		group.Go(func() (err error) {
			found.results, err = p.api.search(ctx, "recall", searchFor(tag, query, "hybrid", searchResults))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return &found, nil
}
