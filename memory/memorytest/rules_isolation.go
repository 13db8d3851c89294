package memorytest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

// neighbours returns parties whose scopes and namespaces are easily mistaken for one another. The first one is where texts
// are stored.
func (p *probe) neighbours() ([]*party, error) {
	cases := []struct {
		namespace string
		scope     scope.Scope
	}{
		{"app", scope.Tuple("acme", "u_42")},
		{"app", scope.Tuple("globex", "u_42")},
		{"app", scope.Tuple("u_42", "acme")},
		{"app", scope.Tuple("acme")},
		{"app", scope.String("acme")},
		{"app", scope.Tuple("acme", "U_42")},
		{"app", scope.Tuple("acme", "u_4")},
		{"app", scope.Tuple("acme", "u_42", "x")},
		{"app", scope.String(`["acme","u_42"]`)},
		{"app", scope.Tuple("acme", "u%42")},
		{"app", scope.Tuple("acmeu_", "42")},
		{"app", scope.String("acmeu_42")},
		{"other app", scope.Tuple("acme", "u_42")},
	}
	parties := make([]*party, len(cases))
	for i, c := range cases {
		var err error
		if parties[i], err = p.party(c.namespace, c.scope); err != nil {
			return nil, err
		}
	}
	return parties, nil
}

func isolationRecall(p *probe) error {
	parties, err := p.neighbours()
	if err != nil {
		return err
	}
	owner, others := parties[0], parties[1:]
	text := p.text("Reports are due on Friday.")
	if err := owner.mustSave(text); err != nil {
		return err
	}
	p.settle()
	for _, other := range others {
		if err := other.mustNotSee(text, "it is stored under another key"); err != nil {
			return err
		}
	}
	return owner.mustSee(text)
}

func isolationCapture(p *probe) error {
	if p.handlers.CaptureTurn == nil {
		return skip("the provider has no CaptureTurn")
	}
	a, b, err := p.two()
	if err != nil {
		return err
	}
	text := p.text("We moved to the Berlin office.")
	// The operation id is the same for both, as it would be after a namespace change: it must not make one the replay of the
	// other.
	id := a.newID("turn.completed")
	if err := a.capture(id, text); err != nil {
		return err
	}
	p.settle()
	if err := b.mustNotSee(text, "it was captured for another key"); err != nil {
		return err
	}
	if err := b.capture(id, text); err != nil {
		return err
	}
	if !p.opts.Captures {
		return nil
	}
	if err := b.mustSee(text); err != nil {
		return err
	}
	return a.mustSee(text)
}

func isolationTools(p *probe) error {
	if p.opts.SaveTool == "" {
		return skip("the options name no tool that stores a text")
	}
	a, b, err := p.two()
	if err != nil {
		return err
	}
	text := p.text("The pager is with the Berlin office.")
	err = p.call(func(ctx context.Context) error {
		tools, err := a.tools(ctx)
		if err != nil {
			return fmt.Errorf("calling Tools: %w", err)
		}
		// Asking for the tools of another key must not rebind those that were handed out before.
		if _, err := b.tools(ctx); err != nil {
			return fmt.Errorf("calling Tools: %w", err)
		}
		tool, err := named(tools, p.opts.SaveTool)
		if err != nil {
			return err
		}
		_, err = tool.Call(ctx, &memory.ToolCall{Input: json.RawMessage(saveInput(p.opts.SaveArgument, text))})
		return err
	})
	if err != nil {
		return err
	}
	if err := a.mustSee(text); err != nil {
		return err
	}
	return b.mustNotSee(text, "the tool that stored it is bound to another key")
}

func isolationReadTools(p *probe) error {
	if len(p.opts.ReadTools) == 0 {
		return skip("the options name no tool that shows stored text")
	}
	a, b, err := p.two()
	if err != nil {
		return err
	}
	// The tool is given one word of the text and must not show the other: an output may repeat what was asked.
	asked, secret := p.word(), p.word()
	if err := a.mustSave(fmt.Sprintf("The pager %s is with %s.", asked, secret)); err != nil {
		return err
	}
	p.settle()
	for _, tool := range p.opts.ReadTools {
		own, err := a.read(tool, asked)
		if err != nil {
			return fmt.Errorf("tool %q: %w", tool.Name, err)
		}
		if !strings.Contains(own, secret) {
			return fmt.Errorf("tool %q does not show what is stored under its own key", tool.Name)
		}
		// Under the other key the tool may fail, since there is nothing to show.
		foreign, err := b.read(tool, asked)
		if strings.Contains(foreign, secret) || err != nil && strings.Contains(err.Error(), secret) {
			return fmt.Errorf("tool %q shows what is stored under another key", tool.Name)
		}
	}
	return nil
}

func (a *party) read(tool ReadTool, text string) (output string, err error) {
	err = a.call(func(ctx context.Context) error {
		raw, err := a.callTool(ctx, tool.Name, tool.Input(text))
		output = string(raw)
		return err
	})
	return output, err
}
