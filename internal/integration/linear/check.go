package linear

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// patience is how long the search for an order may take before it counts as failed.
const patience = 2 * time.Minute

// Check returns an error when no order of the operations explains the answers, when a version stood for two contents, or
// when the search did not end in time.
func (h *History) Check() error {
	contents, err := h.contents()
	if err != nil {
		return err
	}
	var operations []porcupine.Operation
	for _, op := range h.operations {
		call, err := asCall(&op, contents[op.key])
		if err != nil {
			return err
		}
		end := op.end.Nanoseconds()
		if op.outcome == unknown {
			end = math.MaxInt64 // it may still take effect at any later time
		}
		operations = append(operations, porcupine.Operation{
			ClientId: op.client, Input: call, Call: op.start.Nanoseconds(), Output: op.outcome, Return: end,
		})
	}
	for _, document := range byKey(operations) {
		if err := checkDocument(document); err != nil {
			return fmt.Errorf("%w: %v", err, h)
		}
	}
	return nil
}

// checkDocument asks porcupine for the verdict, of an order that explains the answers where one is found.
func checkDocument(document []porcupine.Operation) error {
	if sequence, found := witness(document); found {
		document = sequence
	}
	switch porcupine.CheckOperationsTimeout(model, document, patience) {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return fmt.Errorf("no verdict within %v", patience)
	default:
		return errors.New("not linearizable")
	}
}

// contents returns, by key and version, the content that the version stands for.
func (h *History) contents() (map[string]map[string]string, error) {
	all := map[string]map[string]string{}
	for _, op := range h.operations {
		if op.version == "" {
			if op.kind == write && op.outcome == done || op.kind == read && op.content != absent {
				return nil, fmt.Errorf("%s returned content %q without a version", op.kind, op.content)
			}
			continue
		}
		byVersion := all[op.key]
		if byVersion == nil {
			byVersion = map[string]string{"": absent}
			all[op.key] = byVersion
		}
		if known, ok := byVersion[op.version]; ok && known != op.content {
			return nil, fmt.Errorf("version %q stood for %q and for %q", op.version, known, op.content)
		}
		byVersion[op.version] = op.content
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if err := distinct(all[key]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// distinct returns an error when two versions stand for one content: that write was applied twice.
func distinct(byVersion map[string]string) error {
	versions := map[string]string{}
	for version, content := range byVersion {
		if other, ok := versions[content]; ok {
			return fmt.Errorf("content %q had the versions %q and %q: it was written twice", content, other, version)
		}
		versions[content] = version
	}
	return nil
}

// call is an operation in terms of contents, which name writes: the model needs no versions.
type call struct {
	key      string
	kind     kind
	expected string // the content that the write or delete was conditional on
	content  string
}

var errForeignVersion = errors.New("a client used a version that nobody was given")

func asCall(op *operation, contents map[string]string) (call, error) {
	c := call{key: op.key, kind: op.kind, content: op.content}
	if op.kind == read || op.expected == "" {
		return c, nil
	}
	expected, ok := contents[op.expected]
	if !ok {
		return call{}, errForeignVersion
	}
	c.expected = expected
	return c, nil
}

// model is one document: its state is its content.
var model = (&porcupine.NondeterministicModel{
	Partition: byKey,
	Init:      func() []any { return []any{absent} },
	Step: func(state, input, output any) []any {
		return next(state.(string), input.(call), output.(outcome))
	},
}).ToModel()

func byKey(history []porcupine.Operation) [][]porcupine.Operation {
	keys := map[string][]porcupine.Operation{}
	for _, op := range history {
		key := op.Input.(call).key
		keys[key] = append(keys[key], op)
	}
	return slices.Collect(maps.Values(keys))
}

// next returns the states that a call with this outcome can leave behind; none when the outcome is impossible in this state.
func next(state string, c call, told outcome) []any {
	if c.kind == read {
		return possible(c.content == state, state)
	}
	applies := state == c.expected || c.kind == remove && state == absent
	after := c.content // absent for a delete
	switch told {
	case done:
		return possible(applies, after)
	case conflicted:
		return possible(!applies, state)
	default:
		if applies && after != state {
			return []any{state, after}
		}
		return []any{state}
	}
}

func possible(ok bool, state string) []any {
	if !ok {
		return nil
	}
	return []any{state}
}
