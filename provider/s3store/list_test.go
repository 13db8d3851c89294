package s3store

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// page is a surprise: a page of a listing with one object of a tombstone's size.
func page(more string) func(*exchange) {
	return func(e *exchange) {
		e.Header().Set("Content-Type", "application/xml")
		fmt.Fprintf(e, "<ListBucketResult><Contents><Key>recollect/%s</Key><Size>%d</Size></Contents>%s</ListBucketResult>", key, tombstoneSize, more)
	}
}

// TestListThatCannotGoOnIsAnError guards that a listing does not end before its last page.
func TestListThatCannotGoOnIsAnError(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, nil)
	h.surprise(page("<IsTruncated>true</IsTruncated>"))
	_, _, err := store.List(t.Context(), "", 10)
	require.ErrorContains(t, err, "does not say how to go on")
}

// TestListLeavesOutOnlyWhatIsNoDocument guards that an object which may be a tombstone and cannot be looked at is not taken
// for one.
func TestListLeavesOutOnlyWhatIsNoDocument(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	store := h.open(t, nil)
	h.surprise(page(""), answers(http.StatusForbidden, "AccessDenied"))
	_, _, err := store.List(t.Context(), "", 10)
	require.ErrorContains(t, err, "AccessDenied")

	h.surprise(page("")) // the object is gone when it is looked at
	keys, next, err := store.List(t.Context(), "", 10)
	require.NoError(t, err)
	require.Empty(t, next)
	require.Empty(t, keys)
}
