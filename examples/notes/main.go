// Command notes is an assistant that remembers what people tell it, over three sessions: a memory that searches, in a SQLite
// file. The rules in standin.go stand in for the model.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/notes"
	"github.com/recollect-go/recollect/scope"
	_ "modernc.org/sqlite"
)

func main() {
	folder, err := os.MkdirTemp("", "notes")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := run(context.Background(), filepath.Join(folder, "notes.db")); err != nil {
		log.Fatal(err)
	}
}

// sessions are what somebody says, one session after another.
var sessions = [][]string{
	{"Hi! Our staging database is called marigold.", "And remember: I prefer short answers."},
	{"Reports are due on Friday mornings, by the way.", "What is the staging database called?"},
	{"When are the reports due?", "Which kind of answers do I prefer?", "Forget everything about marigold."},
}

func run(ctx context.Context, path string) error {
	// WAL mode lets readers go on while one writes. A transaction that begins as a writer does not have to begin again.
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_txlock=immediate")
	if err != nil {
		return err
	}
	defer db.Close()
	agent, err := newAgent(ctx, db)
	if err != nil {
		return err
	}
	caller := &scope.Principal{Type: "user", ID: "u_42", Attributes: map[string]any{"tenantId": "acme"}}
	for i, said := range sessions {
		fmt.Printf("Session %d\n", i+1)
		session, err := agent.NewSession(nil)
		if err != nil {
			return err
		}
		for _, text := range said {
			if err := turn(ctx, session, caller, text); err != nil {
				return err
			}
		}
	}
	return nil
}

func newAgent(ctx context.Context, db *sql.DB) (*memory.Memory, error) {
	store, err := notes.New(db, notes.SQLite, nil)
	if err != nil {
		return nil, err
	}
	if err := store.EnsureSchema(ctx); err != nil {
		return nil, err
	}
	provider, err := notes.NewProvider(store, &notes.ProviderOptions{Capture: notes.CaptureUser, Extractor: extract})
	if err != nil {
		return nil, err
	}
	return memory.New([]memory.Slot{{
		Name: "notes", Provider: provider, Scope: scope.ByTenantAndUser("tenantId"), Namespace: scope.Namespace("acme-assistant-v1"),
	}}, nil)
}

// turn answers one delivery. What was recalled stands in the view before it; when the turn is complete, what was said is
// captured.
func turn(ctx context.Context, session *memory.Session, caller *scope.Principal, text string) error {
	fmt.Println("> " + text)
	t, err := session.Begin(ctx, &memory.Delivery{Current: caller, Input: []memory.Message{memory.UserMessage(text)}})
	if err != nil {
		return err
	}
	defer t.Fail() // does nothing once the turn is complete
	answer, err := reply(ctx, t, text)
	if err != nil {
		return err
	}
	fmt.Println("  " + answer)
	return errors.Join(t.Append(memory.AssistantMessage(answer)), t.Complete(ctx))
}
