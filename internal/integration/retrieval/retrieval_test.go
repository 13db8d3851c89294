package retrieval

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recollect-go/recollect/internal/leak"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/notes"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"
)

var set = flag.String("set", "testdata/shipped.json", "a conversation set in the format of LoCoMo")

func TestMain(m *testing.M) { leak.Main(m) }

// TestConversations guards that notes finds more than plain BM25, and prints by how much.
func TestConversations(t *testing.T) {
	conversations, skipped, err := Load(*set)
	require.NoError(t, err)
	require.NotEmpty(t, conversations)

	store := openStore(t)
	ours, floor := newReport(), newReport()
	for i := range conversations {
		c := &conversations[i]
		key := keyOf(i, c.ID)
		ids := index(t, store, key, c)
		provider := attach(t, store)
		baseline := NewBaseline(c.Turns)
		for n, q := range c.Questions {
			floor.add(q, baseline.Search(q.Text, slices.Max(Depths)))
			began := time.Now()
			found, err := store.Search(t.Context(), key, &notes.SearchRequest{Query: q.Text, Utterances: slices.Max(Depths)})
			ours.took(time.Since(began))
			require.NoError(t, err)
			ours.add(q, turnsOf(found, ids))
			ours.recall(t, provider, key, fmt.Sprintf("question %d", n), q.Text)
		}
	}
	t.Logf("%s: %d conversations; %v\n\nplain BM25 (floor)\n%s\nnotes\n%s%s", *set, len(conversations), skipped, floor, ours, ours.costs())
	for _, k := range Depths {
		require.GreaterOrEqual(t, ours.total.Any(k), floor.total.Any(k), "any@%d", k)
	}
	require.Greater(t, ours.total.Recall(10), floor.total.Recall(10))
	require.GreaterOrEqual(t, ours.total.All(10), floor.total.All(10))
}

func openStore(t *testing.T) *notes.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notes.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	store, err := notes.New(db, notes.SQLite, nil)
	require.NoError(t, err)
	require.NoError(t, store.EnsureSchema(t.Context()))
	return store
}

func attach(t *testing.T, store *notes.Store) memory.Handlers {
	t.Helper()
	provider, err := notes.NewProvider(store, &notes.ProviderOptions{Utterances: 10, MaxBytes: 8000})
	require.NoError(t, err)
	handlers, err := provider.Attach(memory.SlotInfo{Name: "memory"})
	require.NoError(t, err)
	return handlers
}

// index stores each turn as a note and returns the turns' ids by those of the notes.
func index(t *testing.T, store *notes.Store, key string, c *Conversation) map[string]string {
	t.Helper()
	drafts := make([]notes.Draft, len(c.Turns))
	for i, turn := range c.Turns {
		text := strings.TrimSpace(turn.Text)
		if turn.Caption != "" {
			text = strings.TrimSpace(text + " (" + turn.Caption + ")")
		}
		if text == "" {
			text = "(nothing said)"
		}
		drafts[i] = notes.Draft{Kind: notes.Utterance, Text: text, Provenance: notes.Provenance{
			Author: turn.Speaker, Session: turn.Session, Turn: turn.ID, Said: turn.Said,
		}}
	}
	added, err := store.Add(t.Context(), key, drafts...)
	require.NoError(t, err)
	ids := make(map[string]string, len(added))
	for i, a := range added {
		require.True(t, a.Added, "%s", c.Turns[i].ID)
		ids[a.ID] = c.Turns[i].ID
	}
	return ids
}

func turnsOf(found *notes.Found, ids map[string]string) (turns []string) {
	for _, hit := range found.Utterances {
		turns = append(turns, ids[hit.ID])
	}
	return turns
}

// keyOf returns the key of the conversation in a place of the set. Names may occur twice.
func keyOf(place int, name string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", place, name))
	return "memscope1_" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// report gathers what came out for a set.
type report struct {
	total      Scores
	categories map[int]*Scores
	searches   []time.Duration
	recalls    []time.Duration
	bytes      int
}

func newReport() *report { return &report{categories: make(map[int]*Scores)} }

func (r *report) add(q Question, found []string) {
	if r.categories[q.Category] == nil {
		r.categories[q.Category] = new(Scores)
	}
	r.categories[q.Category].Add(found, q.Evidence)
	r.total.Add(found, q.Evidence)
}

func (r *report) took(d time.Duration) { r.searches = append(r.searches, d) }

// recall runs the whole recall of a turn, the record of it included.
func (r *report) recall(t *testing.T, h memory.Handlers, key, id, question string) {
	t.Helper()
	began := time.Now()
	items, err := h.Recall(context.Background(), &memory.TurnStarted{
		Operation: memory.Operation{ID: id, Key: key, Slot: "memory"},
		Turn:      memory.Turn{ID: id, Input: []memory.Message{memory.UserMessage(question)}},
	})
	r.recalls = append(r.recalls, time.Since(began))
	require.NoError(t, err)
	for _, item := range items {
		r.bytes += len(item.Content)
	}
}

func (r *report) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%12s %s\n%12s %s\n", "", Head(), "all", &r.total)
	for _, category := range []int{4, 1, 2, 3} {
		if s := r.categories[category]; s != nil {
			fmt.Fprintf(&out, "%12s %s\n", Categories[category], s)
		}
	}
	return out.String()
}

func (r *report) costs() string {
	n := max(len(r.recalls), 1)
	return fmt.Sprintf("search p50 %v, p99 %v; recall of 10 notes, recorded: p50 %v, p99 %v, %d bytes a question\n",
		percentile(r.searches, 50), percentile(r.searches, 99), percentile(r.recalls, 50), percentile(r.recalls, 99), r.bytes/n)
}

func percentile(times []time.Duration, p int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)*p/100, len(sorted)-1)].Round(time.Microsecond)
}
