package storetest

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
)

var outcomeRules = []Rule{
	{
		Name:  "outcome-unknown-applied",
		Text:  "A write that happened and whose reply was lost matches ErrUnknownOutcome and not ErrConflict, and the next Read shows it.",
		needs: lostReplies,
		check: func(p *probe) {
			p.checkLostReply(true, "two")
		},
	},
	{
		Name:  "outcome-unknown-not-applied",
		Text:  "A write that did not happen and whose fate is unknown matches ErrUnknownOutcome and not ErrConflict, and the next Read shows the old document.",
		needs: lostReplies,
		check: func(p *probe) {
			p.checkLostReply(false, "one")
		},
	},
	{
		Name:  "outcome-unknown-create",
		Text:  "A create that happened and whose reply was lost is never reported as a conflict with itself.",
		needs: lostReplies,
		check: func(p *probe) {
			p.opts.LoseReply(p.t, p.store, true)
			_, err := p.store.Write(p.ctx(), key(1), []byte("one"), "")
			p.requireUnknown(err)
			p.requireStored(key(1), "one", "")
		},
	},
}

func lostReplies(opts *Options, _ docstore.Store) string {
	if opts.LoseReply == nil {
		return "Options.LoseReply is not set, so no outcome is unknown"
	}
	return ""
}

// checkLostReply loses the reply of a write, and then looks for the given content and goes on.
func (p *probe) checkLostReply(applied bool, stored string) {
	version := p.create(key(1), "one")
	p.opts.LoseReply(p.t, p.store, applied)
	_, err := p.store.Write(p.ctx(), key(1), []byte("two"), version)
	p.requireUnknown(err)
	content, version, err := p.store.Read(p.ctx(), key(1))
	require.NoError(p, err, "Read after an unknown outcome")
	require.Equal(p, stored, string(content), "document after an unknown outcome")
	p.requireStored(key(1), "three", p.write(key(1), "three", version))
}

func (p *probe) requireUnknown(err error) {
	require.Error(p, err, "a write without a reply succeeded")
	require.NotErrorIs(p, err, docstore.ErrConflict)
	require.ErrorIs(p, err, docstore.ErrUnknownOutcome)
	require.NotErrorIs(p, err, context.Canceled, "nobody cancelled")
}
