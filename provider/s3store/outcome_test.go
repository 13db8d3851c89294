package s3store

import (
	"context"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/state"
)

var (
	_ filememory.Backend = (*Store)(nil)
	_ filememory.Lister  = (*Store)(nil)
	_ state.Store        = (*Store)(nil)
	_ state.Lister       = (*Store)(nil)
)

const (
	key  = "memscope1_0123456789012345678901234567890123456789012"
	name = "/" + bucket + "/recollect/" + key
)

func write(t *testing.T, store *Store, content, expected string) (version string) {
	t.Helper()
	version, err := store.Write(t.Context(), key, []byte(content), expected)
	require.NoError(t, err)
	return version
}

func requireUnknown(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
	require.NotErrorIs(t, err, filememory.ErrConflict)
}

func requireDefinite(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	require.NotErrorIs(t, err, filememory.ErrUnknownOutcome)
	require.NotErrorIs(t, err, filememory.ErrConflict)
}

// TestWriteWhoseAnswerIsLostIsReadBack guards that a repetition of a write that happened does not make it a conflict with
// itself.
func TestWriteWhoseAnswerIsLostIsReadBack(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, nil)
	h.surprise(loses)
	version := write(t, store, "a", "")
	require.Equal(t, []string{"PUT", "GET"}, h.asked(), "a create is not repeated")

	h.surprise(func(e *exchange) { loses(e) }, answers(http.StatusInternalServerError, "InternalError"))
	version = write(t, store, "b", version)
	require.Equal(t, []string{"PUT", "PUT", "PUT", "GET"}, h.asked())
	require.Equal(t, digestOf([]byte("b")), version)
}

// TestWriteOfEqualContentIsNotOursWithoutItsToken guards that the same content of another writer is no proof that ours
// was written.
func TestWriteOfEqualContentIsNotOursWithoutItsToken(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, nil)
	version := write(t, store, "a", "")
	h.surprise(func(e *exchange) {
		h.mu.Lock()
		h.objects[name] = stored{content: []byte("b"), etag: digestOf([]byte("b"))}
		h.mu.Unlock()
		hangsUp(e)
	})
	_, err := store.Write(t.Context(), key, []byte("b"), version)
	requireUnknown(t, err)
}

func TestWriteWithoutAnyAnswerIsUnknown(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, nil)
	for _, silence := range []func(*exchange){
		hangsUp, answers(http.StatusServiceUnavailable, "SlowDown"), answers(http.StatusRequestTimeout, "x"),
	} {
		h.surprise(silence, silence, silence, silence)
		_, err := store.Write(t.Context(), key, []byte("a"), "")
		requireUnknown(t, err)
	}
	require.Empty(t, h.objects)
}

// TestRefusalIsDefinite guards that what the store says it will not do was not done.
func TestRefusalIsDefinite(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, &Options{ConditionalDelete: true})
	for _, code := range []string{"AccessDenied", "NoSuchBucket", "InvalidRequest", "ExistingObjectIsDirectory"} {
		status := http.StatusForbidden
		h.surprise(answers(status, code))
		_, err := store.Write(t.Context(), key, []byte("a"), "")
		requireDefinite(t, err)
		require.ErrorContains(t, err, code)
		h.surprise(answers(status, code))
		requireDefinite(t, store.Delete(t.Context(), key, digestOf(nil)))
		h.surprise(answers(status, code))
		_, _, err = store.Read(t.Context(), key)
		requireDefinite(t, err)
		require.NotErrorIs(t, err, fs.ErrNotExist)
	}
}

func TestUnreachableStoreIsNoUnknownOutcome(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, nil)
	store.client = h.client(t)
	h.Close()
	_, err := store.Write(t.Context(), key, []byte("a"), "")
	requireDefinite(t, err)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	var dialing *net.OpError
	require.ErrorAs(t, err, &dialing)
}

// TestBusyObjectIsAskedAgain guards the answer of a store that another request for the object was faster: nothing was
// written.
func TestBusyObjectIsAskedAgain(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, nil)
	busy := answers(http.StatusConflict, codeBusy)
	h.surprise(busy, busy)
	version := write(t, store, "a", "")

	h.surprise(busy, busy, busy)
	_, err := store.Write(t.Context(), key, []byte("b"), version)
	require.ErrorIs(t, err, filememory.ErrConflict)
	require.NotErrorIs(t, err, filememory.ErrUnknownOutcome)
}

// TestDeleteWhoseAnswerIsLost guards both kinds of deletes.
func TestDeleteWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	for _, conditional := range []bool{false, true} {
		h := newHostile(t, nil)
		store := h.open(t, &Options{ConditionalDelete: conditional})
		version := write(t, store, "a", "")
		h.surprise(loses)
		require.NoError(t, store.Delete(t.Context(), key, version))
		_, _, err := store.Read(t.Context(), key)
		require.ErrorIs(t, err, fs.ErrNotExist)

		version = write(t, store, "b", "")
		h.surprise(hangsUp, hangsUp, hangsUp)
		requireUnknown(t, store.Delete(t.Context(), key, version))
	}
}

// TestCreateInDoubtIsNotRepeated guards that a document which was created, whose answer was lost, and that another client
// then deleted, does not come back. The two clients may differ in how they delete, as while the option is being changed.
func TestCreateInDoubtIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, conditional := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
		h := newHostile(t, nil)
		store, other := h.open(t, &Options{ConditionalDelete: conditional[0]}), h.open(t, &Options{ConditionalDelete: conditional[1]})
		h.surprise(func(e *exchange) {
			e.proceed(httptest.NewRecorder())
			if err := other.Delete(e.request.Context(), key, digestOf([]byte("erased"))); err != nil {
				t.Error(err)
			}
			panic(http.ErrAbortHandler)
		})
		_, err := store.Write(t.Context(), key, []byte("erased"), "")
		requireUnknown(t, err)
		_, _, err = other.Read(t.Context(), key)
		require.ErrorIs(t, err, fs.ErrNotExist, "what was erased is back")
	}

	h := newHostile(t, nil)
	store := h.open(t, nil)
	h.surprise(answers(http.StatusConflict, codeBusy), loses)
	write(t, store, "a", "")
	require.Equal(t, []string{"PUT", "PUT", "GET"}, h.asked(), "a refusal is no doubt, and a lost answer is read back")
}

// TestVersionsThatMatchMoreThanOneReachNoStore guards headers that would make a write unconditional.
func TestVersionsThatMatchMoreThanOneReachNoStore(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, nil)
	write(t, store, "a", "")
	h.asked()
	for _, version := range []string{"*", `"*"`, `W/"a"`, `"a", "b"`, `"a`, "a\r\nX: y", `""`, "é"} {
		_, err := store.Write(t.Context(), key, []byte("b"), version)
		require.ErrorIs(t, err, filememory.ErrConflict, version)
		require.Empty(t, h.asked())
		require.ErrorIs(t, store.Delete(t.Context(), key, version), filememory.ErrConflict, version)
		require.Equal(t, []string{"HEAD"}, h.asked())
	}
}

func TestCallsRefuseInvalidKeys(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, nil)
	for _, key := range []string{"", key + "x", "../" + key, key + "/", "M" + key[1:], key + "\n"} {
		_, _, readErr := store.Read(t.Context(), key)
		_, writeErr := store.Write(t.Context(), key, nil, "")
		for _, err := range []error{readErr, writeErr, store.Delete(t.Context(), key, "")} {
			require.ErrorIs(t, err, filememory.ErrInvalidKey, "%q", key)
		}
	}
	require.Empty(t, h.asked())
}

func TestEndedContextSendsNothing(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := store.Write(ctx, key, nil, "")
	require.ErrorIs(t, err, context.Canceled)
	requireDefinite(t, err)
	require.Empty(t, h.asked())
}

// TestCallsCostTheRequestsOfTheDocs guards the table of costs in docs/engines/s3store.md.
func TestCallsCostTheRequestsOfTheDocs(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, nil)
	version := write(t, store, "a", "")
	require.Equal(t, []string{"PUT"}, h.asked(), "a create")
	version = write(t, store, "b", version)
	require.Equal(t, []string{"PUT"}, h.asked(), "an update")
	_, _, err := store.Read(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, []string{"GET"}, h.asked(), "a read")
	_, err = store.Write(t.Context(), key, []byte("c"), "")
	require.ErrorIs(t, err, filememory.ErrConflict)
	require.Equal(t, []string{"PUT", "HEAD"}, h.asked(), "a create where a document is")
	require.ErrorIs(t, store.Delete(t.Context(), key, digestOf(nil)), filememory.ErrConflict)
	require.Equal(t, []string{"PUT", "HEAD"}, h.asked(), "a delete of another version")
	require.NoError(t, store.Delete(t.Context(), key, version))
	require.Equal(t, []string{"PUT"}, h.asked(), "a delete")
	version = write(t, store, "d", "")
	require.Equal(t, []string{"PUT", "HEAD", "GET", "PUT"}, h.asked(), "a create where a tombstone is")

	store.conditionalDelete = true
	require.NoError(t, store.Delete(t.Context(), key, version))
	require.Equal(t, []string{"DELETE"}, h.asked(), "a conditional delete")
}

// TestARefusedConditionThatCannotBeExplainedIsDefinite guards the look that tells a conflict from a tombstone: when it fails
// nothing was written, and nothing is known of another version.
func TestARefusedConditionThatCannotBeExplainedIsDefinite(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, nil)
	refusal, forbidden := answers(http.StatusPreconditionFailed, codePrecondition), answers(http.StatusForbidden, "AccessDenied")
	size := func(e *exchange) { sendObject(e, stored{content: newTombstone(), etag: `"0123-2"`}) }
	for _, surprises := range [][]func(*exchange){{refusal, forbidden}, {refusal, size, forbidden}} {
		h.surprise(surprises...)
		_, err := store.Write(t.Context(), key, []byte("a"), "")
		requireDefinite(t, err)
		h.surprise(surprises...)
		requireDefinite(t, store.Delete(t.Context(), key, digestOf(nil)))
	}
	h.surprise(refusal, size) // a tombstone's size, and gone when it is read
	require.NoError(t, store.Delete(t.Context(), key, digestOf(nil)))
}
