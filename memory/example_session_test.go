package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
	"github.com/recollect-go/recollect/state"
)

// constant is a provider that recalls one text.
func constant(text string) memory.Provider {
	return memory.Handlers{Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) {
		return []memory.Item{{ID: "text", Content: text}}, nil
	}}
}

func exampleMemory() *memory.Memory {
	m, err := memory.New([]memory.Slot{{
		Name:      "profile",
		Provider:  constant("Reports are due on Friday."),
		Scope:     scope.Tuple("acme", "u_42"),
		Namespace: scope.Namespace("acme-support-v1"),
	}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	return m
}

func printView(messages []memory.Message) {
	for _, m := range messages {
		fmt.Printf("%s: %s\n", m.Role(), m.Text())
	}
}

func ExampleMemory_NewSession() {
	ctx := context.Background()
	session, err := exampleMemory().NewSession(&memory.SessionOptions{ID: "session_1"})
	if err != nil {
		log.Fatal(err)
	}
	turn, err := session.Begin(ctx, &memory.Delivery{Input: []memory.Message{memory.UserMessage("When are reports due?")}})
	if err != nil {
		log.Fatal(err)
	}
	defer turn.Fail() // does nothing once the turn is complete

	printView(turn.View()) // what a model is called with

	if err := turn.Append(memory.AssistantMessage("On Friday.")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(turn.Complete(ctx))
	// Output:
	// user: Reports are due on Friday.
	// user: When are reports due?
	// <nil>
}

// A process dies in the middle of a turn. Another one goes on from the last snapshot: nothing is recalled again.
func ExampleMemory_RestoreSession() {
	ctx := context.Background()
	session, err := exampleMemory().NewSession(nil)
	if err != nil {
		log.Fatal(err)
	}
	delivery := &memory.Delivery{TurnID: "turn_1", Input: []memory.Message{memory.UserMessage("Check the disk.")}}
	turn, err := session.Begin(ctx, delivery)
	if err != nil {
		log.Fatal(err)
	}
	check := memory.ToolCallPart{CallID: "call_1", Name: "check_disk", Input: json.RawMessage(`{}`)}
	if err := turn.Append(memory.AssistantMessage("", check)); err != nil {
		log.Fatal(err)
	}
	snapshot, err := session.Snapshot()
	if err != nil {
		log.Fatal(err)
	}

	restored, err := exampleMemory().RestoreSession(snapshot, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("unfinished:", restored.Unfinished())
	resumed, err := restored.Begin(ctx, delivery)
	if err != nil {
		log.Fatal(err)
	}
	defer resumed.Fail()
	for _, call := range resumed.Pending() {
		fmt.Println("to be called:", call.Name)
	}
	// Output:
	// unfinished: turn_1
	// to be called: check_disk
}

// The snapshot is attached to the session's state, so that the answer and everything that changed with it are stored
// together.
func ExampleSession_Snapshot() {
	ctx := context.Background()
	checkpoints, err := state.Open(ctx, state.InMemory(), state.ID{Session: "session_1"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	session, err := exampleMemory().NewSession(&memory.SessionOptions{
		ID:      "session_1",
		OnReset: func(ctx context.Context, _ *memory.SessionReset) error { return checkpoints.Reset(ctx) },
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := checkpoints.BeginTurn(ctx, "turn_1"); err != nil {
		log.Fatal(err)
	}
	_, err = state.Step(checkpoints.Context(ctx), "answer", func(ctx context.Context) (string, error) {
		turn, err := session.Begin(ctx, &memory.Delivery{TurnID: "turn_1", Input: []memory.Message{memory.UserMessage("Hello.")}})
		if err != nil {
			return "", err
		}
		defer turn.Fail()
		if err := turn.Append(memory.AssistantMessage("Hi.")); err != nil {
			return "", err
		}
		if err := turn.Complete(ctx); err != nil {
			return "", err
		}
		snapshot, err := session.Snapshot()
		if err != nil {
			return "", err
		}
		return "Hi.", checkpoints.Attach(ctx, "memory.session", snapshot)
	})
	if err != nil {
		log.Fatal(err)
	}

	stored, err := checkpoints.Attachment(ctx, "memory.session")
	if err != nil {
		log.Fatal(err)
	}
	restored, err := exampleMemory().RestoreSession(stored, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(restored.History()))
	fmt.Println(session.Reset(ctx))
	_, err = checkpoints.Attachment(ctx, "memory.session")
	fmt.Println(err != nil)
	// Output:
	// 3
	// <nil>
	// true
}

func ExampleSession_Compact() {
	ctx := context.Background()
	session, err := exampleMemory().NewSession(&memory.SessionOptions{
		Summarize: func(_ context.Context, r *memory.SummaryRequest) (string, error) {
			// A model would be called with r.Instructions and r.Prompt.
			return fmt.Sprintf("They said %d things.", len(r.Messages)), nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		turn, err := session.Begin(ctx, &memory.Delivery{Input: []memory.Message{memory.UserMessage("Tell me something.")}})
		if err != nil {
			log.Fatal(err)
		}
		if err := turn.Append(memory.AssistantMessage(strings.Repeat("Something. ", 50))); err != nil {
			log.Fatal(err)
		}
		if err := turn.Complete(ctx); err != nil {
			log.Fatal(err)
		}
	}
	report, err := session.Compact(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Outcome, len(session.History()))
	fmt.Println(session.History()[2].Text())
	// Output:
	// summarized 5
	// They said 4 things.
}

func ExampleOpenTurn_Deliver() {
	ctx := context.Background()
	session, err := exampleMemory().NewSession(nil)
	if err != nil {
		log.Fatal(err)
	}
	turn, err := session.Begin(ctx, &memory.Delivery{Input: []memory.Message{memory.UserMessage("Write the report.")}})
	if err != nil {
		log.Fatal(err)
	}
	defer turn.Fail()
	if err := turn.Deliver(&memory.Delivery{Input: []memory.Message{memory.UserMessage("In French.")}}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(turn.Complete(ctx)) // the model has not seen it yet
	printView(turn.View())
	// Output:
	// memory: turn is unanswered: a delivery came after the last view
	// user: Reports are due on Friday.
	// user: Write the report.
	// user: In French.
}

func ExampleSession_Forget() {
	ctx := context.Background()
	session, err := exampleMemory().NewSession(nil)
	if err != nil {
		log.Fatal(err)
	}
	turn, err := session.Begin(ctx, &memory.Delivery{Input: []memory.Message{memory.UserMessage("Hello.")}})
	if err != nil {
		log.Fatal(err)
	}
	defer turn.Fail()
	n, err := session.Forget(ctx, "profile")
	fmt.Println(n, err)
	printView(turn.View())
	// Output:
	// 1 <nil>
	// user: Hello.
}

// Reset deletes what the host keeps for the session, and ends it.
func ExampleSession_Reset() {
	stored := map[string]string{"session_1": "snapshot"}
	session, err := exampleMemory().NewSession(&memory.SessionOptions{
		ID: "session_1",
		OnReset: func(_ context.Context, r *memory.SessionReset) error {
			delete(stored, r.SessionID)
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(session.Reset(context.Background()), len(stored))
	_, err = session.Begin(context.Background(), &memory.Delivery{Input: []memory.Message{memory.UserMessage("Hello?")}})
	fmt.Println(err)
	// Output:
	// <nil> 0
	// memory: session has ended
}

func ExampleSession_Clear() {
	ctx := context.Background()
	session, err := exampleMemory().NewSession(nil)
	if err != nil {
		log.Fatal(err)
	}
	turn, err := session.Begin(ctx, &memory.Delivery{Input: []memory.Message{memory.UserMessage("Hello.")}})
	if err != nil {
		log.Fatal(err)
	}
	turn.Fail()
	fmt.Println(len(session.History()), session.Clear(ctx), len(session.History()))
	// Output: 2 <nil> 0
}

// A host that owns the history compacts it by itself and stores what it gets back.
func ExampleMemory_Compact() {
	history := []memory.Message{memory.UserMessage("List the files."), memory.AssistantMessage(strings.Repeat("file ", 500)), memory.UserMessage("Thanks.")}
	result, err := exampleMemory().Compact(context.Background(), &memory.CompactRequest{
		Compaction: memory.Compaction{Session: memory.SessionInfo{ID: "session_1"}, History: history},
		Policy:     &memory.Policy{ContextWindow: 900},
		Summarize:  func(context.Context, *memory.SummaryRequest) (string, error) { return "The files were listed.", nil },
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Outcome)
	printView(result.History[1:])
	// Output:
	// summarized
	// assistant: The files were listed.
	// user: Thanks.
}

func ExamplePolicy_Due() {
	policy := &memory.Policy{ContextWindow: 2000, Envelope: 300}
	load := &memory.Load{Messages: []memory.Message{memory.UserMessage(strings.Repeat("word ", 800))}}
	fmt.Println(policy.Limit(), policy.Tokens(load), policy.Due(load))
	load.Excess = policy.Excess(load, 1700) // what the model's provider counted for the same request
	fmt.Println(policy.Tokens(load), policy.Due(load))
	// Output:
	// 1800 1311 false
	// 1700 true
}

func ExamplePolicy_Shorten() {
	output, err := json.Marshal("BUILD " + strings.Repeat("ok ", 3000) + "exit status 1")
	if err != nil {
		log.Fatal(err)
	}
	result := memory.ToolMessage(memory.ToolResultPart{CallID: "call_1", Name: "build", Output: output})
	short, n := (&memory.Policy{ToolResultBytes: 256}).Shorten([]memory.Message{result})
	fmt.Println(n)
	fmt.Println(strings.ReplaceAll(string(short[0].ToolResults()[0].Output), `\n`, "\n"))
	// Output:
	// 1
	// "BUILD ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok
	// [… 8840 of 9019 bytes left out; call the tool again if you need them …]
	// k ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok exit status 1"
}
