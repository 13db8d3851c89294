package upstash_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/filememory/backendtest"
	"github.com/recollect-go/recollect/provider/upstash"
	"github.com/recollect-go/recollect/state"
	"github.com/recollect-go/recollect/state/statetest"
)

// shelf is a backend with the server that it is on.
type shelf struct {
	*upstash.Documents
	server *server
}

func newShelf(t *testing.T) *shelf {
	s := newServer(t)
	return &shelf{s.documents(t), s}
}

func (s *shelf) reopen(t *testing.T) *shelf { return &shelf{s.server.documents(t), s.server} }

// loseReply makes the next write lose its reply for good: its repetitions, if it has any, and the read that would tell what became of it fail
// as well.
func (s *shelf) loseReply(applied bool) {
	first := hangsUp
	if applied {
		first = losesReply
	}
	s.server.nextOfOne("EVAL", first, hangsUp, hangsUp)
	s.server.next("HGETALL", hangsUp, hangsUp, hangsUp)
}

// bytesRefused is checked by TestTextIsKeptAndBytesAreRefused.
var bytesRefused = map[string]string{"content-bytes": "the protocol is JSON: a NUL is kept, invalid UTF-8 is refused"}

func TestDocumentsConform(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(t *testing.T) filememory.Backend { return newShelf(t) }, &backendtest.Options{
		Skip:      bytesRefused,
		Reopen:    func(t *testing.T, b filememory.Backend) filememory.Backend { return b.(*shelf).reopen(t) },
		LoseReply: func(_ *testing.T, b filememory.Backend, applied bool) { b.(*shelf).loseReply(applied) },
	})
}

func TestDocumentsConformAsAStoreOfCheckpoints(t *testing.T) {
	t.Parallel()
	statetest.Run(t, func(t *testing.T) state.Store { return newShelf(t) }, &statetest.Options{
		MaxBytes:  1 << 20, // the stand-in is slow under the race detector
		Skip:      bytesRefused,
		Reopen:    func(t *testing.T, s state.Store) state.Store { return s.(*shelf).reopen(t) },
		LoseReply: func(_ *testing.T, s state.Store, applied bool) { s.(*shelf).loseReply(applied) },
	})
}

func TestTextIsKeptAndBytesAreRefused(t *testing.T) {
	t.Parallel()
	d := newShelf(t)
	for _, content := range []string{"\x00", "a\x00b", "\u2028\u2029\ufeff<&>", "OK", "123", `{"a":1}`, ""} {
		version, err := d.Write(t.Context(), key, []byte(content), "")
		require.NoError(t, err, "%q", content)
		read, _, err := d.Read(t.Context(), key)
		require.NoError(t, err)
		require.Equal(t, content, string(read))
		require.NoError(t, d.Delete(t.Context(), key, version))
	}
	for _, content := range []string{"\xff\xfe", "caf\xe9", "\xed\xa0\x80"} {
		_, err := d.Write(t.Context(), key, []byte(content), "")
		require.ErrorIs(t, err, upstash.ErrNotUTF8)
		_, _, err = d.Read(t.Context(), key)
		require.ErrorIs(t, err, fs.ErrNotExist, "nothing is stored")
	}
}
