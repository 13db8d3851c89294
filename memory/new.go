package memory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/scope"
)

// slot is a Slot that was checked and attached.
type slot struct {
	Slot
	handlers Handlers
	log      *slog.Logger // says which slot it is
}

// minBindingKey is the length of a key that matches the strength of its HMAC-SHA256.
const minBindingKey = 32

// New returns the memories of the given slots, in their order, or one error that lists every problem and matches ErrConfig.
// It attaches every slot's provider and asks nothing else of it.
func New(slots []Slot, opts *Options) (*Memory, error) {
	if opts == nil {
		opts = &Options{}
	}
	m := opts.memory()
	problems := opts.problems()
	seen := make(map[string]bool, len(slots))
	for i := range slots {
		s := slots[i]
		problems = append(problems, m.attach(&s, opts, i)...)
		if s.Name != "" && seen[s.Name] {
			problems = append(problems, fmt.Errorf("slot %q: two slots have this name", s.Name))
		}
		seen[s.Name] = true
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("%w:\n%w", ErrConfig, errors.Join(problems...))
	}
	return m, nil
}

// memory returns a Memory without slots.
func (o *Options) memory() *Memory {
	m := &Memory{
		node:           o.Node,
		log:            o.Logger,
		development:    o.Development,
		captureTimeout: o.CaptureTimeout,
		outbox:         o.Outbox,
		validator:      o.Validator,
		bindingKey:     slices.Clone(o.BindingKey),
	}
	if m.node == "" {
		m.node = scope.RootNode
	}
	if m.log == nil {
		m.log = slog.Default()
	}
	if o.Observer != nil {
		m.observer = *o.Observer
	}
	if m.captureTimeout == 0 {
		m.captureTimeout = DefaultCaptureTimeout
	}
	return m
}

func (o *Options) problems() (problems []error) {
	if err := ecma.Valid(o.Node); err != nil {
		problems = append(problems, fmt.Errorf("node: %w", err))
	}
	if o.CaptureTimeout < 0 {
		problems = append(problems, errors.New("negative capture timeout"))
	}
	if n := len(o.BindingKey); n > 0 && n < minBindingKey {
		problems = append(problems, fmt.Errorf("binding key of %d bytes, at least %d", n, minBindingKey))
	}
	return problems
}

// attach checks one slot and adds it, and returns what is wrong with it.
func (m *Memory) attach(s *Slot, opts *Options, index int) []error {
	name := fmt.Sprintf("slot %q", s.Name)
	if s.Name == "" {
		name = fmt.Sprintf("slot %d", index)
	}
	problems := slices.Concat(s.problems(), s.resolverProblems(m.node, opts.Deployment))
	handlers, err := m.handlers(s)
	if err != nil {
		problems = append(problems, err)
	}
	for i, problem := range problems {
		problems[i] = fmt.Errorf("%s: %w", name, problem)
	}
	s.Visibility = s.Visibility.orDefault()
	m.slots = append(m.slots, &slot{Slot: *s, handlers: handlers, log: m.log.With("slot", s.Name)})
	return problems
}

func (s *Slot) problems() (problems []error) {
	switch {
	case !validName(s.Name):
		problems = append(problems, errors.New("the name must be a letter and at most 63 letters, digits, underscores and hyphens"))
	case reservedName(s.Name):
		problems = append(problems, errors.New("the name is reserved"))
	}
	if !s.Visibility.orDefault().known() {
		problems = append(problems, fmt.Errorf("unknown visibility %q", s.Visibility))
	}
	if s.Description != "" && ecma.IsBlank(s.Description) {
		problems = append(problems, errors.New("the description is blank"))
	}
	if err := ecma.Valid(s.Description); err != nil {
		problems = append(problems, fmt.Errorf("description: %w", err))
	}
	if s.Timeout < 0 {
		problems = append(problems, errors.New("negative timeout"))
	}
	return problems
}

// resolverProblems checks the resolvers, and gives the slot the default namespace if it has none of its own.
func (s *Slot) resolverProblems(node string, deployment scope.Deployment) (problems []error) {
	if s.Scope == nil {
		problems = append(problems, errors.New("no scope"))
	} else if err := scope.Validate(s.Scope); err != nil {
		problems = append(problems, err)
	}
	if s.Namespace != nil {
		if err := scope.ValidateNamespace(s.Namespace); err != nil {
			problems = append(problems, fmt.Errorf("namespace: %w", err))
		}
		return problems
	}
	if !deployment.IsKnown() {
		return append(problems, errors.New("no namespace, and neither an application root nor a Vercel project to make one of"))
	}
	namespace, err := scope.DefaultNamespace(deployment, node, s.Name)
	if err != nil {
		problems = append(problems, err)
	}
	s.Namespace = namespace
	return problems
}

// handlers attaches the slot's provider.
func (m *Memory) handlers(s *Slot) (h Handlers, err error) {
	if s.Provider == nil {
		return h, errors.New("no provider")
	}
	defer recoverInto(context.Background(), m.log, &err)
	info := SlotInfo{Name: s.Name, Description: s.Description, Node: m.node, Development: m.development}
	if h, err = s.Provider.Attach(info); err != nil {
		return h, fmt.Errorf("provider: %w", err)
	}
	if h.Recall == nil {
		return h, errors.New("the provider has no Recall")
	}
	if h.Tools != nil && validName(s.Name) && !validName(info.ToolName("x")) {
		return h, errors.New("the name is too long for any tool: <slot>__<tool> has at most 64 characters")
	}
	return h, nil
}
