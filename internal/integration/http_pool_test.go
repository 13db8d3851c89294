package integration_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/integration/server"
)

func TestS3CancelledCallsGiveTheirConnectionsBack(t *testing.T) {
	t.Parallel()
	running := server.StartS3(t)
	pool := transport(t)
	pool.MaxConnsPerHost = connections
	store := openS3(t, running.Client(running.Address, pool), newBucket(t, running), nil)
	testCancelledOverHTTP(t, store, pool, "http://"+running.Address)
}

func TestUpstashCancelledCallsGiveTheirConnectionsBack(t *testing.T) {
	t.Parallel()
	shim := startShim(t, server.StartRedis(t, "appendonly no").Address)
	pool := transport(t)
	pool.MaxConnsPerHost = connections
	testCancelledOverHTTP(t, openRestOver(t, pool, shim.URL), pool, shim.URL)
}

// testCancelledOverHTTP cancels calls at any moment and then guards that every connection of the pool can be used.
func testCancelledOverHTTP(t *testing.T, store docstore.Store, pool *http.Transport, url string) {
	var clients sync.WaitGroup
	for client := range connections {
		clients.Go(func() {
			for attempt := range 8 {
				key := keyOf(fmt.Sprint("any moment ", client, " ", attempt))
				if attempt%2 == 0 {
					create(t, store, key, []byte("before"))
				}
				cancelledWrite(t, store, key)
			}
		})
	}
	clients.Wait()
	requireFullHTTPPool(t, pool, url)
}

// requireFullHTTPPool takes every connection of the pool at once: each is held by an answer that nobody has read.
func requireFullHTTPPool(t *testing.T, pool *http.Transport, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for range connections {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("no credentials"))
		require.NoError(t, err)
		answer, err := pool.RoundTrip(request)
		require.NoError(t, err, "a connection was lost to a call")
		defer answer.Body.Close()
		require.NotZero(t, answer.ContentLength, "an answer without a body holds no connection")
	}
	one, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(one, http.MethodPost, url, nil)
	require.NoError(t, err)
	_, err = pool.RoundTrip(request)
	require.ErrorIs(t, err, context.DeadlineExceeded, "the pool is not exhausted, so this proves nothing")
}
