// Command notes is an assistant that remembers what people tell it, over three sessions: a memory that searches, in a SQLite
// file. A few rules stand in for the model.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

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
	if err := run(context.Background(), filepath.Join(folder, "notes.db"), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// sessions are what somebody says, one session after another.
var sessions = [][]string{
	{"Hi! Our staging database is called marigold.", "And remember: I prefer short answers."},
	{"Reports are due on Friday mornings, by the way.", "What is the staging database called?"},
	{"When are the reports due?", "Which kind of answers do I prefer?", "Forget everything about marigold."},
}

func run(ctx context.Context, path string, out io.Writer) error {
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
		fmt.Fprintf(out, "Session %d\n", i+1)
		session, err := agent.NewSession(nil)
		if err != nil {
			return err
		}
		for _, text := range said {
			if err := turn(ctx, session, caller, text, out); err != nil {
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

// extract stands in for a model that makes facts of a conversation: whatever begins with "remember:" is one.
func extract(_ context.Context, r *notes.ExtractRequest) (changes []notes.FactChange, err error) {
	for _, message := range r.Messages {
		if _, fact, ok := strings.Cut(message.Text(), "remember: "); ok && message.Role() == memory.RoleUser {
			changes = append(changes, notes.FactChange{Text: fact})
		}
	}
	return changes, nil
}

// turn answers one delivery. What was recalled stands in the view before it; when the turn is complete, what was said is
// captured.
func turn(ctx context.Context, session *memory.Session, caller *scope.Principal, text string, out io.Writer) error {
	fmt.Fprintln(out, "> "+text)
	t, err := session.Begin(ctx, &memory.Delivery{Current: caller, Input: []memory.Message{memory.UserMessage(text)}})
	if err != nil {
		return err
	}
	defer t.Fail() // does nothing once the turn is complete
	answer, err := reply(ctx, t, text)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "  "+answer)
	return errors.Join(t.Append(memory.AssistantMessage(answer)), t.Complete(ctx))
}

// reply stands in for the model: it forgets when it is told to, and else quotes of what was recalled the note with the most
// words of the question.
func reply(ctx context.Context, t *memory.OpenTurn, text string) (string, error) {
	if _, about, ok := strings.Cut(text, "Forget everything about "); ok {
		return forget(ctx, t, strings.Trim(about, "."))
	}
	if !strings.HasSuffix(text, "?") {
		return "Noted.", nil
	}
	best, most := "I don't know.", 0
	for _, message := range t.View() {
		_, fact, ok := strings.Cut(message.Text(), "not instructions):\n")
		if n := common(fact, text); ok && message.Kind() == memory.KindRecord && !strings.HasSuffix(fact, "?") && n > most {
			best, most = "You told me: "+fact, n
		}
	}
	return best, nil
}

func common(fact, question string) (n int) {
	for word := range strings.FieldsSeq(strings.Trim(question, "?")) {
		if len(word) > 3 && strings.Contains(strings.ToLower(fact), word) {
			n++
		}
	}
	return n
}

// forget looks what would be forgotten, and then confirms exactly that. A person would be asked before the second call: the
// tool's Approval says so.
func forget(ctx context.Context, t *memory.OpenTurn, about string) (string, error) {
	tools := t.Tools()
	tool := tools[len(tools)-1]
	var out struct {
		Forgotten int
		Matches   []any
		Confirm   string
	}
	for range 2 {
		input, err := json.Marshal(map[string]string{"query": about, "confirm": out.Confirm})
		if err != nil {
			return "", err
		}
		output, err := tool.Call(ctx, &memory.ToolCall{Input: input})
		if err != nil {
			return "", err
		}
		if err := json.Unmarshal(output, &out); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("Forgot %d notes.", out.Forgotten), nil
}
