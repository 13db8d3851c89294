package storetest

import "github.com/stretchr/testify/require"

var deleteRules = []Rule{
	{
		Name: "delete",
		Text: "Delete with the document's version removes it, and it can be created again.",
		check: func(p *probe) {
			version := p.create(key(1), "one")
			other := p.create(key(2), "two")
			require.NoError(p, p.store.Delete(p.ctx(), key(1), version))
			p.requireAbsent(key(1))
			p.requireStored(key(2), "two", other)
			p.requireStored(key(1), "again", p.create(key(1), "again"))
		},
	},
	{
		Name: "delete-absent",
		Text: "Delete of a document that does not exist succeeds, whatever is expected.",
		check: func(p *probe) {
			version := p.create(key(1), "one")
			require.NoError(p, p.store.Delete(p.ctx(), key(1), version))
			for _, expected := range []string{version, "", unheardOf} {
				require.NoError(p, p.store.Delete(p.ctx(), key(1), expected), "deleted before")
				require.NoError(p, p.store.Delete(p.ctx(), key(2), expected), "never written")
			}
		},
	},
	{
		Name: "delete-stale",
		Text: "Delete with another version than the document's is a conflict and removes nothing.",
		check: func(p *probe) {
			first := p.create(key(1), "one")
			second := p.write(key(1), "two", first)
			for _, wrong := range []string{first, unheardOf} {
				p.requireConflict(p.store.Delete(p.ctx(), key(1), wrong), key(1), wrong, second)
				p.requireStored(key(1), "two", second)
			}
		},
	},
	{
		Name: "delete-unconditional",
		Text: `Delete with expected "" of a document that exists is a conflict and removes nothing: there is no unconditional delete.`,
		check: func(p *probe) {
			version := p.create(key(1), "one")
			p.requireConflict(p.store.Delete(p.ctx(), key(1), ""), key(1), "", version)
			p.requireStored(key(1), "one", version)
		},
	},
}
