package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/recollect-go/recollect/memory"
)

// standIn is a Model made of rules, so that the example runs without a model. It sees what a model would see and nothing else.
type standIn struct{}

// A rule turns a delivery into a tool call.
type rule struct {
	pattern *regexp.Regexp
	tool    string
	input   func(match []string) (any, error)
}

// The first group of a pattern is the argument of the tool.
var rules = []rule{
	{regexp.MustCompile(`(?is)^\s*(?:please\s+)?remember\s+for\s+(?:the\s+)?team:?\s*(.+)$`), "workspace__save_memory", text},
	{regexp.MustCompile(`(?is)^\s*(?:please\s+)?remember\s+(?:that\s+)?(.+)$`), "profile__save_memory", text},
	{regexp.MustCompile(`(?s)^\s*(?:请)?(?:为)?团队记住[:：,，]?\s*(.+)$`), "workspace__save_memory", text},
	{regexp.MustCompile(`(?s)^\s*(?:请)?记住[:：,，]?\s*(.+)$`), "profile__save_memory", text},
	{regexp.MustCompile(`(?i)^\s*forget\s+for\s+(?:the\s+)?team:?\s*(\d+)\s*$`), "workspace__remove_memory", index},
	{regexp.MustCompile(`(?i)^\s*forget\s+(\d+)\s*$`), "profile__remove_memory", index},
	{regexp.MustCompile(`^\s*团队忘记\s*(\d+)\s*$`), "workspace__remove_memory", index},
	{regexp.MustCompile(`^\s*忘记\s*(\d+)\s*$`), "profile__remove_memory", index},
	{regexp.MustCompile(`(?i)^\s*(?:start|open)\s+(?:an\s+)?incident\s+(\S+)\s*$`), "start_incident", named("id")},
	{regexp.MustCompile(`(?i)^\s*check\s+(?:service\s+)?(\S+)\s*$`), "check_service", named("service")},
	{regexp.MustCompile(`(?i)^\s*show\s+(?:the\s+)?incident\s*$`), "show_incident", nothing},
}

const standInHelp = `The stand-in understands, in English or Chinese:
  remember FACT                 记住 FACT         save it for yourself
  remember for the team: FACT   团队记住 FACT     save it for the tenant
  forget N                      忘记 N            remove your memory N
  forget for the team: N        团队忘记 N        remove the tenant's memory N
  start incident ID, check SERVICE, show incident
Anything else is a question, answered with the memories in view that share a word with it, or else with all of them.`

func text(match []string) (any, error) { return map[string]any{"text": match[1]}, nil }

func index(match []string) (any, error) {
	n, err := strconv.ParseInt(match[1], 10, 64)
	return map[string]any{"index": n}, err
}

func named(member string) func([]string) (any, error) {
	return func(match []string) (any, error) { return map[string]any{member: match[1]}, nil }
}

func nothing([]string) (any, error) { return map[string]any{}, nil }

// Reply calls a tool when a rule fits the last delivery, reports what tools returned, and otherwise answers from the
// memories in view.
func (standIn) Reply(_ context.Context, r *Prompt) (*Reply, error) {
	if len(r.Messages) == 0 {
		return &Reply{Text: "Nothing was asked."}, nil
	}
	last := r.Messages[len(r.Messages)-1]
	if results := last.ToolResults(); len(results) > 0 {
		return &Reply{Text: describe(results)}, nil
	}
	for _, rule := range rules {
		match := rule.pattern.FindStringSubmatch(last.Text())
		if match == nil {
			continue
		}
		return rule.call(match, r)
	}
	return &Reply{Text: answer(last.Text(), memories(r.Messages))}, nil
}

func (rule *rule) call(match []string, r *Prompt) (*Reply, error) {
	if !offered(r.Tools, rule.tool) {
		return &Reply{Text: "I have no tool " + rule.tool + " in this turn."}, nil
	}
	value, err := rule.input(match)
	if err != nil {
		return &Reply{Text: "That number is out of range."}, nil
	}
	input, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	id := fmt.Sprintf("call_%d", len(r.Messages))
	return &Reply{Calls: []memory.ToolCallPart{{CallID: id, Name: rule.tool, Input: input}}}, nil
}

func offered(tools []memory.Tool, name string) bool {
	for _, t := range tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

func describe(results []memory.ToolResultPart) string {
	lines := make([]string, len(results))
	for i, r := range results {
		verdict := "done"
		if r.IsError {
			verdict = "failed"
		}
		lines[i] = fmt.Sprintf("%s %s: %s", r.Name, verdict, r.Output)
	}
	return strings.Join(lines, "\n")
}

var entry = regexp.MustCompile(`(?m)^\d+: .+$`)

// memories returns the entries of every record in view.
func memories(view []memory.Message) []string {
	var found []string
	for _, m := range view {
		if m.Kind() == memory.KindRecord {
			found = append(found, entry.FindAllString(m.Text(), -1)...)
		}
	}
	return found
}

func answer(question string, known []string) string {
	if len(known) == 0 {
		return "I see no memory that helps. Say “remember …” to save one."
	}
	words := significant(question)
	var fitting []string
	for _, memory := range known {
		if shares(significant(memory), words) {
			fitting = append(fitting, memory)
		}
	}
	if len(fitting) == 0 {
		fitting = known
	}
	return "I see:\n" + strings.Join(fitting, "\n")
}

// significant returns the words of more than three letters, and every Han character.
func significant(s string) map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(w) > 3 {
			words[w] = true
		}
		for _, r := range w {
			if unicode.Is(unicode.Han, r) {
				words[string(r)] = true
			}
		}
	}
	return words
}

func shares(a, b map[string]bool) bool {
	for w := range a {
		if b[w] {
			return true
		}
	}
	return false
}
