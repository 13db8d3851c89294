package memorytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

const slotName = "profile"

// probe is one provider under test, and a name that no other run uses.
type probe struct {
	opts     Options
	provider memory.Provider
	handlers memory.Handlers
	ctx      context.Context
	end      context.CancelFunc
	run      string
	count    atomic.Int64
}

func newProbe(provider memory.Provider, opts Options) (*probe, error) {
	if provider == nil {
		return nil, errors.New("the provider is nil")
	}
	handlers, err := provider.Attach(slotInfo())
	if err != nil {
		return nil, fmt.Errorf("calling Attach: %w", err)
	}
	if handlers.Recall == nil {
		return nil, errors.New("the provider has no Recall")
	}
	p := &probe{opts: opts, provider: provider, handlers: handlers, run: uuid.NewString()}
	p.ctx, p.end = context.WithCancel(context.Background())
	return p, nil
}

func slotInfo() memory.SlotInfo {
	return memory.SlotInfo{Name: slotName, Description: "Checked by memorytest.", Node: "__root__"}
}

// next returns a number that the probe has not used.
func (p *probe) next() int64 { return p.count.Add(1) }

// text returns a text that occurs nowhere else. It holds one word, so a provider that searches finds it by itself.
func (p *probe) text(about string) string {
	return fmt.Sprintf("%s %s", about, p.word())
}

func (p *probe) word() string {
	return fmt.Sprintf("w%sn%de", strings.ReplaceAll(p.run, "-", ""), p.next()) // none is the beginning of another
}

// call runs f with the time that a call may take.
func (p *probe) call(f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(p.ctx, p.opts.Patience)
	defer cancel()
	return f(ctx)
}

// party is somebody with a key.
type party struct {
	*probe
	operation memory.Operation
}

// party returns the party of a namespace and scope that only this probe uses. The same arguments are the same party.
func (p *probe) party(namespace string, s scope.Scope) (*party, error) {
	n := scope.Namespace(namespace + " " + p.run)
	keys, err := scope.Derive(n, s)
	if err != nil {
		return nil, err
	}
	issuer := "memorytest"
	caller := &scope.Principal{Type: "user", Authenticator: "app", Issuer: &issuer, ID: "u_42"}
	return &party{p, memory.Operation{
		Key: keys.Key, Namespace: n, Scope: s, Slot: slotName,
		Session: memory.SessionInfo{ID: "session-" + p.run, Node: "__root__", Current: caller, Initiator: caller},
	}}, nil
}

// two returns two tenants with the same user id.
func (p *probe) two() (a, b *party, err error) {
	if a, err = p.party("app", scope.Tuple("acme", "u_42")); err != nil {
		return nil, nil, err
	}
	b, err = p.party("app", scope.Tuple("globex", "u_42"))
	return a, b, err
}

// one returns a party.
func (p *probe) one() (*party, error) { return p.party("app", scope.Tuple("acme", "u_42")) }

// under returns the party's operation with the given id.
func (a *party) under(id string) memory.Operation {
	operation := a.operation
	operation.ID = id
	return operation
}

// newID returns an operation id that was not used yet.
func (a *party) newID(phase string) string {
	return fmt.Sprintf("memorytest:%s:%d:%s", a.run, a.next(), phase)
}

// recall asks for a turn whose input is the given text.
func (a *party) recall(ctx context.Context, id, input string) ([]memory.Item, error) {
	return a.handlers.Recall(ctx, &memory.TurnStarted{Operation: a.under(id), Turn: a.turn(input)})
}

func (a *party) turn(input string) memory.Turn {
	n := a.next()
	return memory.Turn{ID: fmt.Sprintf("turn-%d", n), Sequence: n, Input: []memory.Message{memory.UserMessage(input)}}
}

// completed returns the request to capture a turn in which the user said the text.
func (a *party) completed(id, text string) *memory.TurnCompleted {
	before := []memory.Message{memory.UserMessage("hello"), memory.AssistantMessage("hello, how can I help?")}
	turn := a.turn(text)
	turn.Start = len(before)
	return &memory.TurnCompleted{
		Operation: a.under(id),
		Messages:  append(before, memory.UserMessage(text), memory.AssistantMessage("noted")),
		Turn:      turn,
	}
}

// save stores the text in the way the options declare.
func (a *party) save(ctx context.Context, text string) error {
	switch {
	case a.opts.SaveTool != "":
		_, err := a.callTool(ctx, a.opts.SaveTool, saveInput(a.opts.SaveArgument, text))
		return err
	case a.opts.Seed != nil:
		return a.opts.Seed(ctx, a.operation.Key, text)
	case a.handlers.CaptureTurn != nil:
		return a.handlers.CaptureTurn(ctx, a.completed(a.newID("turn.completed"), text))
	}
	return errors.New("the options name no way to store a text, and the provider has no CaptureTurn")
}

func saveInput(argument, text string) string {
	input, err := json.Marshal(map[string]string{argument: text})
	if err != nil {
		panic(err) // strings always encode
	}
	return string(input)
}

// tools asks for the party's tools.
func (a *party) tools(ctx context.Context) ([]memory.Tool, error) {
	turn := a.turn("hello")
	return a.handlers.Tools(ctx, &memory.ToolsRequest{Operation: a.under(""), Messages: turn.Input, Turn: turn})
}

func (a *party) callTool(ctx context.Context, name, input string) (json.RawMessage, error) {
	tools, err := a.tools(ctx)
	if err != nil {
		return nil, fmt.Errorf("calling Tools: %w", err)
	}
	tool, err := named(tools, name)
	if err != nil {
		return nil, err
	}
	return tool.Call(ctx, &memory.ToolCall{ID: "call", Input: json.RawMessage(input)})
}

func named(tools []memory.Tool, name string) (memory.Tool, error) {
	for _, tool := range tools {
		if tool.Name == name {
			return tool, nil
		}
	}
	return memory.Tool{}, fmt.Errorf("the provider offers no tool %q", name)
}

// mustSave stores the text and waits until it is recalled.
func (a *party) mustSave(text string) error {
	if err := a.call(func(ctx context.Context) error { return a.save(ctx, text) }); err != nil {
		return fmt.Errorf("storing a text: %w", err)
	}
	return a.mustSee(text)
}

// mustSee returns an error unless the text is recalled, after the time to settle at the latest.
func (a *party) mustSee(text string) error {
	deadline := time.Now().Add(a.opts.Settle)
	for {
		n, err := a.occurrences(text)
		if err != nil {
			return err
		}
		if n > 0 {
			return nil
		}
		if !time.Now().Before(deadline) {
			return fmt.Errorf("%.80q was stored and is not recalled", text)
		}
		time.Sleep(min(100*time.Millisecond, a.opts.Settle/10+time.Millisecond))
	}
}

// mustNotSee returns an error if the text is recalled.
func (a *party) mustNotSee(text, why string) error {
	n, err := a.occurrences(text)
	if err != nil {
		return err
	}
	if n > 0 {
		return fmt.Errorf("%.80q is recalled: %s", text, why)
	}
	return nil
}

// occurrences returns how often a recall shows the text.
func (a *party) occurrences(text string) (n int, err error) {
	err = a.call(func(ctx context.Context) error {
		items, err := a.recall(ctx, a.newID("turn.started"), query(text))
		if err != nil {
			return fmt.Errorf("calling Recall: %w", err)
		}
		for _, item := range items {
			n += strings.Count(item.Content, a.opts.Text(text))
		}
		return nil
	})
	return n, err
}

// query returns what is asked to find a text: the text, or its last word when it is longer than what a person says.
func query(text string) string {
	const most = 2000
	if len(text) <= most {
		return text
	}
	return text[strings.LastIndexByte(text, ' ')+1:]
}

// settle waits until a write that must not show would show.
func (p *probe) settle() { time.Sleep(p.opts.Settle) }

// scopeOf returns the scope of a tenant's user.
func (p *probe) scopeOf(tenant string) scope.Scope { return scope.Tuple(tenant, "u_42") }

func ptr[T any](v T) *T { return &v }
