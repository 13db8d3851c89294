package statetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/docstore/storetest"
	"github.com/recollect-go/recollect/state"
)

// Run checks every rule in a subtest of its name. open returns an empty store; it is called once for each rule and leaves
// cleaning up to t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) state.Store, opts *Options) {
	t.Helper()
	o := opts.withDefaults()
	if err := storetest.CheckSkip(o.Skip, isRule); err != nil {
		t.Fatal(err)
	}
	storetest.Run(t, func(t *testing.T) docstore.Store { return open(t) }, o.forStores())
	for _, rule := range sessionRules {
		t.Run(rule.name, func(t *testing.T) {
			if reason, ok := o.Skip[rule.name]; ok {
				t.Skip(reason)
			}
			store := open(t)
			if reason := rule.unmet(o, store); reason != "" {
				t.Skip(reason)
			}
			rule.run(t, t, store, o)
		})
	}
}

// rule is one promise that a session makes because its store keeps the contract.
type rule struct {
	name  string // of its subtest
	text  string // what is promised; it stands in the message of every failure
	check func(p *probe)
	needs func(o *Options, store state.Store) string // returns the reason to skip the rule, or ""; nil: nothing
}

func (r rule) unmet(o *Options, store state.Store) string {
	if r.needs == nil {
		return ""
	}
	return r.needs(o, store)
}

// reporter is the part of *testing.T that failures go to; the kit's own tests record them.
type reporter interface {
	Errorf(format string, args ...any)
	FailNow()
}

func (r rule) run(t *testing.T, to reporter, store state.Store, o *Options) {
	p := &probe{t: t, to: to, rule: r, store: store, options: o}
	p.define()
	r.check(p)
}

// probe is a rule that is being checked. testify's require reports to it.
type probe struct {
	t       *testing.T
	to      reporter
	rule    rule
	store   state.Store
	options *Options

	log   *state.Handle[[]string] // what the steps of a session did
	notes *state.Handle[string]
}

// Errorf reports a failure together with the rule.
func (p *probe) Errorf(format string, args ...any) {
	p.to.Errorf("rule %s: %s\n%s", p.rule.name, p.rule.text, fmt.Sprintf(format, args...))
}

// FailNow ends the check.
func (p *probe) FailNow() { p.to.FailNow() }

func (p *probe) ctx() context.Context { return p.t.Context() }

// define makes the handles of the probe, in a registry of its own.
func (p *probe) define() {
	var registry state.Registry
	var err error
	p.log, err = state.DefineIn(&registry, "statetest.log", func() []string { return nil })
	require.NoError(p, err)
	p.notes, err = state.DefineIn(&registry, "statetest.notes", func() string { return "" })
	require.NoError(p, err)
}

// reopened returns the store as another process would see it.
func (p *probe) reopened() state.Store {
	if p.options.Reopen == nil {
		return p.store
	}
	return p.options.Reopen(p.t, p.store)
}

// open opens a session over a store and begins a turn of it.
func (p *probe) open(store state.Store, id state.ID, turn string) *state.Session {
	s, err := state.Open(p.ctx(), store, id, &state.Options{MaxBytes: p.options.MaxBytes})
	require.NoError(p, err, "open a session")
	require.NoError(p, s.BeginTurn(p.ctx(), turn), "begin a turn")
	return s
}

// step runs a step that adds its name to the log, and reports whether its function ran.
func (p *probe) step(s *state.Session, name string) (ran bool, err error) {
	_, err = state.Step(s.Context(p.ctx()), name, func(ctx context.Context) (string, error) {
		ran = true
		return name, p.addToLog(ctx, name)
	})
	return ran, err
}

func (p *probe) addToLog(ctx context.Context, line string) error {
	_, err := p.log.Update(ctx, func(lines []string) ([]string, error) { return append(lines, line), nil })
	return err
}

func (p *probe) requireLog(s *state.Session, lines ...string) {
	stored, err := p.log.Get(s.Context(p.ctx()))
	require.NoError(p, err, "read the log")
	require.Equal(p, lines, stored, "what the steps did")
}

func (p *probe) key(id state.ID) string {
	key, err := id.Key()
	require.NoError(p, err)
	return key
}
