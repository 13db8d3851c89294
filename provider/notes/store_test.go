package notes

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recollect-go/recollect/memory"
	"github.com/stretchr/testify/require"
)

// unreachable is a database to which nobody can connect.
type unreachable struct{}

var errUnreachable = errors.New("unreachable")

func (unreachable) Connect(context.Context) (driver.Conn, error) { return nil, errUnreachable }
func (unreachable) Driver() driver.Driver                        { return nil }

func nowhere(t *testing.T, dialect Dialect) *Store {
	t.Helper()
	db := sql.OpenDB(unreachable{})
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	store, err := New(db, dialect, nil)
	require.NoError(t, err)
	return store
}

const testKey = "memscope1_LCa0a2j_xo_5m0U8HTBBNBNCLXBkg7-g-YpeiGJm564"

func TestEveryProblemOfAConfigurationIsNamed(t *testing.T) {
	t.Parallel()
	_, err := New(nil, 7, &Options{Tables: "x;", MaxNotes: -1, FactLife: -1, WhenFull: 9, Embedder: &Embedder{}})
	require.ErrorIs(t, err, ErrOption)
	for _, problem := range []string{"db is nil", "dialect 7", "Tables", "MaxNotes", "FactLife", "WhenFull", "Embedder"} {
		require.ErrorContains(t, err, problem)
	}
	_, err = New(nil, SQLite, &Options{Vectors: scan{}})
	require.ErrorContains(t, err, "Vectors is of no use")
	_, err = NewProvider(nil, &ProviderOptions{MaxBytes: 10, Capture: 9, ReadOnly: true})
	for _, problem := range []string{"no store", "MaxBytes", "Capture", "read-only"} {
		require.ErrorContains(t, err, problem)
	}
}

func TestASlotWhoseToolNamesAreTooLongIsRefused(t *testing.T) {
	t.Parallel()
	provider, err := NewProvider(nowhere(t, SQLite), nil)
	require.NoError(t, err)
	_, err = provider.Attach(memory.SlotInfo{Name: strings.Repeat("a", 56)})
	require.NoError(t, err)
	_, err = provider.Attach(memory.SlotInfo{Name: strings.Repeat("a", 57)})
	require.ErrorIs(t, err, ErrOption)
}

func TestNothingIsSentForAKeyOutsideTheGrammar(t *testing.T) {
	t.Parallel()
	s := nowhere(t, PostgreSQL)
	_, err := s.Add(t.Context(), "somebody", Draft{Text: "x"})
	require.ErrorIs(t, err, ErrInvalidKey)
	_, err = s.Search(t.Context(), "' OR 1=1", &SearchRequest{Query: "x", Facts: 1})
	require.ErrorIs(t, err, ErrInvalidKey)
	require.ErrorIs(t, s.Erase(t.Context(), ""), ErrInvalidKey)
}

func TestNothingIsSentForWhatCannotWork(t *testing.T) {
	t.Parallel()
	s := nowhere(t, PostgreSQL)
	for _, p := range []Provenance{{Author: "\xff"}, {Role: "\xff"}, {Session: "\xff"}, {Turn: "\xff"}, {Source: "\xff"}} {
		_, err := s.Add(t.Context(), testKey, Draft{Text: "x", Provenance: p})
		require.ErrorIs(t, err, ErrEncoding, "%q", p)
	}
	_, err := s.Add(t.Context(), testKey, Draft{Kind: 3, Text: "x"})
	require.ErrorIs(t, err, ErrOption)
	_, err = s.List(t.Context(), testKey, "", 0)
	require.ErrorIs(t, err, ErrOption)
	_, err = s.Keys(t.Context(), "", 0)
	require.ErrorIs(t, err, ErrOption)
	_, err = s.Reembed(t.Context(), testKey)
	require.ErrorIs(t, err, ErrOption, "no Embedder")
	_, err = s.Select(t.Context(), testKey, " ")
	require.ErrorIs(t, err, memory.ErrToolInput)
}

func TestErrorsOfTheDatabaseAreWrapped(t *testing.T) {
	t.Parallel()
	s := nowhere(t, PostgreSQL)
	_, err := s.Add(t.Context(), testKey, Draft{Text: "x"})
	require.ErrorIs(t, err, errUnreachable)
	require.NotErrorIs(t, err, ErrUnknownOutcome, "nothing was sent")
	require.ErrorContains(t, err, "notes: add: ")
	require.NotContains(t, err.Error(), testKey)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Get(ctx, testKey, "n1-aaaaa")
	require.ErrorIs(t, err, context.Canceled)
}

// TestSchemas guards that a change of the tables is noticed: it needs another SchemaVersion and a way from the old to the
// new one.
func TestSchemas(t *testing.T) {
	t.Parallel()
	for name, dialect := range map[string]Dialect{"sqlite": SQLite, "postgresql": PostgreSQL} {
		want, err := os.ReadFile(filepath.Join("testdata", "schema-v1-"+name+".sql"))
		require.NoError(t, err)
		require.Equal(t, string(want), nowhere(t, dialect).Schema())
	}
}

// TestStatementsNameTheirKey guards that no statement about notes was written without its key.
func TestStatementsNameTheirKey(t *testing.T) {
	t.Parallel()
	for _, dialect := range []Dialect{SQLite, PostgreSQL} {
		s := nowhere(t, dialect)
		q := &s.sql
		for _, statement := range []string{
			q.scope, q.lock, q.saveScope, q.dropScope, q.byOrigin, q.insert, q.replace, q.read, q.remove, q.page, q.numbers, q.expired, q.oldest,
			q.addTerms, q.dropTerms, q.lookUp, q.forRanking, q.body, q.beginOperation, q.operation, q.pruneOperations, q.recalled, q.hasRecall, q.lastRecall, q.recordRecall,
			q.pruneRecalls, q.forgetRecalls, q.addVector, q.dropVectors, q.vectors, q.withoutVector, q.dropNotes, q.dropOperations, q.dropRecalls, q.dropAllVectors,
			either(dialect, q.hasEntries, q.dropIndex), either(dialect, q.entries, q.dropIndexOf), either(dialect, q.entriesOf, q.dropIndexOf),
		} {
			require.Regexp(t, `WHERE (scope\.)?key = [$?]1\b`, statement)
			require.NotContains(t, statement, "{")
		}
	}
}

func either(dialect Dialect, sqlite, postgres string) string {
	if dialect == SQLite {
		return sqlite
	}
	return postgres
}

// coded is an error with the result code of SQLite, as modernc.org/sqlite has it.
type coded int

func (coded) Error() string { return "whatever" }
func (c coded) Code() int   { return int(c) }

func TestRefusalsOfSQLiteAreToldByTheirCodeOrText(t *testing.T) {
	t.Parallel()
	s := nowhere(t, SQLite)
	for _, err := range []error{coded(5), coded(517), coded(6), errors.New("database is locked"), errors.New("database table is locked: x")} {
		require.True(t, s.busy(err), "%v", err)
		require.False(t, s.malformed(err), "%v", err)
		require.False(t, nowhere(t, PostgreSQL).busy(err), "%v", err)
	}
	for _, err := range []error{coded(11), coded(267), errors.New("database disk image is malformed")} {
		require.True(t, s.malformed(err), "%v", err)
		require.False(t, s.busy(err), "%v", err)
	}
	require.False(t, s.busy(coded(1)))
}
