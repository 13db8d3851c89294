package s3store

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
)

// torn is a surprise: the content of one moment with the ETag of an earlier one.
func torn(etag string) func(*exchange) {
	return func(e *exchange) { sendObject(e, stored{content: []byte("b"), etag: etag}) }
}

// breaksOff is a surprise: the content ends before its announced size.
func breaksOff(e *exchange) {
	e.Header().Set("ETag", digestOf([]byte("abc")))
	e.Header().Set("Content-Length", "3")
	_, _ = e.Write([]byte("a"))
	e.ResponseWriter.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// TestReadNeverPairsAContentWithAnotherETag guards against stores that look up the one after the other.
func TestReadNeverPairsAContentWithAnotherETag(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, nil)
	before := write(t, store, "a", "")
	now := write(t, store, "b", before)
	h.asked()
	h.surprise(torn(before))
	content, version, err := store.Read(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, "b", string(content))
	require.Equal(t, now, version)
	require.Equal(t, []string{"GET", "HEAD", "GET"}, h.asked())
}

// TestReadAcceptsETagsThatAreNoDigests guards objects that were encrypted or uploaded in parts: their ETag stays the same
// when asked again.
func TestReadAcceptsETagsThatAreNoDigests(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, nil)
	h.objects[name] = stored{content: []byte("a"), etag: `"0123-2"`}
	content, version, err := store.Read(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, "a", string(content))
	require.Equal(t, `"0123-2"`, version)
	require.Equal(t, []string{"GET", "HEAD"}, h.asked())
}

func TestReadAsksAgainForContentThatBrokeOff(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, nil)
	write(t, store, "abc", "")
	h.surprise(breaksOff, breaksOff)
	content, _, err := store.Read(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, "abc", string(content))

	h.surprise(breaksOff, breaksOff, breaksOff, breaksOff, breaksOff)
	_, _, err = store.Read(t.Context(), key)
	require.ErrorIs(t, err, errTorn)
}

func TestReadRefusesWeakETags(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, nil)
	for _, etag := range []string{"", `W/"a"`} {
		h.surprise(torn(etag))
		_, _, err := store.Read(t.Context(), key)
		require.ErrorIs(t, err, ErrWeakETag, etag)
	}
}

// TestReadRefusesUnannouncedSize guards the limit where the store does not say the size in advance.
func TestReadRefusesUnannouncedSize(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, &Options{MaxBytes: 100})
	for size, want := range map[int]error{100: nil, 101: ErrTooLarge} {
		h.surprise(func(e *exchange) {
			content := make([]byte, size)
			e.Header().Set("ETag", digestOf(content))
			e.ResponseWriter.(http.Flusher).Flush()
			fmt.Fprint(e, string(content))
		})
		_, _, err := store.Read(t.Context(), key)
		require.ErrorIs(t, err, want)
	}
}

// TestTooLargeIsThatOfEveryStore guards that a sweep, which knows no engine, can go on past a document over the limit.
func TestTooLargeIsThatOfEveryStore(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, &Options{MaxBytes: 100})
	h.objects[name] = stored{content: make([]byte, 101), etag: `"0123-2"`}
	_, _, err := store.Read(t.Context(), key)
	require.ErrorIs(t, err, filememory.ErrDocumentOversized)
	var tooLarge *filememory.TooLargeError
	require.ErrorAs(t, err, &tooLarge)
	require.Equal(t, filememory.TooLargeError{Key: key, Size: 101, Limit: 100}, *tooLarge)
}

// TestShapeErrorsNameTheKey guards every call that meets an object which is not a document.
func TestShapeErrorsNameTheKey(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, nil)
	encoded := func(e *exchange) {
		e.Header().Set("Content-Encoding", "br")
		sendObject(e, stored{content: []byte("b"), etag: `"0123-2"`})
	}
	ofTombstonesSize := func(e *exchange) { sendObject(e, stored{content: newTombstone(), etag: `"0123-2"`}) }
	calls := map[string]func() error{
		"read":   func() error { _, _, err := store.Read(t.Context(), key); return err },
		"write":  func() error { _, err := store.Write(t.Context(), key, nil, ""); return err },
		"delete": func() error { return store.Delete(t.Context(), key, "") },
	}
	surprises := map[string][]func(*exchange){
		"read":   {encoded},
		"write":  {answers(http.StatusPreconditionFailed, codePrecondition), ofTombstonesSize, encoded},
		"delete": {ofTombstonesSize, encoded},
	}
	for what, call := range calls {
		h.surprise(surprises[what]...)
		var shape *ShapeError
		require.ErrorAs(t, call(), &shape, what)
		require.Equal(t, key, shape.Key, what)
	}
}
