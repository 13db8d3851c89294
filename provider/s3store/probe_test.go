package s3store

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNewRefusesStoresThatLoseMemories guards each thing that the package relies on, and that a refused store keeps
// nothing of the probe.
func TestNewRefusesStoresThatLoseMemories(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		setUp func(*hostile)
		opts  Options
		want  error
		says  string
	}{
		"If-None-Match is ignored": {
			setUp: func(h *hostile) { h.ignoresIfNoneMatch = true }, want: ErrUnconditional, says: "creating it again",
		},
		"If-Match is ignored": {
			setUp: func(h *hostile) { h.ignoresIfMatch = true }, want: ErrUnconditional, says: "replacing another version",
		},
		"If-Match of a missing object is ignored": {
			setUp: func(h *hostile) { h.ignoresMissing = true }, want: ErrUnconditional, says: "replacing a missing object",
		},
		"If-Match of a delete is ignored": {
			setUp: func(h *hostile) { h.ignoresDeleteIfMatch = true }, opts: Options{ConditionalDelete: true},
			want: ErrUnconditional, says: "leave ConditionalDelete off",
		},
		"ETags are weak": {
			setUp: func(h *hostile) { h.etag = func(content []byte) string { return "W/" + digestOf(content) } },
			want:  ErrWeakETag, says: "creating an object",
		},
		"there are no ETags": {
			setUp: func(h *hostile) { h.etag = func([]byte) string { return "" } }, want: ErrWeakETag,
		},
		"all ETags are the same": {
			setUp: func(h *hostile) { h.etag = func([]byte) string { return `"same"` } }, says: "same ETag",
		},
		"a missing object is forbidden": {
			setUp: func(h *hostile) { h.forbidsMissing = true }, says: "s3:ListBucket",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHostile(t, tc.setUp)
			_, err := New(t.Context(), h.client(t), bucket, &tc.opts)
			require.Error(t, err)
			if tc.want != nil {
				require.ErrorIs(t, err, tc.want)
			}
			require.ErrorContains(t, err, tc.says)
			require.Empty(t, h.objects)
		})
	}
}

func TestNewRefusesStoresWithoutConditionalWrites(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	h.surprise(proceeds, answers(http.StatusNotImplemented, "NotImplemented"))
	_, err := New(t.Context(), h.client(t), bucket, nil)
	require.ErrorContains(t, err, "NotImplemented")
}

// TestNewRefusesStoresThatDoNotShowTheLastWrite guards reads by the probe that bring an earlier content, an earlier ETag, or
// what was deleted.
func TestNewRefusesStoresThatDoNotShowTheLastWrite(t *testing.T) {
	t.Parallel()
	shows := func(content, etag string) func(*exchange) {
		return func(e *exchange) { sendObject(e, stored{content: []byte(content), etag: etag}) }
	}
	noContent := func(e *exchange) { e.WriteHeader(http.StatusNoContent) }
	untilRead := []func(*exchange){proceeds, proceeds, proceeds, proceeds, proceeds, proceeds}
	for says, surprises := range map[string][]func(*exchange){
		"not what was written last": {shows("1", digestOf([]byte("4")))},
		"its ETag is":               {shows("4", digestOf([]byte("1")))},
		"AccessDenied":              {answers(http.StatusForbidden, "AccessDenied")},
		"it is there":               {proceeds, proceeds, noContent},
	} {
		h := newHostile(t, nil)
		h.surprise(append(slices.Clone(untilRead), surprises...)...)
		_, err := New(t.Context(), h.client(t), bucket, &Options{ConditionalDelete: true})
		require.ErrorContains(t, err, says)
		require.Empty(t, h.objects)
	}
}

func TestNewAcceptsStoresThatKeepConditions(t *testing.T) {
	t.Parallel()
	var counter atomic.Int64
	for name, setUp := range map[string]func(*hostile){
		"digests": nil,
		"counters": func(h *hostile) {
			h.etag = func([]byte) string { return `"` + strconv.FormatInt(counter.Add(1), 10) + `"` }
		},
		"without quotes":       func(h *hostile) { h.etag = func(content []byte) string { return digestOf(content)[1:33] } },
		"deletes without care": func(h *hostile) { h.ignoresDeleteIfMatch = true },
	} {
		h := newHostile(t, setUp)
		_, err := New(t.Context(), h.client(t), bucket, nil)
		require.NoError(t, err, name)
		require.Empty(t, h.objects, "the probe left something")
	}
}

// TestNewCostsAFewRequests guards the numbers in New's comment.
func TestNewCostsAFewRequests(t *testing.T) {
	t.Parallel()
	for conditional, requests := range map[bool]int{false: 8, true: 11} {
		h := newHostile(t, nil)
		_, err := New(t.Context(), h.client(t), bucket, &Options{ConditionalDelete: conditional})
		require.NoError(t, err)
		require.Len(t, h.asked(), requests)
	}
}

// TestNewCleansUpAfterAnEndedContext guards that a start that is given up leaves no object.
func TestNewCleansUpAfterAnEndedContext(t *testing.T) {
	t.Parallel()
	h := newHostile(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	h.surprise(proceeds, proceeds, proceeds, func(e *exchange) { cancel(); proceeds(e) })
	_, err := New(ctx, h.client(t), bucket, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, h.objects)
}

func TestNewListsEveryProblem(t *testing.T) {
	t.Parallel()
	_, err := New(t.Context(), nil, "", &Options{Prefix: "/a", MaxBytes: 46}) // less than a tombstone, which could not be read
	for _, want := range []string{"client is missing", "bucket is missing", "prefix", "MaxBytes"} {
		require.ErrorContains(t, err, want)
	}
	for _, prefix := range []string{"a/", "a//b", "../a", "a/./b", "\xff", string(make([]byte, 1000))} {
		require.Error(t, checkPrefix(prefix), "%q", prefix)
	}
	for _, prefix := range []string{"a", "a/b c", "文/…"} {
		require.NoError(t, checkPrefix(prefix), "%q", prefix)
	}
}
