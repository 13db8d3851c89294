package integration_test

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recollect-go/recollect/internal/integration/server"
	"github.com/recollect-go/recollect/internal/integration/spy"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/notes"
	"github.com/stretchr/testify/require"
)

// notesInStore is how many notes the large store has besides the measured scopes: a tenth of what the documentation reports,
// so that the benchmark can be run in passing.
var notesInStore = flag.Int("notes", 100_000, "notes in the large store of BenchmarkNotes")

func BenchmarkNotesInSQLite(b *testing.B) {
	benchmarkNotes(b, sqliteDatabase(b))
}

func BenchmarkNotesInPostgreSQL(b *testing.B) {
	pg := server.StartPostgres(b)
	benchmarkNotes(b, postgresDatabase(b, pg, pg.Address))
}

// benchmarkNotes measures a recall in scopes of different sizes, in a store with little else in it and in a large one,
// beside its floor: the statements that it sends, sent by hand.
func benchmarkNotes(b *testing.B, d database) {
	db := d.open(b)
	small := d.notesIn(b, db, "notes_small", nil)
	large := d.notesIn(b, db, "notes_large", nil)
	size := *notesInStore
	if testing.Short() {
		size = min(size, 1000)
	}
	began := time.Now()
	for scope := range size / 100 {
		fillNotes(b, large, keyOf(fmt.Sprint("scope ", scope)), 100, uint64(scope))
	}
	b.Logf("%d notes in %v", size, time.Since(began).Round(time.Second))
	for _, size := range scopeSizes(10_000) {
		key := keyOf(fmt.Sprint("measured ", size))
		fillNotes(b, small, key, size, 1)
		fillNotes(b, large, key, size, 1)
		b.Run(fmt.Sprintf("scope=%d/store=small", size), func(b *testing.B) { benchmarkRecall(b, small, key, true) })
		b.Run(fmt.Sprintf("scope=%d/store=large", size), func(b *testing.B) { benchmarkRecall(b, large, key, true) })
		b.Run(fmt.Sprintf("scope=%d/store=large/not recorded", size), func(b *testing.B) { benchmarkRecall(b, large, key, false) })
		b.Run(fmt.Sprintf("scope=%d/store=large/floor", size), func(b *testing.B) { benchmarkBare(b, d, db, key) })
	}
	if *notesInStore >= 1_000_000 {
		key := keyOf("measured 100000")
		fillNotes(b, large, key, 100_000, 1)
		b.Run("scope=100000/store=large", func(b *testing.B) { benchmarkRecall(b, large, key, true) })
		b.Run("scope=100000/store=large/not recorded", func(b *testing.B) { benchmarkRecall(b, large, key, false) })
		b.Run("scope=100000/store=large/floor", func(b *testing.B) { benchmarkBare(b, d, db, key) })
	}
	b.Run("capture", func(b *testing.B) { benchmarkCapture(b, large) })
}

// scopeSizes returns 100, 1000 and so on up to largest, or the first of them in short mode.
func scopeSizes(largest int) (sizes []int) {
	for size := 100; size <= largest && (size == 100 || !testing.Short()); size *= 10 {
		sizes = append(sizes, size)
	}
	return sizes
}

// sentence makes a note of twelve words of which few are frequent, as in language.
func sentence(r *rand.Rand) string {
	words := make([]string, 12)
	for i := range words {
		words[i] = noteWord(r)
	}
	return strings.Join(words, " ")
}

func noteWord(r *rand.Rand) string {
	return fmt.Sprintf("w%dq", int(float64(10)*(1/(r.Float64()+0.0005)-1)))
}

func fillNotes(b *testing.B, store *notes.Store, key string, size int, seed uint64) {
	b.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	for start := 0; start < size; start += 1000 {
		drafts := make([]notes.Draft, min(1000, size-start))
		for i := range drafts {
			drafts[i] = notes.Draft{Kind: notes.Utterance, Text: sentence(r), Provenance: notes.Provenance{Session: fmt.Sprint(start + i/20), Turn: fmt.Sprint(start + i)}}
		}
		_, err := store.Add(b.Context(), key, drafts...)
		require.NoError(b, err)
	}
}

func benchmarkRecall(b *testing.B, store *notes.Store, key string, recorded bool) {
	opts := &notes.ProviderOptions{}
	if !recorded {
		opts.Replays = -1
	}
	a := attach(b, store, key, opts)
	r := rand.New(rand.NewPCG(3, 7))
	times := make([]time.Duration, 0, b.N)
	for n := 0; b.Loop(); n++ {
		began := time.Now()
		items, err := a.Recall(context.Background(), &memory.TurnStarted{
			Operation: a.under(fmt.Sprint(b.Name(), b.N, " ", n)),
			Turn:      memory.Turn{ID: "t", Input: []memory.Message{memory.UserMessage(questionOf(r))}},
		})
		times = append(times, time.Since(began))
		if err != nil || len(items) == 0 {
			b.Fatalf("%d items, %v", len(items), err)
		}
	}
	reportTimes(b, times)
}

func questionOf(r *rand.Rand) string {
	words := make([]string, 6)
	for i := range words {
		words[i] = noteWord(r)
	}
	return strings.Join(words, " ")
}

// benchmarkBare sends the statements of one recall that is not recorded by hand, and reads their rows.
func benchmarkBare(b *testing.B, d database, db *sql.DB, key string) {
	statements := statementsOfRecall(b, d, key)
	times := make([]time.Duration, 0, b.N)
	for b.Loop() {
		began := time.Now()
		for _, statement := range statements {
			rows, err := db.QueryContext(context.Background(), statement.SQL, statement.Args...)
			require.NoError(b, err)
			drain(b, rows)
		}
		times = append(times, time.Since(began))
	}
	reportTimes(b, times)
}

func statementsOfRecall(b *testing.B, d database, key string) (statements []spy.Statement) {
	b.Helper()
	var recorder spy.Recorder
	store := d.notesIn(b, openPool(b, recorder.Connector(d.connector)), "notes_large", nil)
	recorder.Take()
	attach(b, store, key, &notes.ProviderOptions{Replays: -1}).recall(b, "op", questionOf(rand.New(rand.NewPCG(3, 7))))
	for _, statement := range recorder.Take() {
		if len(statement.Args) > 0 {
			statements = append(statements, statement)
		}
	}
	require.Len(b, statements, 4, "scope, index, terms, notes")
	return statements
}

func drain(b *testing.B, rows *sql.Rows) {
	b.Helper()
	columns, err := rows.Columns()
	require.NoError(b, err)
	values := make([]any, len(columns))
	for i := range values {
		values[i] = new(sql.RawBytes)
	}
	for rows.Next() {
		require.NoError(b, rows.Scan(values...))
	}
	require.NoError(b, rows.Err())
	require.NoError(b, rows.Close())
}

func benchmarkCapture(b *testing.B, store *notes.Store) {
	a := attach(b, store, keyOf("capture"), nil)
	r := rand.New(rand.NewPCG(5, 7))
	times := make([]time.Duration, 0, b.N)
	for n := 0; b.Loop(); n++ {
		turn := a.turn(fmt.Sprint("turn ", b.N, " ", n), memory.UserMessage(sentence(r)))
		began := time.Now()
		err := a.CaptureTurn(context.Background(), turn)
		times = append(times, time.Since(began))
		require.NoError(b, err)
	}
	reportTimes(b, times)
}

func reportTimes(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkNotesVectors measures a search that compares the question with every vector of its scope, of 384 numbers each.
// Words are not looked for.
func BenchmarkNotesVectors(b *testing.B) {
	b.Run("SQLite", func(b *testing.B) { benchmarkVectors(b, sqliteDatabase(b)) })
	b.Run("PostgreSQL", func(b *testing.B) {
		pg := server.StartPostgres(b)
		benchmarkVectors(b, postgresDatabase(b, pg, pg.Address))
	})
}

func benchmarkVectors(b *testing.B, d database) {
	r := rand.New(rand.NewPCG(1, 7))
	random := func(_ context.Context, request *notes.EmbedRequest) ([][]float32, error) {
		vectors := make([][]float32, len(request.Texts))
		for i := range vectors {
			vectors[i] = make([]float32, 384)
			for j := range vectors[i] {
				vectors[i][j] = float32(r.NormFloat64())
			}
		}
		return vectors, nil
	}
	store, _ := d.notes(b, &notes.Options{Embedder: &notes.Embedder{Model: "random", Dimensions: 384, Embed: random}})
	for _, size := range scopeSizes(10_000) {
		key := keyOf(fmt.Sprint("vectors ", size))
		fillNotes(b, store, key, size, 1)
		b.Run(fmt.Sprintf("scope=%d", size), func(b *testing.B) {
			for b.Loop() {
				found, err := store.Search(context.Background(), key, &notes.SearchRequest{Query: "?", Utterances: 10})
				require.NoError(b, err)
				require.Len(b, found.Utterances, 10)
			}
		})
	}
}
