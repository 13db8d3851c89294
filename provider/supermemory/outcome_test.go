package supermemory_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/rest/resttest"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/supermemory"
)

// TestAnAnswerWithoutItsMembersIsAnErrorAndNotAnEmptyOne guards against taking the answer of something else for an empty memory, or for the end
// of an erasure.
func TestAnAnswerWithoutItsMembersIsAnErrorAndNotAnEmptyOne(t *testing.T) {
	t.Parallel()
	recall := func(h memory.Handlers) error {
		_, err := h.Recall(t.Context(), &memory.TurnStarted{Operation: operation(key, "op"), Turn: memory.Turn{Input: []memory.Message{memory.UserMessage("x")}}})
		return err
	}
	erase := func(h memory.Handlers) error {
		return h.Erase(t.Context(), &memory.EraseRequest{Operation: operation(key, "")})
	}
	tool := func(name, input string) func(memory.Handlers) error {
		return func(h memory.Handlers) error { _, err := call(t, h, key, name, input); return err }
	}
	for _, test := range []struct {
		endpoint string
		bodies   []string
		act      func(memory.Handlers) error
	}{
		{"POST /v4/profile", []string{`{"profile":null}`}, recall},
		{"POST /v4/search", []string{`{"results":null}`}, recall},
		{"POST /v4/search", nil, tool("search", `{"query":"x"}`)},
		{"POST /v3/documents/list", []string{`{"memories":[]}`, `{"pagination":{"totalPages":0}}`, `{"memories":[{"id":""}],"pagination":{"totalPages":1}}`}, recall},
		{"POST /v3/documents/list", []string{`{"memories":[{"id":"../x"}],"pagination":{"totalPages":1}}`}, erase},
		{"POST /v4/memories/list", []string{`{"memoryEntries":[]}`, `{"memoryEntries":null,"pagination":{"totalPages":0}}`, `{"memoryEntries":[{"id":""}],"pagination":{"totalPages":1}}`}, recall},
		{"POST /v4/memories/list", nil, erase},
		{"DELETE /v4/memories", []string{`{"id":"mem1"}`}, tool("forget", `{"id":"mem1"}`)},
		{"POST /v4/memories/forget-matching", []string{`{"dryRun":true,"count":1}`}, tool("forget_matching", `{"query":"x"}`)},
		{"POST /v4/memories/forget-matching", []string{`{"dryRun":false,"count":1}`}, tool("forget_matching", `{"ids":["x"]}`)},
		{"GET /v3/documents/{id}", []string{`{"id":"../x"}`}, tool("read_document", `{"id":"doc1"}`)},
		{"POST /v3/documents", []string{`{"status":"queued"}`}, tool("remember", `{"memory":"x"}`)},
	} {
		for _, body := range append(test.bodies, `{}`, `null`, ``) {
			s := newServer(t)
			s.fail(test.endpoint, says(200, body))
			require.ErrorIs(t, test.act(handlers(t, s.provider(t))), supermemory.ErrBadReply, "%s: %s", test.endpoint, body)
		}
	}
}

func TestErrorsAreTyped(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status  int
		header  []string
		want    error
		retried bool
	}{
		{400, nil, supermemory.ErrRefused, false},
		{401, nil, supermemory.ErrUnauthorized, false},
		{403, nil, supermemory.ErrUnauthorized, false},
		{404, nil, supermemory.ErrNotFound, false},
		{408, nil, supermemory.ErrUnavailable, true},
		{409, nil, supermemory.ErrRefused, true},
		{413, nil, supermemory.ErrTooLarge, false},
		{422, nil, supermemory.ErrRefused, false},
		{429, nil, supermemory.ErrRateLimited, true},
		{429, []string{"Retry-After", "3"}, supermemory.ErrRateLimited, false},
		{429, []string{"Retry-After-Ms", "5"}, supermemory.ErrRateLimited, true},
		{429, []string{"X-Should-Retry", "false"}, supermemory.ErrRateLimited, false},
		{400, []string{"X-Should-Retry", "true"}, supermemory.ErrRefused, true},
		{500, nil, supermemory.ErrUnavailable, true},
		{503, []string{"X-Should-Retry", "false"}, supermemory.ErrUnavailable, false},
		{307, []string{"Location", "/elsewhere"}, supermemory.ErrBadReply, false},
		{200, nil, supermemory.ErrBadReply, false},
	} {
		s := newServer(t)
		for range quick.Attempts {
			s.fail("POST /v4/search", says(test.status, "<html>a memory "+apiKey, test.header...))
		}
		_, err := call(t, handlers(t, s.provider(t)), key, "search", `{"query":"x"}`)
		require.ErrorIs(t, err, test.want, "%d %v", test.status, test.header)
		var typed *supermemory.Error
		require.ErrorAs(t, err, &typed)
		assert.NotContains(t, err.Error(), "a memory")
		want := 1
		if test.retried {
			want = quick.Attempts
		}
		assert.Equal(t, want, s.count("POST /v4/search"), "%d %v", test.status, test.header)
		if len(test.header) > 0 && test.header[0] == "Retry-After" {
			assert.Equal(t, 3*time.Second, typed.RetryAfter)
		}
	}
}

func TestRetriesEndInSuccess(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t))
	s.fail("POST /v3/documents", losesReply, says(503, ""))
	mustCall(t, h, "remember", `{"memory":"Berlin is nice"}`)
	assert.Len(t, s.documents, 1)
}

func TestTheServiceSaysHowLongToWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var times []time.Time
		handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			times = append(times, time.Now())
			if len(times) == 1 {
				w.Header().Set("Retry-After", "5")
			}
			w.WriteHeader(http.StatusTooManyRequests)
		})
		secret, err := supermemory.APIKey(apiKey)
		require.NoError(t, err)
		p, err := supermemory.New(secret, &supermemory.Options{HTTPClient: &http.Client{Transport: resttest.InMemory{Handler: handler}}})
		require.NoError(t, err)
		_, err = call(t, handlers(t, p), key, "search", `{"query":"x"}`)
		require.ErrorIs(t, err, supermemory.ErrRateLimited)
		require.Len(t, times, 3, "two retries, as the service's client makes")
		assert.Equal(t, 5*time.Second, times[1].Sub(times[0]))
		waited := times[2].Sub(times[1])
		assert.True(t, waited >= 750*time.Millisecond && waited <= time.Second, "%s", waited)
	})
}

func TestACancelledCallReturnsAtOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t))
	ctx, cancel := context.WithCancel(t.Context())
	s.fail("POST /v4/profile", func(_ http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	})
	_, err := h.Recall(ctx, &memory.TurnStarted{Operation: operation(key, "op")})
	require.ErrorIs(t, err, context.Canceled)
	err = h.CaptureTurn(ctx, completed("s", "op", "x"))
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, s.documents)
}

func TestNoKeyAndNoTextIsPrinted(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := s.provider(t)
	h := handlers(t, p)
	var printed bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&printed, nil))
	fmt.Fprintf(&printed, "%v %+v %#v\n%v %+v %#v\n", p, p, p, *p, *p, *p)
	fail := func(err error) {
		require.Error(t, err)
		fmt.Fprintf(&printed, "%v %+v %#v\n", err, err, err)
		var typed *supermemory.Error
		if errors.As(err, &typed) {
			fmt.Fprintf(&printed, "%+v\n", *typed)
		}
		log.Error("x", "error", err)
	}
	for _, status := range []int{400, 401, 404, 429, 500} {
		for range quick.Attempts {
			s.fail("POST /v3/documents", says(status, `{"error":"`+apiKey+` may not store: a memory"}`))
		}
		_, err := call(t, h, key, "remember", `{"memory":"a memory"}`)
		fail(err)
	}
	s.Close()
	_, err := call(t, h, key, "remember", `{"memory":"a memory"}`)
	fail(err)
	assert.NotContains(t, printed.String(), apiKey)
	assert.NotContains(t, printed.String(), "a memory")
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { elsewhere <- r.Header.Get("Authorization") }))
	t.Cleanup(other.Close)
	s := newServer(t)
	s.fail("POST /v4/search", says(http.StatusTemporaryRedirect, "", "Location", other.URL))
	_, err := call(t, handlers(t, s.provider(t)), key, "search", `{"query":"x"}`)
	require.ErrorIs(t, err, supermemory.ErrBadReply)
	assert.Empty(t, elsewhere)
}

func TestTheKeyIsAskedForBeforeEveryRequest(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	asked := 0
	broken := errors.New("the vault is closed")
	secret := supermemory.SecretFunc(func(context.Context) (string, error) {
		if asked++; asked > 2 {
			return "", broken
		}
		return apiKey, nil
	})
	p, err := supermemory.New(secret, &supermemory.Options{BaseURL: s.URL, HTTPClient: s.Client(), Retry: quick})
	require.NoError(t, err)
	h := handlers(t, p)
	for range 2 {
		mustCall(t, h, "search", `{"query":"x"}`)
	}
	_, err = call(t, h, key, "search", `{"query":"x"}`)
	require.ErrorIs(t, err, broken)
	assert.Equal(t, 2, s.count("POST /v4/search"))
}
