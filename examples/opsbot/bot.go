package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
	"github.com/recollect-go/recollect/state"
)

const (
	tenantAttribute    = "tenantId"
	profileNamespace   = scope.Namespace("opsbot-profile-v1")
	workspaceNamespace = scope.Namespace("opsbot-workspace-v1")
	staticPrefix       = "static:"
)

// bot is one agent and the conversation it has at the moment.
type bot struct {
	out       io.Writer
	model     Model
	modelName string
	slots     []memory.Slot
	memory    *memory.Memory
	store     state.Store
	opened    []io.Closer
	tools     []memory.Tool
	caller    *scope.Principal // nil: anonymous

	conversation *conversation
	lastPrompt   *Prompt
}

// newBot returns a bot without a conversation. Its folders are held until close.
func newBot(c *config, out io.Writer) (_ *bot, err error) {
	b := &bot{out: out, model: c.model, modelName: c.modelName}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.caller, err = parseCaller(c.caller); err != nil {
		return nil, err
	}
	if b.tools, err = incidentTools(); err != nil {
		return nil, err
	}
	if err := b.openStores(c); err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if b.memory, err = memory.New(b.slots, &memory.Options{Logger: log}); err != nil {
		return nil, err
	}
	b.say("opsbot, answered by %s", c.modelName)
	b.say("memories and checkpoints are in %s; /help lists the commands", c.data)
	if strings.HasPrefix(c.profileScope, staticPrefix) {
		b.say("warning: the profile's scope is fixed, so every tenant and user reads and writes the same profile")
	}
	return b, nil
}

// openStores opens the folders of memory and state, and makes the slots: the profile of one person and the workspace of one
// tenant.
func (b *bot) openStores(c *config) error {
	profile, err := profileScope(c.profileScope)
	if err != nil {
		return err
	}
	checkpoints, err := state.Dir(filepath.Join(c.data, "state"), nil)
	if err != nil {
		return err
	}
	b.store, b.opened = checkpoints, append(b.opened, checkpoints)
	backend, err := filememory.Dir(filepath.Join(c.data, "memory"))
	if err != nil {
		return err
	}
	b.opened = append(b.opened, backend)
	documents, err := filememory.New(backend, nil)
	if err != nil {
		return err
	}
	b.slots = []memory.Slot{
		{
			Name: "profile", Provider: documents, Scope: profile, Namespace: profileNamespace,
			Description: "About the person you talk to: preferences, role, working hours.",
		},
		{
			Name: "workspace", Provider: documents, Scope: scope.ByTenant(tenantAttribute), Namespace: workspaceNamespace,
			Description: "About the team and its systems, shared by everyone in the tenant: runbooks, owners, conventions.",
		},
	}
	return nil
}

func (b *bot) close() error {
	var errs []error
	for _, c := range b.opened {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

func profileScope(name string) (scope.Resolver, error) {
	fixed, isStatic := strings.CutPrefix(name, staticPrefix)
	switch {
	case isStatic && fixed != "":
		return scope.String(fixed), nil
	case name == "principal":
		return scope.ByPrincipal(), nil
	case name == "tenant-principal":
		return scope.ByTenantAndUser(tenantAttribute), nil
	}
	return nil, fmt.Errorf("-profile-scope %q: want tenant-principal, principal or static:NAME", name)
}

// parseCaller returns the principal of TENANT/USER. In a real agent it comes from the identity system, never from what
// somebody types.
func parseCaller(text string) (*scope.Principal, error) {
	tenant, user, found := strings.Cut(strings.TrimSpace(text), "/")
	if !found || tenant == "" || user == "" {
		return nil, fmt.Errorf("%q is not TENANT/USER", text)
	}
	return &scope.Principal{
		Type: "user", Authenticator: "opsbot", ID: user, Attributes: map[string]any{tenantAttribute: tenant},
	}, nil
}

func callerName(p *scope.Principal) string {
	if p == nil {
		return "anonymous"
	}
	return fmt.Sprintf("%s/%s", p.Attributes[tenantAttribute], p.ID)
}

func (b *bot) say(format string, args ...any) { fmt.Fprintf(b.out, format+"\n", args...) }
