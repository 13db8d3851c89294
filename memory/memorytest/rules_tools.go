package memorytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/memory"
)

var toolName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// partitionNames are argument names with which a model could ask for somebody else's memory. Case, dashes and underscores do
// not count.
var partitionNames = []string{
	"key", "memorykey", "storekey", "partition", "scope", "scopekey", "namespace", "namespacekey", "tenant", "tenantid",
	"principal", "principalid", "user", "userid", "session", "sessionid", "agentid", "owner", "ownerid",
}

// offered returns the tools of a party, or a skip when the provider has none.
func offered(p *probe) (a *party, tools []memory.Tool, err error) {
	if p.handlers.Tools == nil {
		return nil, nil, skip("the provider has no tools")
	}
	if a, err = p.one(); err != nil {
		return nil, nil, err
	}
	err = p.call(func(ctx context.Context) error {
		tools, err = a.tools(ctx)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("calling Tools: %w", err)
	}
	return a, tools, nil
}

func toolsWellFormed(p *probe) error {
	_, tools, err := offered(p)
	if err != nil {
		return err
	}
	var problems []error
	seen := make(map[string]bool)
	for _, tool := range tools {
		for _, problem := range toolProblems(tool) {
			problems = append(problems, fmt.Errorf("tool %q %s", tool.Name, problem))
		}
		if seen[tool.Name] {
			problems = append(problems, fmt.Errorf("tool %q is offered twice", tool.Name))
		}
		seen[tool.Name] = true
	}
	return errors.Join(problems...)
}

func toolProblems(tool memory.Tool) (problems []string) {
	if !toolName.MatchString(tool.Name) || !toolName.MatchString(slotName+"__"+tool.Name) {
		problems = append(problems, "has a name outside the grammar")
	}
	if ecma.IsBlank(tool.Description) {
		problems = append(problems, "has no description")
	}
	if tool.Call == nil {
		problems = append(problems, "has no Call")
	}
	var schema struct {
		Type                 string `json:"type"`
		AdditionalProperties *bool  `json:"additionalProperties"`
	}
	switch err := json.Unmarshal(tool.InputSchema, &schema); {
	case err != nil:
		problems = append(problems, "has a schema that cannot be read: "+err.Error())
	case schema.Type != "object":
		problems = append(problems, "has a schema whose type is not object")
	case schema.AdditionalProperties == nil || *schema.AdditionalProperties:
		problems = append(problems, "has an open schema: additionalProperties is not false")
	}
	return problems
}

func toolsTakeNoPartition(p *probe) error {
	_, tools, err := offered(p)
	if err != nil {
		return err
	}
	var problems []error
	for _, tool := range tools {
		var schema any
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
			return fmt.Errorf("tool %q has a schema that cannot be read: %w", tool.Name, err)
		}
		for _, name := range properties(schema) {
			plain := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
			if slices.Contains(partitionNames, plain) {
				problems = append(problems, fmt.Errorf("tool %q takes the argument %q", tool.Name, name))
			}
		}
	}
	return errors.Join(problems...)
}

// properties returns the names of all properties in a schema, at any depth.
func properties(schema any) (names []string) {
	switch node := schema.(type) {
	case []any:
		for _, child := range node {
			names = append(names, properties(child)...)
		}
	case map[string]any:
		for keyword, child := range node {
			if object, ok := child.(map[string]any); ok && (keyword == "properties" || keyword == "patternProperties") {
				for name := range object {
					names = append(names, name)
				}
			}
			names = append(names, properties(child)...)
		}
	}
	return names
}

func toolsRefuseUnknown(p *probe) error {
	_, tools, err := offered(p)
	if err != nil {
		return err
	}
	inputs := []string{`{"memorytest_unknown":true}`, `[]`, `null`, `"text"`, `{`, ``}
	if p.opts.SaveTool != "" {
		text, err := json.Marshal(p.text("This must not be stored."))
		if err != nil {
			return err
		}
		inputs = append(inputs, fmt.Sprintf(`{%q:%s,"memorytest_unknown":true}`, p.opts.SaveArgument, text))
	}
	for _, tool := range tools {
		for _, input := range inputs {
			err := p.call(func(ctx context.Context) error {
				_, err := tool.Call(ctx, &memory.ToolCall{Input: json.RawMessage(input)})
				return err
			})
			if err == nil {
				return fmt.Errorf("tool %q accepts the input %.60q", tool.Name, input)
			}
		}
	}
	return nil
}

func toolsKeepOrder(p *probe) error {
	a, first, err := offered(p)
	if err != nil {
		return err
	}
	_, b, err := p.two()
	if err != nil {
		return err
	}
	for range 20 {
		for _, who := range []*party{a, b} {
			var again []memory.Tool
			if err := p.call(func(ctx context.Context) error { again, err = who.tools(ctx); return err }); err != nil {
				return fmt.Errorf("calling Tools: %w", err)
			}
			if !slices.Equal(toolNames(first), toolNames(again)) {
				return fmt.Errorf("the tools were %q and are %q", toolNames(first), toolNames(again))
			}
		}
	}
	return nil
}

func toolNames(tools []memory.Tool) []string {
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = tool.Name
	}
	return names
}

func toolsResumed(p *probe) error {
	a, first, err := offered(p)
	if err != nil {
		return err
	}
	var resumed []memory.Tool
	if err := p.call(func(ctx context.Context) error {
		resumed, err = p.handlers.Tools(ctx, &memory.ToolsRequest{Operation: a.under(""), Turn: memory.Turn{ID: "turn", Sequence: 1}})
		return err
	}); err != nil {
		return fmt.Errorf("calling Tools for a resumed call: %w", err)
	}
	if !slices.Equal(toolNames(first), toolNames(resumed)) {
		return fmt.Errorf("the tools were %q and are %q when a call is resumed", toolNames(first), toolNames(resumed))
	}
	if p.opts.SaveTool == "" {
		return nil
	}
	tool, err := named(resumed, p.opts.SaveTool)
	if err != nil {
		return err
	}
	text := p.text("The pager is with the Berlin office.")
	if err := p.call(func(ctx context.Context) error {
		_, err := tool.Call(ctx, &memory.ToolCall{Input: json.RawMessage(saveInput(p.opts.SaveArgument, text))})
		return err
	}); err != nil {
		return fmt.Errorf("a resumed call: %w", err)
	}
	return a.mustSee(text)
}
