package filememory_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
)

const anyDocument = "<!-- eve-memory-file-v1 lastAllocatedIndex=4 -->\n4: kept\n"

var newKey = "memscope1_" + strings.Repeat("n", 43)

// requireDocuments fails unless the documents of key and newKey are these; "" stands for none.
func requireDocuments(t *testing.T, backend filememory.Backend, old, new string) {
	t.Helper()
	for k, want := range map[string]string{key: old, newKey: new} {
		content, _, err := backend.Read(t.Context(), k)
		if want == "" {
			require.ErrorIs(t, err, fs.ErrNotExist)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, want, string(content))
	}
}

func TestCopyAndMoveKeepEveryByte(t *testing.T) {
	t.Parallel()
	for _, document := range []string{anyDocument, "malformed \xff, and still somebody's"} {
		backend := filememory.InMemory()
		store(t, backend, document)
		require.NoError(t, filememory.Copy(t.Context(), backend, key, newKey))
		requireDocuments(t, backend, document, document)
		require.NoError(t, filememory.Copy(t.Context(), backend, key, newKey), "again")
		require.NoError(t, filememory.Move(t.Context(), backend, key, newKey), "a move that finds its copy finishes")
		requireDocuments(t, backend, "", document)
	}
}

func TestCopyAndMoveNeverOverwrite(t *testing.T) {
	t.Parallel()
	backend := filememory.InMemory()
	store(t, backend, anyDocument)
	_, err := backend.Write(t.Context(), newKey, []byte("somebody else's"), "")
	require.NoError(t, err)
	require.ErrorIs(t, filememory.Copy(t.Context(), backend, key, newKey), filememory.ErrDocumentExists)
	require.ErrorIs(t, filememory.Move(t.Context(), backend, key, newKey), filememory.ErrDocumentExists)
	require.ErrorIs(t, filememory.Move(t.Context(), backend, key, key), filememory.ErrDocumentExists)
	requireDocuments(t, backend, anyDocument, "somebody else's")
}

func TestCopyAndMoveOfNothingAreErrors(t *testing.T) {
	t.Parallel()
	backend := filememory.InMemory()
	require.ErrorIs(t, filememory.Copy(t.Context(), backend, key, newKey), fs.ErrNotExist)
	require.ErrorIs(t, filememory.Move(t.Context(), backend, key, newKey), fs.ErrNotExist)
	requireDocuments(t, backend, "", "")
}

// edited changes the old document just before it would be deleted.
type edited struct {
	filememory.Backend
	content string
}

func (e edited) Delete(ctx context.Context, k, expected string) error {
	if k == key {
		if _, err := e.Write(ctx, key, []byte(e.content), expected); err != nil {
			return err
		}
	}
	return e.Backend.Delete(ctx, k, expected)
}

func TestAMoveThatSomebodyInterruptsIsTakenBack(t *testing.T) {
	t.Parallel()
	backend := filememory.InMemory()
	store(t, backend, anyDocument)
	require.ErrorIs(t, filememory.Move(t.Context(), edited{backend, "edited"}, key, newKey), filememory.ErrConflict)
	requireDocuments(t, backend, "edited", "")
}

// overtaken is a move that another one of the same document overtakes: it finishes, and a new document is begun under the
// old key.
type overtaken struct {
	filememory.Backend
	begun string
}

func (o overtaken) Delete(ctx context.Context, k, expected string) error {
	if k == key {
		if err := filememory.Move(ctx, o.Backend, key, newKey); err != nil {
			return err
		}
		if _, err := o.Write(ctx, key, []byte(o.begun), ""); err != nil {
			return err
		}
	}
	return o.Backend.Delete(ctx, k, expected)
}

func TestAMoveThatAnotherOneOvertakesDoesNotTakeBackWhatThatMoved(t *testing.T) {
	t.Parallel()
	for _, begun := range []string{
		"<!-- eve-memory-file-v1 lastAllocatedIndex=0 -->\n0: begun anew\n",
		"<!-- eve-memory-file-v1 lastAllocatedIndex=5 -->\n4: begun anew\n5: and again\n",
	} {
		backend := filememory.InMemory()
		store(t, backend, anyDocument)
		require.ErrorIs(t, filememory.Move(t.Context(), overtaken{backend, begun}, key, newKey), filememory.ErrConflict)
		requireDocuments(t, backend, begun, anyDocument)
	}
}

func TestAMoveThatASaveInterruptsIsTakenBack(t *testing.T) {
	t.Parallel()
	backend := filememory.InMemory()
	store(t, backend, anyDocument)
	const saved = "<!-- eve-memory-file-v1 lastAllocatedIndex=5 -->\n4: kept\n5: new\n"
	require.ErrorIs(t, filememory.Move(t.Context(), edited{backend, saved}, key, newKey), filememory.ErrConflict)
	requireDocuments(t, backend, saved, "")
	require.NoError(t, filememory.Move(t.Context(), backend, key, newKey), "it can be repeated")
	requireDocuments(t, backend, "", saved)
}

// glimpsed is a backend that cannot be read a second time.
type glimpsed struct {
	filememory.Backend
	reads int
}

var errUnreachable = errors.New("unreachable")

func (g *glimpsed) Read(ctx context.Context, k string) ([]byte, string, error) {
	if g.reads++; g.reads > 1 {
		return nil, "", errUnreachable
	}
	return g.Backend.Read(ctx, k)
}

func TestAMoveThatCannotLookAgainSaysSoAndRemovesNothing(t *testing.T) {
	t.Parallel()
	backend := filememory.InMemory()
	store(t, backend, anyDocument)
	err := filememory.Move(t.Context(), &glimpsed{Backend: forgetful{backend}}, key, newKey)
	require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
	require.ErrorIs(t, err, errUnreachable)
	requireDocuments(t, backend, anyDocument, anyDocument)
	require.NoError(t, filememory.Move(t.Context(), backend, key, newKey), "it can be repeated")
	requireDocuments(t, backend, "", anyDocument)

	backend = filememory.InMemory()
	store(t, backend, anyDocument)
	err = filememory.Move(t.Context(), &glimpsed{Backend: edited{backend, "edited"}}, key, newKey)
	require.ErrorIs(t, err, filememory.ErrConflict)
	require.ErrorIs(t, err, errUnreachable)
	requireDocuments(t, backend, "edited", anyDocument)
}

// deaf is a backend that receives no write, and nobody knows.
type deaf struct{ filememory.Backend }

func (deaf) Write(context.Context, string, []byte, string) (string, error) {
	return "", fmt.Errorf("%w: no reply", filememory.ErrUnknownOutcome)
}

func TestAMoveWhoseCopyIsNotThereRemovesNothing(t *testing.T) {
	t.Parallel()
	backend := filememory.InMemory()
	store(t, backend, anyDocument)
	require.ErrorIs(t, filememory.Move(t.Context(), deaf{backend}, key, newKey), filememory.ErrUnknownOutcome)
	requireDocuments(t, backend, anyDocument, "")
}

// forgetful applies a write and loses the reply.
type forgetful struct{ filememory.Backend }

func (f forgetful) Write(ctx context.Context, k string, content []byte, expected string) (string, error) {
	if _, err := f.Backend.Write(ctx, k, content, expected); err != nil {
		return "", err
	}
	return "", fmt.Errorf("%w: no reply", filememory.ErrUnknownOutcome)
}

func TestALostReplyIsNoFailureWhenTheDocumentIsThere(t *testing.T) {
	t.Parallel()
	backend := filememory.InMemory()
	store(t, backend, anyDocument)
	require.NoError(t, filememory.Move(t.Context(), forgetful{backend}, key, newKey))
	requireDocuments(t, backend, "", anyDocument)

	slot := newProvider(t, forgetful{filememory.InMemory()}, nil).Slot("profile")
	saved, err := slot.Save(t.Context(), key, "a")
	require.NoError(t, err)
	require.Equal(t, filememory.Saved{Index: 0, Saved: true}, saved)
	removed, err := slot.Remove(t.Context(), key, 0)
	require.NoError(t, err)
	require.True(t, removed)
}
