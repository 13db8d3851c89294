package vercelblob_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/rest/resttest"
	"github.com/recollect-go/recollect/provider/vercelblob"
)

// failing returns a backend whose every request is answered with a 503, and the times of the requests.
func failing(t *testing.T) (*vercelblob.Backend, *[]time.Time) {
	t.Helper()
	var times []time.Time
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		times = append(times, time.Now())
		fail(w, http.StatusServiceUnavailable, "service_unavailable", "")
	})
	credentials, err := vercelblob.ReadWriteToken(token)
	require.NoError(t, err)
	b, err := vercelblob.New(credentials, &vercelblob.Options{HTTPClient: &http.Client{Transport: resttest.InMemory{Handler: handler}}})
	require.NoError(t, err)
	return b, &times
}

func TestTheWaitDoublesBetweenAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, times := failing(t)
		_, _, err := b.Read(t.Context(), key)
		require.ErrorIs(t, err, vercelblob.ErrUnavailable)
		require.Len(t, *times, 4)
		for i, whole := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second} {
			waited := (*times)[i+1].Sub((*times)[i])
			assert.LessOrEqual(t, waited, whole)
			assert.GreaterOrEqual(t, waited, whole*3/4)
		}
	})
}

func TestAContextThatEndsDuringAWaitEndsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, times := failing(t)
		ctx, cancel := context.WithCancel(t.Context())
		begin := time.Now()
		time.AfterFunc(100*time.Millisecond, cancel)
		_, _, err := b.Read(ctx, key)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, vercelblob.ErrUnavailable)
		assert.Equal(t, 100*time.Millisecond, time.Since(begin))
		assert.Len(t, *times, 1)
	})
}

func TestAWaitThatOutlastsTheDeadlineIsNotBegun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, times := failing(t)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		begin := time.Now()
		_, _, err := b.Read(ctx, key)
		require.ErrorIs(t, err, vercelblob.ErrUnavailable)
		assert.Zero(t, time.Since(begin))
		assert.Len(t, *times, 1)
	})
}
