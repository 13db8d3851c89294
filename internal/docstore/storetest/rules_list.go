package storetest

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
)

var listRules = []Rule{
	{
		Name:  "list-all",
		Text:  "Listing page by page shows every key that has a document, no page is over the limit, and the listing ends.",
		needs: listing,
		check: func(p *probe) {
			require.Empty(p, p.list(3), "keys of an empty store")
			want := append(caseVariants(), alike()...)
			for _, k := range want {
				p.create(k, "document of "+k)
			}
			for _, limit := range []int{1, 3, len(want), 1000} {
				require.ElementsMatch(p, want, unique(p.list(limit)), "pages of at most %d keys", limit)
			}
		},
	},
	{
		Name:  "list-deleted",
		Text:  "A key whose document was deleted is not listed.",
		needs: listing,
		check: func(p *probe) {
			version := p.create(key(1), "one")
			p.create(key(2), "two")
			require.NoError(p, p.store.Delete(p.ctx(), key(1), version))
			require.Equal(p, []string{key(2)}, unique(p.list(10)))
		},
	},
	{
		Name:  "list-while-changing",
		Text:  "A key that exists during the whole listing is listed, whatever is created and deleted meanwhile.",
		needs: listing,
		check: checkListWhileChanging,
	},
	{
		Name:  "list-limit",
		Text:  "A limit below 1 is an error.",
		needs: listing,
		check: func(p *probe) {
			for _, limit := range []int{0, -1} {
				_, _, err := p.lister().List(p.ctx(), "", limit)
				require.Error(p, err, "limit %d", limit)
			}
		},
	},
	{
		Name:  "list-context",
		Text:  "With a context that was cancelled List returns promptly with an error matching context.Canceled.",
		needs: listing,
		check: func(p *probe) {
			p.create(key(1), "one")
			ctx, cancel := context.WithCancel(p.ctx())
			cancel()
			errs := p.promptly("List", func() []error {
				_, _, err := p.lister().List(ctx, "", 10)
				return []error{err}
			})
			require.ErrorIs(p, errs[0], context.Canceled)
		},
	},
}

func listing(_ *Options, store docstore.Store) string {
	if _, ok := store.(docstore.Lister); !ok {
		return "the store does not list its keys"
	}
	return ""
}

func (p *probe) lister() docstore.Lister { return p.store.(docstore.Lister) }

// list returns the keys of all pages, in the order in which they came.
func (p *probe) list(limit int) []string {
	var all []string
	p.pages(limit, func(keys []string) { all = append(all, keys...) })
	return all
}

// pages calls see with each page.
func (p *probe) pages(limit int, see func(keys []string)) {
	const most = 10_000
	cursor := ""
	for range most {
		keys, next, err := p.lister().List(p.ctx(), cursor, limit)
		require.NoError(p, err, "List")
		require.LessOrEqual(p, len(keys), limit, "keys on a page")
		for _, k := range keys {
			require.NoError(p, docstore.CheckKey(k), "listed key %q", k)
		}
		see(keys)
		if next == "" {
			return
		}
		cursor = next
	}
	require.Failf(p, "no end", "List returned %d pages and still a cursor", most)
}

// checkListWhileChanging deletes keys of pages that were seen, which moves all others up in a listing by position, and
// creates some.
func checkListWhileChanging(p *probe) {
	const keys = 20
	stays, goes := map[string]bool{}, map[string]string{}
	for i := range keys {
		stays[key(10*i)] = true
		p.create(key(10*i), "stays")
		goes[key(10*i+1)] = p.create(key(10*i+1), "goes")
	}
	page := 0
	p.pages(3, func(listed []string) {
		for _, k := range listed {
			delete(stays, k)
		}
		for _, n := range []int{2 * page, 2*page + 1} {
			if gone := key(10*n + 1); n < keys {
				require.NoError(p, p.store.Delete(p.ctx(), gone, goes[gone]))
			}
		}
		if page < keys {
			p.create(key(10*(keys-page)+2), "comes")
		}
		page++
	})
	require.Empty(p, stays, "keys that were not listed")
}

// unique drops what was listed twice, which is allowed.
func unique(keys []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, k := range keys {
		if !seen[k] {
			seen[k] = true
			out = append(out, k)
		}
	}
	return out
}
