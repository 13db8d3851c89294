package vercelblob_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/filememory/backendtest"
	"github.com/recollect-go/recollect/provider/vercelblob"
	"github.com/recollect-go/recollect/state"
	"github.com/recollect-go/recollect/state/statetest"
)

// shelf is a backend with the server that it is on.
type shelf struct {
	*vercelblob.Backend
	server *server
}

func newShelf(t *testing.T) *shelf {
	s := newServer(t)
	return &shelf{newBackend(t, s), s}
}

func (s *shelf) reopen(t *testing.T) *shelf { return &shelf{newBackend(t, s.server), s.server} }

// loseReply makes the next write lose its reply for good: its repetitions, if it has any, and the read that would tell what became of it fail
// as well.
func (s *shelf) loseReply(applied bool) {
	first := hangsUp
	if applied {
		first = losesReply
	}
	s.server.next("write", func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
		for range quick.Attempts - 1 {
			s.server.nextOf(r, hangsUp)
		}
		first(w, r, serve)
	})
	for range quick.Attempts {
		s.server.next("read", answers(http.StatusServiceUnavailable, "service_unavailable", ""))
	}
}

func TestTheBackendConforms(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(t *testing.T) filememory.Backend { return newShelf(t) }, &backendtest.Options{
		NoEmpty:   true,
		Reopen:    func(t *testing.T, b filememory.Backend) filememory.Backend { return b.(*shelf).reopen(t) },
		LoseReply: func(_ *testing.T, b filememory.Backend, applied bool) { b.(*shelf).loseReply(applied) },
	})
}

func TestTheBackendConformsAsAStoreOfCheckpoints(t *testing.T) {
	t.Parallel()
	statetest.Run(t, func(t *testing.T) state.Store { return newShelf(t) }, &statetest.Options{
		MaxBytes:  1 << 20, // the stand-in is slow under the race detector
		NoEmpty:   true,
		Reopen:    func(t *testing.T, s state.Store) state.Store { return s.(*shelf).reopen(t) },
		LoseReply: func(_ *testing.T, s state.Store, applied bool) { s.(*shelf).loseReply(applied) },
	})
}

// TestALimitIsKept runs the kit again where the limit is the smallest that file memory needs.
func TestALimitIsKept(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(t *testing.T) filememory.Backend {
		s := newServer(t)
		options := s.options()
		options.MaxBytes = filememory.MaxDocumentBytes
		options.HTTPClient = &http.Client{Transport: s.Client().Transport}
		credentials, err := vercelblob.ReadWriteToken(token)
		require.NoError(t, err)
		backend, err := vercelblob.New(credentials, options)
		require.NoError(t, err)
		return backend
	}, &backendtest.Options{NoEmpty: true, Bounded: true})
}
