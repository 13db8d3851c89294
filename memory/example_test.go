package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

// preferences is a provider that recalls one text for every caller.
var preferences = memory.Handlers{
	Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) {
		return []memory.Item{{ID: "language", Content: "The user writes Spanish."}}, nil
	},
	CaptureTurn: func(_ context.Context, r *memory.TurnCompleted) error {
		fmt.Println("captured:", len(r.Messages[r.Turn.Start:]), "messages of", r.Turn.ID)
		return nil
	},
	Tools: func(_ context.Context, r *memory.ToolsRequest) ([]memory.Tool, error) {
		forget, err := memory.NewTool("forget", "Forgets one preference.", json.RawMessage(`{
			"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false
		}`), func(_ context.Context, in struct {
			Name string `json:"name"`
		}) (map[string]string, error) {
			return map[string]string{"forgotten": in.Name}, nil // under r.Key
		})
		return []memory.Tool{forget}, err
	},
}

func newMemory(opts *memory.Options) *memory.Memory {
	m, err := memory.New([]memory.Slot{{
		Name:      "profile",
		Provider:  preferences,
		Scope:     scope.Tuple("acme", "u_42"),
		Namespace: scope.Namespace("acme-support-v1"),
	}}, opts)
	if err != nil {
		panic(err)
	}
	return m
}

// A host with a loop of its own keeps history and bookkeeping, and stores both after every call.
func Example() {
	ctx := context.Background()
	m := newMemory(nil)
	var history []memory.Message
	var book memory.Bookkeeping

	r := &memory.TurnStart{
		Session: memory.SessionInfo{ID: "session_1"},
		Turn:    memory.Turn{ID: "turn_1", Input: []memory.Message{memory.UserMessage("Hola")}},
		History: history, Bookkeeping: book,
	}
	view, err := m.StartTurn(ctx, r)
	if err != nil {
		panic(err)
	}
	for _, message := range view.Messages {
		fmt.Printf("%s: %s\n", message.Role(), message.Text())
	}
	fmt.Println("tool:", view.Tools[0].Name)
	history = append(append(history, view.Records...), r.Turn.Input...)
	history = append(history, memory.AssistantMessage("¡Hola!")) // the model's answer

	r.History, r.Bookkeeping = history, view.Bookkeeping
	if book, err = m.CompleteTurn(ctx, r); err != nil {
		panic(err)
	}
	// Output:
	// user: The user writes Spanish.
	// user: Hola
	// tool: profile__forget
	// captured: 2 messages of turn_1
}

// New lists everything that is wrong.
func ExampleNew() {
	_, err := memory.New([]memory.Slot{{Name: "9lives", Provider: preferences, Scope: scope.String("u_42")}}, nil)
	fmt.Println(errors.Is(err, memory.ErrConfig))
	fmt.Println(err)
	// Output:
	// true
	// memory: invalid configuration:
	// slot "9lives": the name must be a letter and at most 63 letters, digits, underscores and hyphens
	// slot "9lives": no namespace, and neither an application root nor a Vercel project to make one of
}

// A turn whose start was committed is resumed after a crash. No provider is asked for a recall.
func ExampleMemory_ResumeTurn() {
	ctx := context.Background()
	r := &memory.TurnStart{
		Session: memory.SessionInfo{ID: "session_1"},
		Turn:    memory.Turn{ID: "turn_1", Input: []memory.Message{memory.UserMessage("Hola")}},
	}
	started, err := newMemory(nil).StartTurn(ctx, r)
	if err != nil {
		panic(err)
	}
	r.History, r.Bookkeeping = append(started.Records, r.Turn.Input...), started.Bookkeeping // stored, and read by another process
	resumed, err := newMemory(nil).ResumeTurn(ctx, r)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(resumed.Messages), len(resumed.Tools))
	// Output: 2 1
}

// A compaction between turns. The host has summarized the ordinary messages.
func ExampleMemory_CompleteCompaction() {
	ctx := context.Background()
	m := newMemory(nil)
	c := &memory.Compaction{
		Session: memory.SessionInfo{ID: "session_1"}, ModelID: "model",
		History: []memory.Message{memory.UserMessage("a long question"), memory.AssistantMessage("a long answer")},
	}
	var err error
	if c.Bookkeeping, err = m.RequestCompaction(ctx, c); err != nil {
		panic(err)
	}
	_, ordinary, err := memory.Canonical(c.History)
	if err != nil {
		panic(err)
	}
	c.Checkpoint = []memory.Message{memory.AssistantMessage(fmt.Sprintf("a summary of %d messages", len(ordinary)))}
	view, err := m.CompleteCompaction(ctx, c)
	if err != nil {
		panic(err)
	}
	fmt.Println(view.History[0].Text())
	// Output: a summary of 2 messages
}

// A call that waits for a person is resumed in another process from a small, signed binding.
func ExampleMemory_ResumeTool() {
	ctx := context.Background()
	opts := &memory.Options{BindingKey: []byte("a secret of at least thirty-two bytes")}
	view, err := newMemory(opts).StartTurn(ctx, &memory.TurnStart{Session: memory.SessionInfo{ID: "session_1"}, Turn: memory.Turn{ID: "turn_1"}})
	if err != nil {
		panic(err)
	}
	binding, err := newMemory(opts).BindTool(view.Tools[0])
	if err != nil {
		panic(err)
	}

	tool, err := newMemory(opts).ResumeTool(ctx, binding)
	if err != nil {
		panic(err)
	}
	output, err := tool.Call(ctx, &memory.ToolCall{Input: json.RawMessage(`{"name":"language"}`)})
	fmt.Println(string(output), err)
	_, err = newMemory(opts).ResumeTool(ctx, json.RawMessage(strings.Replace(string(binding), "ey", "ez", 1)))
	fmt.Println(errors.Is(err, memory.ErrBinding))
	// Output:
	// {"forgotten":"language"} <nil>
	// true
}

// The error of a strict tool tells the model what to change.
func ExampleNewTool() {
	tool, err := memory.NewTool("save", "Saves a text.", json.RawMessage(`{"type":"object"}`), func(_ context.Context, in struct {
		Text  string `json:"text"`
		Index int    `json:"index,omitempty"`
	}) (string, error) {
		return "saved " + in.Text, nil
	})
	if err != nil {
		panic(err)
	}
	for _, input := range []string{`{"text":"tea"}`, `{"txt":"tea","index":1.5}`} {
		output, err := tool.Call(context.Background(), &memory.ToolCall{Input: json.RawMessage(input)})
		fmt.Println(string(output), err)
	}
	// Output:
	// "saved tea" <nil>
	//  invalid input: "txt" is unknown; known are "text", "index"; "index" must be an integer; "text" is missing
}

// A workflow engine that runs every recall as a step of its own commits the answers itself.
func ExampleBookkeeping_Commit() {
	var book memory.Bookkeeping
	history := []memory.Message{memory.UserMessage("hi")}
	records, book, err := book.Commit(history, []memory.Batch{{
		Slot: "profile", Namespace: "acme-support-v1", Scope: scope.String("u_42"), OperationID: "recall-7",
		Items: []memory.Item{{Content: "The user writes Spanish."}},
	}})
	if err != nil {
		panic(err)
	}
	view, err := book.Project(append(history, records...))
	fmt.Println(len(view), err)
	// Output: 2 <nil>
}

// Messages keep what this library does not know.
func ExampleMessage() {
	var m memory.Message
	if err := json.Unmarshal([]byte(`{"role":"user","kind":"user","content":[{"type":"text","text":"hi"}],"createdAt":7}`), &m); err != nil {
		panic(err)
	}
	text, err := json.Marshal(m)
	fmt.Println(m.Role(), m.Text(), string(text), err)
	// Output: user hi {"role":"user","kind":"user","content":[{"type":"text","text":"hi"}],"createdAt":7} <nil>
}
