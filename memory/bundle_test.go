package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

const app = scope.Namespace("app")

// bundle is one session of a stateless host.
type bundle struct {
	t       testing.TB
	m       *memory.Memory
	session memory.SessionInfo
	turn    memory.Turn
	history []memory.Message
	book    memory.Bookkeeping
}

// newBundle returns a session with the given slots, which get a scope and a namespace when they have none.
func newBundle(t testing.TB, opts *memory.Options, slots ...memory.Slot) *bundle {
	t.Helper()
	b := &bundle{t: t, session: memory.SessionInfo{ID: "session_1"}}
	b.replace(opts, slots...)
	return b
}

// replace gives the session to another process, with other slots.
func (b *bundle) replace(opts *memory.Options, slots ...memory.Slot) {
	b.t.Helper()
	if opts == nil {
		opts = &memory.Options{}
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	for i := range slots {
		if slots[i].Scope == nil {
			slots[i].Scope = scope.String("u_42")
		}
		if slots[i].Namespace == nil {
			slots[i].Namespace = app
		}
	}
	var err error
	b.m, err = memory.New(slots, opts)
	require.NoError(b.t, err)
}

// request begins the next turn with a text as its input.
func (b *bundle) request(text string) *memory.TurnStart {
	b.turn.Sequence++
	b.turn.ID = fmt.Sprintf("turn_%d", b.turn.Sequence)
	b.turn.Input = []memory.Message{memory.UserMessage(text)}
	return b.current()
}

func (b *bundle) current() *memory.TurnStart {
	return &memory.TurnStart{Session: b.session, Turn: b.turn, History: b.history, Bookkeeping: b.book}
}

// start runs a turn's start and commits it.
func (b *bundle) start(text string) *memory.TurnView {
	b.t.Helper()
	view, err := b.m.StartTurn(context.Background(), b.request(text))
	require.NoError(b.t, err)
	b.commit(view)
	return view
}

func (b *bundle) commit(view *memory.TurnView) {
	b.history = append(append(b.history[:len(b.history):len(b.history)], view.Records...), b.turn.Input...)
	b.book = view.Bookkeeping
	b.store()
}

// store takes history and bookkeeping through their JSON, as a host's database does.
func (b *bundle) store() {
	b.t.Helper()
	b.history = through(b.t, b.history)
	b.book = through(b.t, b.book)
}

func (b *bundle) reply(text string) {
	b.history = append(b.history[:len(b.history):len(b.history)], memory.AssistantMessage(text))
}

func (b *bundle) complete() error {
	book, err := b.m.CompleteTurn(context.Background(), b.current())
	b.book = book
	return err
}

func (b *bundle) compaction(summary string) *memory.Compaction {
	return &memory.Compaction{
		Session: b.session, ModelID: "model", History: b.history, Bookkeeping: b.book, Sequence: b.turn.Sequence + 1,
		Checkpoint: []memory.Message{memory.NewMessage(memory.RoleUser, memory.KindCheckpoint, "summary"), memory.AssistantMessage(summary)},
	}
}

func through[T any](t testing.TB, value T) T {
	t.Helper()
	data, err := json.Marshal(value)
	require.NoError(t, err)
	var read T
	require.NoError(t, json.Unmarshal(data, &read))
	return read
}

// texts returns the texts of messages.
func texts(messages []memory.Message) []string {
	all := make([]string, len(messages))
	for i, m := range messages {
		all[i] = m.Text()
	}
	return all
}

// recalls is a provider that always returns the given items.
func recalls(items ...memory.Item) memory.Handlers {
	return memory.Handlers{Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) { return items, nil }}
}

func recallFails(err error) memory.Handlers {
	return memory.Handlers{Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) { return nil, err }}
}

// journal records what happens, for tests in which calls run concurrently.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string{}, j.lines...)
}

// Write makes a journal the target of a logger.
func (j *journal) Write(line []byte) (int, error) {
	j.add("%s", strings.TrimSpace(string(line)))
	return len(line), nil
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
