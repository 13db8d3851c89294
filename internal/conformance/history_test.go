package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

func TestRecallValidation(t *testing.T) {
	bundle{file: "recall_validation.json", skips: 13, run: recallValidation}.test(t)
}

func recallValidation(t *testing.T, input json.RawMessage) (any, error) {
	in, err := decode[struct {
		Result json.RawMessage `json:"result"`
	}](input)
	if err != nil {
		return nil, err
	}
	items, err := recalled(in.Result)
	if err != nil {
		return nil, err
	}
	records, _, err := memory.Bookkeeping{}.Commit(nil, []memory.Batch{{
		Slot: "profile", Namespace: "app", Scope: scope.String("u"), OperationID: "op", Items: items,
	}})
	if err != nil {
		return nil, err
	}
	got := make([]map[string]any, 0, len(records))
	for _, record := range records {
		var metadata map[string]struct {
			ItemKey *string `json:"itemKey"`
		}
		require.NoError(t, json.Unmarshal(record.Metadata(), &metadata))
		got = append(got, map[string]any{"content": record.Text(), "itemKey": metadata["eve.memory"].ItemKey})
	}
	return got, nil
}

// recalled returns a provider's result as the items of a Go provider: nothing for null or none, else the members of {"messages": […]}.
func recalled(result json.RawMessage) ([]memory.Item, error) {
	if len(result) == 0 || string(result) == "null" {
		return nil, nil
	}
	members, err := object(result, "messages")
	if err != nil {
		return nil, err
	}
	var messages []json.RawMessage
	if json.Unmarshal(members["messages"], &messages) != nil || messages == nil {
		return nil, inexpressible("messages that are no list")
	}
	return decodeItems(messages)
}

func decodeItems(messages []json.RawMessage) ([]memory.Item, error) {
	items := make([]memory.Item, len(messages))
	for i, message := range messages {
		members, err := object(message, "id", "content")
		if err != nil {
			return nil, err
		}
		if content, ok := members["content"]; ok && json.Unmarshal(content, &items[i].Content) != nil {
			return nil, inexpressible("content that is no text")
		}
		id, ok := members["id"]
		if !ok {
			continue
		}
		if json.Unmarshal(id, &items[i].ID) != nil || items[i].ID == "" {
			return nil, inexpressible("an id that is there and is empty or no text")
		}
	}
	return items, nil
}

// object reads a JSON object that may have the given members and no other.
func object(data json.RawMessage, names ...string) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil || members == nil {
		return nil, inexpressible("no object")
	}
	for name := range members {
		if !slices.Contains(names, name) {
			return nil, inexpressible(fmt.Sprintf("a member %q", name))
		}
	}
	return members, nil
}

func TestHistoryBytes(t *testing.T) {
	bundle{file: "history_bytes.json", run: historyBytes}.test(t)
}

func historyBytes(t *testing.T, input json.RawMessage) (any, error) {
	in, err := decode[struct {
		ContentBytes json.RawMessage `json:"contentBytes"`
		Fill         string          `json:"fill"`
		Slot         string          `json:"slot"`
		Scope        scope.Scope     `json:"scope"`
		Namespace    scope.Namespace `json:"namespace"`
		OperationID  string          `json:"operationId"`
	}](input)
	if err != nil {
		return nil, err
	}
	sizes, err := oneOrMore(in.ContentBytes)
	if err != nil {
		return nil, err
	}
	batch := memory.Batch{Slot: in.Slot, Namespace: in.Namespace, Scope: in.Scope, OperationID: in.OperationID}
	for _, size := range sizes {
		batch.Items = append(batch.Items, memory.Item{Content: strings.Repeat(in.Fill, size)})
	}
	records, _, err := memory.Bookkeeping{}.Commit(nil, []memory.Batch{batch})
	if err != nil {
		return nil, err
	}
	total := 0
	for _, record := range records {
		text, err := record.MarshalJSON()
		require.NoError(t, err)
		total += len(text)
	}
	return map[string]any{"serializedBytes": total, "should": memory.OverRecordLimit(records)}, nil
}

func oneOrMore(data json.RawMessage) ([]int, error) {
	var one int
	if json.Unmarshal(data, &one) == nil {
		return []int{one}, nil
	}
	return decode[[]int](data)
}

func TestHistory(t *testing.T) {
	bundle{file: "history.json", run: runHistory}.test(t)
}

// lockInput is a lock as a case gives it; batchInput is what was recalled under one.
type lockInput struct {
	Slot       string            `json:"slot"`
	Scope      scope.Scope       `json:"scope"`
	Namespace  scope.Namespace   `json:"namespace"`
	Visibility memory.Visibility `json:"visibility"`
}

type batchInput struct {
	lockInput
	OperationID string            `json:"operationId"`
	Messages    []json.RawMessage `json:"messages"`
}

type historyStep struct {
	Op       string           `json:"op"`
	Batches  []batchInput     `json:"batches"`
	Messages []memory.Message `json:"messages"`
	Locks    []lockInput      `json:"locks"`
}

func (l *lockInput) batch() memory.Batch {
	return memory.Batch{Slot: l.Slot, Scope: l.Scope, Namespace: l.Namespace, Visibility: l.Visibility}
}

func runHistory(t *testing.T, input json.RawMessage) (any, error) {
	in, err := decode[struct {
		History []memory.Message `json:"history"`
		Steps   []historyStep    `json:"steps"`
	}](input)
	if err != nil {
		return nil, err
	}
	h := &history{messages: in.History}
	steps := make([]map[string]any, 0, len(in.Steps))
	for _, step := range in.Steps {
		got, err := h.apply(&step)
		switch {
		case isInexpressible(err):
			return nil, err
		case err != nil:
			got = map[string]any{"error": failed(err)}
		default:
			got["operationCount"] = len(h.digests(t))
		}
		steps = append(steps, got)
	}
	return map[string]any{"steps": steps, "history": list(h.messages), "operationDigests": h.digests(t)}, nil
}

// history is a durable history with its bookkeeping.
type history struct {
	messages    []memory.Message
	bookkeeping memory.Bookkeeping
}

// apply runs one step and returns what it gives. A failed step changes nothing.
func (h *history) apply(step *historyStep) (map[string]any, error) {
	switch step.Op {
	case "recall":
		return h.recall(step.Batches)
	case "append":
		h.messages = append(h.messages, step.Messages...)
		return map[string]any{}, nil
	case "project":
		locked, err := underLocks(step.Locks)
		if err != nil {
			return nil, err
		}
		return h.project(locked)
	case "projectFromState":
		return h.project(h.bookkeeping)
	case "canonicalize":
		records, ordinary, err := memory.Canonical(h.messages)
		return map[string]any{"memory": list(records), "ordinary": list(ordinary)}, err
	case "shouldCanonicalize":
		return map[string]any{"should": memory.OverRecordLimit(h.messages)}, nil
	case "clear":
		*h = history{}
		return map[string]any{}, nil
	}
	return nil, inexpressible(fmt.Sprintf("unknown step %q", step.Op))
}

func (h *history) recall(inputs []batchInput) (map[string]any, error) {
	batches := make([]memory.Batch, len(inputs))
	for i, input := range inputs {
		items, err := decodeItems(input.Messages)
		if err != nil {
			return nil, err
		}
		batches[i] = input.batch()
		batches[i].OperationID, batches[i].Items = input.OperationID, items
	}
	records, bookkeeping, err := h.bookkeeping.Commit(h.messages, batches)
	if err != nil {
		return nil, err
	}
	h.messages, h.bookkeeping = append(h.messages, records...), bookkeeping
	return map[string]any{"appended": len(records)}, nil
}

func (h *history) project(locked memory.Bookkeeping) (map[string]any, error) {
	view, err := locked.Project(h.messages)
	return map[string]any{"projection": list(view)}, err
}

// underLocks returns bookkeeping with the given locks: what recalls that return nothing leave.
func underLocks(locks []lockInput) (memory.Bookkeeping, error) {
	batches := make([]memory.Batch, len(locks))
	for i, lock := range locks {
		batches[i] = lock.batch()
		batches[i].OperationID = fmt.Sprintf("lock %d", i)
	}
	_, bookkeeping, err := memory.Bookkeeping{}.Commit(nil, batches)
	return bookkeeping, err
}

// digests returns the remembered operations with their digests, from the stored form of the bookkeeping.
func (h *history) digests(t *testing.T) map[string]string {
	t.Helper()
	text, err := json.Marshal(h.bookkeeping)
	require.NoError(t, err)
	var stored struct {
		Digests [][2]string `json:"digests"`
	}
	require.NoError(t, json.Unmarshal(text, &stored))
	digests := make(map[string]string, len(stored.Digests))
	for _, pair := range stored.Digests {
		digests[pair[0]] = pair[1]
	}
	return digests
}

// list returns messages as a JSON list, also when there are none.
func list(messages []memory.Message) []memory.Message {
	return append([]memory.Message{}, messages...)
}
