package storetest

import "github.com/stretchr/testify/require"

// unheardOf is a version that no store ever returns.
const unheardOf = `0"'%_\;--no such version`

var writeRules = []Rule{
	{
		Name: "create",
		Text: `Write with expected "" creates a document that does not exist.`,
		check: func(p *probe) {
			p.requireStored(key(1), "one", p.create(key(1), "one"))
		},
	},
	{
		Name: "create-existing",
		Text: `Write with expected "" on a document that exists is a conflict and writes nothing.`,
		check: func(p *probe) {
			version := p.create(key(1), "one")
			_, err := p.store.Write(p.ctx(), key(1), []byte("two"), "")
			p.requireConflict(err, key(1), "", version)
			p.requireStored(key(1), "one", version)
		},
	},
	{
		Name: "create-existing-same",
		Text: `Write with expected "" on a document that exists is a conflict, also when the content is the same.`,
		check: func(p *probe) {
			version := p.create(key(1), "one")
			_, err := p.store.Write(p.ctx(), key(1), []byte("one"), "")
			p.requireConflict(err, key(1), "", version)
			p.requireStored(key(1), "one", version)
		},
	},
	{
		Name: "write-stale",
		Text: "Write with a version that was replaced is a conflict and writes nothing.",
		check: func(p *probe) {
			first := p.create(key(1), "one")
			second := p.write(key(1), "two", first)
			returned, err := p.store.Write(p.ctx(), key(1), []byte("three"), first)
			p.requireConflict(err, key(1), first, second)
			require.Empty(p, returned, "version returned with a conflict")
			p.requireStored(key(1), "two", second)
			p.write(key(1), "three", second)
		},
	},
	{
		Name: "write-unknown-version",
		Text: "Write with a version that the document never had is a conflict and writes nothing.",
		check: func(p *probe) {
			version := p.create(key(1), "one")
			other := p.create(key(2), "another")
			for _, wrong := range []string{unheardOf, version + "0", other} {
				_, err := p.store.Write(p.ctx(), key(1), []byte("two"), wrong)
				p.requireConflict(err, key(1), wrong, version)
				p.requireStored(key(1), "one", version)
			}
		},
	},
	{
		Name: "write-absent",
		Text: "Write with a version on a document that does not exist is a conflict and writes nothing.",
		check: func(p *probe) {
			_, err := p.store.Write(p.ctx(), key(1), []byte("one"), unheardOf)
			p.requireConflict(err, key(1), unheardOf, "")
			p.requireAbsent(key(1))
		},
	},
	{
		Name: "write-deleted",
		Text: "Write with the version of a document that was deleted is a conflict and brings nothing back.",
		check: func(p *probe) {
			version := p.create(key(1), "one")
			require.NoError(p, p.store.Delete(p.ctx(), key(1), version))
			_, err := p.store.Write(p.ctx(), key(1), []byte("two"), version)
			p.requireConflict(err, key(1), version, "")
			p.requireAbsent(key(1))
		},
	},
	{
		Name: "write-one-key",
		Text: "A Write changes the document of its key and no other.",
		check: func(p *probe) {
			first, second := p.create(key(1), "one"), p.create(key(2), "two")
			third := p.write(key(1), "three", first)
			p.requireStored(key(1), "three", third)
			p.requireStored(key(2), "two", second)
		},
	},
}
