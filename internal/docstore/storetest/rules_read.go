package storetest

import (
	"bytes"

	"github.com/stretchr/testify/require"
)

var readRules = []Rule{
	{
		Name: "read-absent",
		Text: "Read of a key without a document returns an error matching fs.ErrNotExist, no content and no version.",
		check: func(p *probe) {
			p.requireAbsent(key(1))
			p.create(key(1), "one")
			p.requireAbsent(key(2))
		},
	},
	{
		Name: "read-back",
		Text: "Read returns the content that was written last and the version that its Write returned.",
		check: func(p *probe) {
			first := p.create(key(1), "one")
			p.requireStored(key(1), "one", first)
			second := p.write(key(1), "two", first)
			p.requireStored(key(1), "two", second)
		},
	},
	{
		Name: "read-from-elsewhere",
		Text: "Another opening of the same store reads what was written, with the same version, and its writes are conditional on it.",
		check: func(p *probe) {
			other := p.other()
			first := p.create(key(1), "one")
			content, version, err := other.Read(p.ctx(), key(1))
			require.NoError(p, err)
			require.Equal(p, "one", string(content))
			require.Equal(p, first, version)
			second, err := other.Write(p.ctx(), key(1), []byte("two"), version)
			require.NoError(p, err)
			p.requireStored(key(1), "two", second)
			_, err = p.store.Write(p.ctx(), key(1), []byte("three"), first)
			p.requireConflict(err, key(1), first, second)
		},
	},
	{
		Name: "read-result-is-the-callers",
		Text: "The slice that Read returns belongs to the caller: changing it changes no document, and no later call changes it.",
		check: func(p *probe) {
			version := p.create(key(1), "one")
			mine, _, err := p.store.Read(p.ctx(), key(1))
			require.NoError(p, err)
			kept, _, err := p.store.Read(p.ctx(), key(1))
			require.NoError(p, err)

			copy(mine, "own")
			p.requireStored(key(1), "one", version)
			require.Equal(p, "one", string(kept), "what another Read returned")

			p.write(key(1), "two", version)
			require.Equal(p, "own", string(mine), "what Read returned, after a Write")
			_ = append(mine, " longer"...)
			p.requireStored(key(1), "two", "")
		},
	},
	{
		Name: "write-argument-is-the-callers",
		Text: "Write keeps nothing of the slice that it is given: changing it afterwards changes no document.",
		check: func(p *probe) {
			content := []byte("one")
			version, err := p.store.Write(p.ctx(), key(1), content, "")
			require.NoError(p, err)
			require.True(p, bytes.Equal(content, []byte("one")), "Write changed its argument")
			copy(content, "own")
			p.requireStored(key(1), "one", version)
		},
	},
}
