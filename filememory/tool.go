package filememory

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/recollect-go/recollect/internal/rawjson"
	"github.com/recollect-go/recollect/memory"
)

// Names of the tools, which are eve's. The model sees them behind the slot's name and two underscores.
const (
	saveName   = "save_memory"
	removeName = "remove_memory"
)

const saveDescription = "Save one fact that will still matter in later conversations: a lasting preference, a decision, who or what somebody " +
	"works with. Write one short self-contained sentence. Never save passwords, tokens, keys, payment data or one-time codes. " +
	"A fact that is saved already is not saved again. Returns the index of the entry."

const removeDescription = "Remove a saved memory that is wrong, outdated or unwanted, by the index it has in the list of memories. " +
	"To correct a memory, remove it and save the corrected text. An index that is not in the list is no error."

const (
	saveSchema = `{"type":"object","properties":{"text":{"type":"string","minLength":1,` +
		`"description":"The fact, in one line of at most 2048 bytes."}},"required":["text"],"additionalProperties":false}`
	removeSchema = `{"type":"object","properties":{"index":{"type":"integer","minimum":0,"maximum":9007199254740991,` +
		`"description":"The number before the colon."}},"required":["index"],"additionalProperties":false}`
)

// tools returns the tools of the model, bound to key.
func (s *Slot) tools(key string) []memory.Tool {
	opts := &s.provider.opts
	return []memory.Tool{
		{
			Name:        saveName,
			Description: saveDescription,
			InputSchema: json.RawMessage(saveSchema),
			Approval:    opts.ApproveSave,
			Call: func(ctx context.Context, call *memory.ToolCall) (json.RawMessage, error) {
				return s.callSave(ctx, key, call.Input)
			},
		},
		{
			Name:        removeName,
			Description: removeDescription,
			InputSchema: json.RawMessage(removeSchema),
			Approval:    opts.ApproveRemove,
			Call: func(ctx context.Context, call *memory.ToolCall) (json.RawMessage, error) {
				return s.callRemove(ctx, key, call.Input)
			},
		},
	}
}

func (s *Slot) callSave(ctx context.Context, key string, input json.RawMessage) (json.RawMessage, error) {
	text, err := textInput(input)
	if err != nil {
		return nil, s.failed("save", err)
	}
	saved, err := s.Save(ctx, key, text)
	if err != nil {
		return nil, err
	}
	return output(saved.Index, "saved", saved.Saved), nil
}

func (s *Slot) callRemove(ctx context.Context, key string, input json.RawMessage) (json.RawMessage, error) {
	index, err := indexInput(input)
	if err != nil {
		return nil, s.failed("remove", err)
	}
	removed, err := s.Remove(ctx, key, index)
	if err != nil {
		return nil, err
	}
	return output(index, "removed", removed), nil
}

// output returns {"index":…,"<what>":…}.
func output(index int64, what string, done bool) json.RawMessage {
	out := make([]byte, 0, 48)
	out = append(out, `{"index":`...)
	out = strconv.AppendInt(out, index, 10)
	out = append(out, `,"`...)
	out = append(out, what...)
	out = append(out, `":`...)
	out = strconv.AppendBool(out, done)
	return append(out, '}')
}

func textInput(input json.RawMessage) (string, error) {
	value, err := onlyMember(input, "text")
	if err != nil {
		return "", err
	}
	if rawjson.Kind(value) != '"' {
		return "", badInput("text is not a string")
	}
	text, err := rawjson.String(value)
	if err != nil {
		return "", badInput(fmt.Sprintf("text: %v", err))
	}
	return text, nil
}

// indexInput accepts every JSON number that is an integer, 1.0 and 1e0 included, as JSON Schema does.
func indexInput(input json.RawMessage) (int64, error) {
	value, err := onlyMember(input, "index")
	if err != nil {
		return 0, err
	}
	if index, ok := parseIndex(string(value)); ok {
		return index, nil
	}
	// Every integer up to MaxIndex is exactly a float64, and nothing over it becomes one of them.
	number, err := strconv.ParseFloat(string(value), 64)
	if err != nil || number != math.Trunc(number) || number < 0 || number > MaxIndex {
		return 0, badInput("index is not an integer from 0 to 9007199254740991")
	}
	return int64(number), nil
}

// onlyMember returns the value of the one member that input must have.
func onlyMember(input json.RawMessage, name string) (json.RawMessage, error) {
	compact, err := rawjson.Compact(input)
	if err != nil {
		return nil, badInput(err.Error())
	}
	members, err := rawjson.Members(compact)
	if err != nil {
		return nil, badInput(err.Error())
	}
	for _, m := range members {
		if m.Name != name {
			return nil, badInput(fmt.Sprintf("%.40q is not known; give only %s", m.Name, name))
		}
	}
	if len(members) == 0 {
		return nil, badInput(name + " is missing")
	}
	return members[0].Value, nil
}

// badInput is an error that the model can act on.
func badInput(problem string) error {
	return fmt.Errorf("%w: %s", memory.ErrToolInput, problem)
}
