package statetest

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/state"
)

// contenders is how many runners compete for one session.
const contenders = 6

var sessionRules = []rule{
	{
		name: "session-resume",
		text: "A session whose process died goes on where its last commit was: completed steps are not run again, the interrupted one is, " +
			"from the state at its beginning.",
		check: checkResume,
	},
	{
		name:  "session-two-runners",
		text:  "Of two runners of one session the second to commit gets a conflict, and nothing of it is stored.",
		check: checkTwoRunners,
	},
	{
		name:  "session-many-runners",
		text:  "However many runners compete for a step, one of them stores it, and its effect is there once.",
		check: checkManyRunners,
	},
	{
		name:  "session-large",
		text:  "A checkpoint near the size limit comes back exactly.",
		check: checkLarge,
	},
	{
		name:  "session-text",
		text:  "Values with characters of all Unicode planes, quotes, escapes and wildcards come back exactly.",
		check: checkText,
	},
	{
		name:  "session-apart",
		text:  "Sessions and nodes whose names are alike do not see each other's state.",
		check: checkApart,
	},
	{
		name:  "session-lost-reply",
		text:  "A step whose commit happened although its reply was lost is not run again; one whose commit did not happen is.",
		check: checkLostReply,
		needs: func(o *Options, _ state.Store) string {
			if o.LoseReply == nil {
				return "Options.LoseReply is not set, so no outcome is unknown"
			}
			return ""
		},
	},
	{
		name:  "session-reset",
		text:  "Reset deletes the checkpoints of a session and of all its children, and of no other session.",
		check: checkReset,
	},
	{
		name:  "session-sweep",
		text:  "A sweep deletes every session that was idle too long, and no other, page by page.",
		check: checkSweep,
		needs: func(_ *Options, store state.Store) string {
			if _, ok := store.(state.Lister); !ok {
				return "the store is not a state.Lister"
			}
			return ""
		},
	},
}

func checkResume(p *probe) {
	id := state.ID{Session: "resume"}
	first := p.open(p.store, id, "turn")
	for _, name := range []string{"plan", "act"} {
		_, err := p.step(first, name)
		require.NoError(p, err)
	}
	died := errors.New("the process dies here")
	_, err := state.Step(first.Context(p.ctx()), "answer", func(ctx context.Context) (string, error) {
		require.NoError(p, p.addToLog(ctx, "lost"))
		return "", died
	})
	require.ErrorIs(p, err, died)

	second := p.open(p.reopened(), id, "turn")
	p.requireLog(second, "plan", "act")
	for _, c := range []struct {
		name string
		runs bool
	}{{"plan", false}, {"act", false}, {"answer", true}} {
		ran, err := p.step(second, c.name)
		require.NoError(p, err)
		require.Equal(p, c.runs, ran, "step %q ran", c.name)
	}
	p.requireLog(second, "plan", "act", "answer")
}

func checkTwoRunners(p *probe) {
	id := state.ID{Session: "two runners"}
	first, second := p.open(p.store, id, "turn"), p.open(p.reopened(), id, "turn")
	_, err := p.step(first, "first")
	require.NoError(p, err)
	_, err = p.step(second, "second")
	require.ErrorIs(p, err, state.ErrConflict, "the second runner's commit")
	p.requireLog(p.open(p.reopened(), id, "turn"), "first")

	_, err = p.step(first, "again")
	require.NoError(p, err, "the runner that committed goes on")
	p.requireLog(p.open(p.reopened(), id, "turn"), "first", "again")
}

func checkManyRunners(p *probe) {
	id := state.ID{Session: "many runners"}
	var lines []string
	for _, step := range []string{"one", "two", "three"} {
		runners := make([]*state.Session, contenders)
		for i := range runners {
			runners[i] = p.open(p.store, id, "turn")
			for _, done := range lines {
				ran, err := p.step(runners[i], done)
				require.NoError(p, err)
				require.False(p, ran, "step %q is stored", done)
			}
		}
		require.Equal(p, 1, countWinners(p, runners, step), "runners that stored step %q", step)
		lines = append(lines, step)
		p.requireLog(p.open(p.store, id, "turn"), lines...)
	}
}

// countWinners has all runners run a step at the same time and returns how many succeeded.
func countWinners(p *probe, runners []*state.Session, step string) int {
	var wg sync.WaitGroup
	errs := make([]error, len(runners))
	for i, runner := range runners {
		wg.Go(func() { _, errs[i] = p.step(runner, step) })
	}
	wg.Wait()
	winners := 0
	for _, err := range errs {
		if err == nil {
			winners++
			continue
		}
		require.ErrorIs(p, err, state.ErrConflict)
	}
	return winners
}

func checkLarge(p *probe) {
	id := state.ID{Session: "large"}
	s := p.open(p.store, id, "turn")
	large := strings.Repeat("0123456789abcdef", (p.options.MaxBytes-2048)/16)
	_, err := p.notes.Update(s.Context(p.ctx()), func(string) (string, error) { return large, nil })
	require.NoError(p, err)
	stored, err := p.notes.Get(p.open(p.reopened(), id, "turn").Context(p.ctx()))
	require.NoError(p, err)
	require.True(p, large == stored, "%d bytes were stored and %d came back", len(large), len(stored))
}

func checkText(p *probe) {
	id := state.ID{Session: "text"}
	var b strings.Builder
	for r := rune(1); r <= 0x10FFFF; r += 0x3F {
		if r < 0xD800 || r > 0xDFFF {
			b.WriteRune(r)
		}
	}
	text := b.String() + "\x00'\"\\%_`$1\r\n\u2028\ufffe<script>"
	s := p.open(p.store, id, "turn")
	_, err := p.notes.Update(s.Context(p.ctx()), func(string) (string, error) { return text, nil })
	require.NoError(p, err)
	stored, err := p.notes.Get(p.open(p.reopened(), id, "turn").Context(p.ctx()))
	require.NoError(p, err)
	require.True(p, text == stored, "the text came back changed")
}

func checkApart(p *probe) {
	ids := []state.ID{
		{Session: "s", Node: "n"}, {Session: "S", Node: "n"}, {Session: "s", Node: "N"}, {Session: "sn", Node: "n"},
		{Session: "s "}, {Session: "s\x00n", Node: "n"}, {Session: "s%"}, {Session: "s_"}, {Session: "s/../s"},
	}
	for i, id := range ids {
		_, err := p.step(p.open(p.store, id, "turn"), string(rune('a'+i)))
		require.NoError(p, err)
	}
	store := p.reopened()
	for i, id := range ids {
		p.requireLog(p.open(store, id, "turn"), string(rune('a'+i)))
	}
}

func checkLostReply(p *probe) {
	id := state.ID{Session: "lost reply"}
	s := p.open(p.store, id, "turn")
	_, err := p.step(s, "first")
	require.NoError(p, err)

	p.options.LoseReply(p.t, p.store, true)
	_, err = p.step(s, "stored")
	require.NoError(p, err, "the session looks, and finds its own commit")

	p.options.LoseReply(p.t, p.store, false)
	_, err = p.step(s, "not stored")
	require.ErrorIs(p, err, state.ErrUnknownOutcome)
	ran, err := p.step(s, "not stored")
	require.NoError(p, err)
	require.True(p, ran, "the step that was not stored ran again")

	p.requireLog(s, "first", "stored", "not stored")
	p.requireLog(p.open(p.reopened(), id, "turn"), "first", "stored", "not stored")
}

func checkReset(p *probe) {
	kept := p.open(p.store, state.ID{Session: "kept"}, "turn")
	_, err := p.step(kept, "kept")
	require.NoError(p, err)

	root := p.open(p.store, state.ID{Session: "reset"}, "turn")
	family := []*state.Session{root}
	for _, node := range []string{"writer", "reader"} {
		child, err := family[len(family)-1].Child(p.ctx(), node)
		require.NoError(p, err)
		require.NoError(p, child.BeginTurn(p.ctx(), "turn"))
		family = append(family, child)
	}
	for _, s := range family {
		_, err := p.step(s, "step")
		require.NoError(p, err)
	}
	require.NoError(p, root.Reset(p.ctx()))
	store := p.reopened()
	for _, s := range family {
		_, _, err := store.Read(p.ctx(), p.key(s.ID()))
		require.ErrorIs(p, err, fs.ErrNotExist, "the checkpoint at node %q", s.ID().Node)
		_, err = p.log.Get(s.Context(p.ctx()))
		require.ErrorIs(p, err, state.ErrStale, "a use after the reset")
	}
	p.requireLog(p.open(store, kept.ID(), "turn"), "kept")
}

func checkSweep(p *probe) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	stamp := func(id string, idle time.Duration) *state.Session {
		options := &state.Options{Now: func() time.Time { return now.Add(-idle) }}
		s, err := state.Open(p.ctx(), p.store, state.ID{Session: id}, options)
		require.NoError(p, err)
		require.NoError(p, p.addToLog(s.Context(p.ctx()), id))
		return s
	}
	var idle, active []*state.Session
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		idle = append(idle, stamp("idle "+name, 3*time.Hour))
		active = append(active, stamp("active "+name, time.Hour))
	}
	foreign := "memscope1_" + strings.Repeat("f", 43)
	_, err := p.store.Write(p.ctx(), foreign, []byte("a document of another kind"), "")
	require.NoError(p, err)

	deleted := 0
	options := state.SweepOptions{IdleFor: 2 * time.Hour, Limit: 3, Now: func() time.Time { return now }}
	for first := true; first || options.Cursor != ""; first = false {
		report, err := state.Sweep(p.ctx(), p.store, &options)
		require.NoError(p, err)
		deleted += report.Deleted
		options.Cursor = report.Next
	}
	require.Equal(p, len(idle), deleted, "sessions deleted")
	for _, s := range idle {
		_, _, err := p.store.Read(p.ctx(), p.key(s.ID()))
		require.ErrorIs(p, err, fs.ErrNotExist)
	}
	for _, s := range active {
		p.requireLog(s, s.ID().Session)
		require.NoError(p, p.addToLog(s.Context(p.ctx()), "goes on"))
	}
	_, _, err = p.store.Read(p.ctx(), foreign)
	require.NoError(p, err, "the document of another kind")
}
