package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
)

// Rule is one promise of the contract.
type Rule struct {
	Name string // of its subtest
	Text string // what a store promises; it stands in the message of every failure

	check func(p *probe)
	needs need
}

// need is what a rule cannot be checked without. It returns the reason to skip the rule, or "".
type need func(opts *Options, store docstore.Store) string

// Rules returns all rules, in the order in which they are worth reading.
func Rules() []Rule {
	return slices.Concat(readRules, writeRules, deleteRules, versionRules, contentRules, keyRules, contextRules, raceRules, outcomeRules, listRules)
}

// Run checks every rule in a subtest of its name. open returns an empty store; it is called once for each rule and leaves
// cleaning up to t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) docstore.Store, opts *Options) {
	t.Helper()
	o := opts.withDefaults()
	if err := CheckSkip(o.Skip, IsRule); err != nil {
		t.Fatal(err)
	}
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			if reason, ok := o.Skip[rule.Name]; ok {
				t.Skip(reason)
			}
			store := open(t)
			if reason := rule.unmet(&o, store); reason != "" {
				t.Skip(reason)
			}
			rule.run(t, t, store, &o)
		})
	}
}

func (r Rule) unmet(opts *Options, store docstore.Store) string {
	if r.needs == nil {
		return ""
	}
	return r.needs(opts, store)
}

// reporter is the part of *testing.T that failures go to; the kit's own tests record them.
type reporter interface {
	Errorf(format string, args ...any)
	FailNow()
}

func (r Rule) run(t *testing.T, to reporter, store docstore.Store, opts *Options) {
	r.check(&probe{t: t, to: to, rule: r, store: store, opts: opts})
}

// probe is a rule that is being checked. testify's require reports to it.
type probe struct {
	t     *testing.T
	to    reporter
	rule  Rule
	store docstore.Store
	opts  *Options

	second docstore.Store // what other returned
}

// Errorf reports a failure together with the rule.
func (p *probe) Errorf(format string, args ...any) {
	p.to.Errorf("rule %s: %s\n%s", p.rule.Name, p.rule.Text, fmt.Sprintf(format, args...))
}

// FailNow ends the check.
func (p *probe) FailNow() { p.to.FailNow() }

// other returns a second opening of the store, or the store itself when it has only one. Call it from the test's own
// goroutine.
func (p *probe) other() docstore.Store {
	switch {
	case p.second != nil:
	case p.opts.Reopen == nil:
		p.second = p.store
	default:
		p.second = p.opts.Reopen(p.t, p.store)
	}
	return p.second
}

// key returns the n-th of some valid keys.
func key(n int) string {
	return fmt.Sprintf("memscope1_%043d", n)
}

func (p *probe) ctx() context.Context { return p.t.Context() }

// create writes a document that must not exist and returns its version.
func (p *probe) create(k, content string) string {
	return p.write(k, content, "")
}

// write writes a document that must have the version expected and returns the new version.
func (p *probe) write(k, content, expected string) string {
	version, err := p.store.Write(p.ctx(), k, []byte(content), expected)
	require.NoError(p, err, "Write")
	require.NotEmpty(p, version, "version returned by Write")
	return version
}

// requireStored fails unless the document of k is content, in the given version unless that is "".
func (p *probe) requireStored(k, content, version string) {
	stored, actual, err := p.store.Read(p.ctx(), k)
	require.NoError(p, err, "Read")
	if content != string(stored) {
		require.Failf(p, "another content", "stored: %s\nwanted: %s", describe(string(stored)), describe(content))
	}
	require.NotEmpty(p, actual, "version returned by Read")
	if version != "" {
		require.Equal(p, version, actual, "version returned by Read")
	}
}

// describe shortens contents, which may have megabytes.
func describe(content string) string {
	const shown = 60
	if len(content) <= shown {
		return fmt.Sprintf("%q", content)
	}
	return fmt.Sprintf("%d bytes, %q…", len(content), content[:shown])
}

// requireAbsent fails unless k has no document.
func (p *probe) requireAbsent(k string) {
	content, version, err := p.store.Read(p.ctx(), k)
	require.ErrorIs(p, err, fs.ErrNotExist, "Read of an absent document")
	p.requireSane(err)
	require.Empty(p, content, "content of an absent document")
	require.Empty(p, version, "version of an absent document")
}

// requireConflict fails unless err is a conflict about k and expected. actual is the stored version, "" for none.
func (p *probe) requireConflict(err error, k, expected, actual string) {
	require.ErrorIs(p, err, docstore.ErrConflict)
	p.requireSane(err)
	var conflict *docstore.ConflictError
	require.ErrorAs(p, err, &conflict)
	require.Equal(p, k, conflict.Key, "Key of the conflict")
	require.Equal(p, expected, conflict.Expected, "Expected of the conflict")
	if conflict.Actual != "" {
		require.Equal(p, actual, conflict.Actual, "Actual of the conflict")
	}
}

// requireSane fails when err means two things at once.
func (p *probe) requireSane(err error) {
	var meanings []string
	for _, kind := range []error{docstore.ErrConflict, docstore.ErrUnknownOutcome, docstore.ErrInvalidKey, fs.ErrNotExist} {
		if errors.Is(err, kind) {
			meanings = append(meanings, kind.Error())
		}
	}
	require.LessOrEqual(p, len(meanings), 1, "an error that means two things: %s", strings.Join(meanings, "; "))
}

// promptly returns what f returns, and fails when that takes longer than the patience that the options grant.
func (p *probe) promptly(what string, f func() []error) []error {
	done := make(chan []error, 1)
	go func() { done <- f() }()
	select {
	case errs := <-done:
		return errs
	case <-time.After(p.opts.Patience):
		require.Failf(p, "no answer", "%s did not return within %v", what, p.opts.Patience)
		return nil
	}
}
