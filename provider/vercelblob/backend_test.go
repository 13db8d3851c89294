package vercelblob_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/internal/rest/resttest"
	"github.com/recollect-go/recollect/provider/vercelblob"
)

func TestADocumentLiesWhereEveKeepsIt(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	b := newBackend(t, s)

	version, err := b.Write(t.Context(), key, []byte("a document"), "")
	require.NoError(t, err)
	stored, ok := s.get(pathname(key))
	require.True(t, ok)
	assert.Equal(t, "a document", stored)

	content, read, err := b.Read(t.Context(), key)
	require.NoError(t, err)
	assert.Equal(t, "a document", string(content))
	assert.Equal(t, version, read)
}

func TestRequestsAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	recorder := &resttest.Recorder{Next: s.Client().Transport}
	b := newBackendWith(t, s, &http.Client{Transport: recorder})

	created, err := b.Write(t.Context(), key, []byte("first"), "")
	require.NoError(t, err)
	s.next("write", hangsUp)
	updated, err := b.Write(t.Context(), key, []byte("second"), created)
	require.NoError(t, err)
	_, _, err = b.Read(t.Context(), key)
	require.NoError(t, err)
	_, _, err = b.List(t.Context(), "", 10)
	require.NoError(t, err)
	_, _, err = b.List(t.Context(), "a cursor", 5000)
	require.NoError(t, err)
	require.NoError(t, b.Delete(t.Context(), key, updated))

	requests := recorder.Requests()
	ids := regexp.MustCompile(storeID + `:\d+:[0-9a-f]{14}`)
	assert.NotEqual(t, ids.FindString(requests[0]), ids.FindString(requests[1]), "another call has another request id")
	assert.Equal(t, ids.FindString(requests[1]), ids.FindString(requests[2]), "an attempt keeps the request id of the first one")
	for i := range requests {
		requests[i] = ids.ReplaceAllString(requests[i], "<request id>")
	}
	resttest.Golden(t, "requests.http", requests, s.URL, "<server>", token, "<token>")
}

func TestALargeDocumentKeepsAStrongETag(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	eager := &http.Transport{}
	t.Cleanup(eager.CloseIdleConnections)
	for name, client := range map[string]*http.Client{
		"a transport that would compress": {Transport: eager},
		"the transport of the server":     s.Client(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBackendWith(t, s, client)
			k := "memscope1_" + fmt.Sprintf("%043d", len(name))
			content := bytes.Repeat([]byte("all work and no play \n"), 3000)[:65536]
			version, err := b.Write(t.Context(), k, content, "")
			require.NoError(t, err)
			for i := range 3 {
				read, current, err := b.Read(t.Context(), k)
				require.NoError(t, err)
				require.Equal(t, version, current)
				require.Equal(t, content, read)
				content = append([]byte(nil), read...)
				content[i] = '!'
				version, err = b.Write(t.Context(), k, content, current)
				require.NoError(t, err)
			}
		})
	}
}

// compressing is a transport that asks for gzip whatever the backend asks for, as a proxy does.
type compressing struct{ next http.RoundTripper }

func (c compressing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept-Encoding", "gzip")
	return c.next.RoundTrip(r)
}

// weakening is a transport that weakens ETags without compressing.
type weakening struct{ next http.RoundTripper }

func (c weakening) RoundTrip(r *http.Request) (*http.Response, error) {
	reply, err := c.next.RoundTrip(r)
	if err == nil && reply.Header.Get("Etag") != "" {
		reply.Header.Set("Etag", "W/"+reply.Header.Get("Etag"))
	}
	return reply, err
}

func TestAWeakETagIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	etag := s.put(pathname(key), strings.Repeat("x", 2000))

	_, _, err := newBackendWith(t, s, &http.Client{Transport: weakening{s.Client().Transport}}).Read(t.Context(), key)
	require.ErrorIs(t, err, vercelblob.ErrWeakETag)

	_, err = newBackend(t, s).Write(t.Context(), key, []byte("new"), "W/"+etag)
	require.ErrorIs(t, err, vercelblob.ErrWeakETag)
	assert.Zero(t, s.count("write"), "nothing is sent")
}

func TestAnEncodedReplyIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.put(pathname(key), strings.Repeat("x", 2000))
	_, _, err := newBackendWith(t, s, &http.Client{Transport: compressing{s.Client().Transport}}).Read(t.Context(), key)
	require.ErrorIs(t, err, vercelblob.ErrBadReply)
}

func TestAbsentDocuments(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	b := newBackend(t, s)
	_, _, err := b.Read(t.Context(), key)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, b.Delete(t.Context(), key, `"any"`))
	require.NoError(t, b.Delete(t.Context(), key, ""))

	_, err = b.Write(t.Context(), key, []byte("x"), `"0123"`)
	require.ErrorIs(t, err, filememory.ErrConflict)
	_, stored := s.get(pathname(key))
	assert.False(t, stored)
}

func TestAStoreThatIsNotThereIsNotAnAbsentDocument(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.next("read", answers(http.StatusNotFound, "store_not_found", "This store does not exist"))
	_, _, err := newBackend(t, s).Read(t.Context(), key)
	require.ErrorIs(t, err, vercelblob.ErrStoreNotFound)
	require.NotErrorIs(t, err, fs.ErrNotExist)
}

func TestDeleteIsConditional(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	b := newBackend(t, s)
	first, err := b.Write(t.Context(), key, []byte("first"), "")
	require.NoError(t, err)
	second, err := b.Write(t.Context(), key, []byte("second"), first)
	require.NoError(t, err)

	for _, wrong := range []string{first, "", "no etag", "W/" + second} {
		err := b.Delete(t.Context(), key, wrong)
		var conflict *filememory.ConflictError
		require.ErrorAs(t, err, &conflict, "expecting %q", wrong)
		assert.Equal(t, second, conflict.Actual)
	}
	require.NoError(t, b.Delete(t.Context(), key, second))
	_, _, err = b.Read(t.Context(), key)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestOfConcurrentWritersOneWins(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	b := newBackend(t, s)
	version := ""
	for round := range 3 {
		var (
			wg       sync.WaitGroup
			mu       sync.Mutex
			versions []string
		)
		for writer := range 8 {
			wg.Go(func() {
				v, err := b.Write(t.Context(), key, fmt.Appendf(nil, "round %d writer %d", round, writer), version)
				if err != nil {
					assert.ErrorIs(t, err, filememory.ErrConflict)
					return
				}
				mu.Lock()
				versions = append(versions, v)
				mu.Unlock()
			})
		}
		wg.Wait()
		require.Len(t, versions, 1)
		version = versions[0]
	}
}

func TestInvalidCallsSendNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	b := newBackend(t, s)
	for _, bad := range []string{"", "memscope1_short", "../../" + key, key + "/x", "Memscope1_" + key[10:]} {
		_, _, err := b.Read(t.Context(), bad)
		require.ErrorIs(t, err, filememory.ErrInvalidKey)
		_, err = b.Write(t.Context(), bad, []byte("x"), "")
		require.ErrorIs(t, err, filememory.ErrInvalidKey)
		require.ErrorIs(t, b.Delete(t.Context(), bad, ""), filememory.ErrInvalidKey)
	}
	_, err := b.Write(t.Context(), key, nil, "")
	require.ErrorIs(t, err, vercelblob.ErrEmpty)
	_, err = b.Write(t.Context(), key, make([]byte, 16<<20+1), "")
	require.ErrorIs(t, err, vercelblob.ErrTooLarge)
	_, err = b.Write(t.Context(), key, []byte("x"), "\"a\"\r\nX-Evil: 1")
	require.ErrorIs(t, err, filememory.ErrConflict, "no object has such a version")
	_, _, err = b.List(t.Context(), "", 0)
	require.Error(t, err)
	assert.Empty(t, s.requests())
}

func TestADocumentOverTheLimitIsAnErrorAndNotAPart(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.put(pathname(key), strings.Repeat("x", 101))
	options := s.options()
	options.MaxBytes = 100
	credentials, err := vercelblob.ReadWriteToken(token)
	require.NoError(t, err)
	b, err := vercelblob.New(credentials, options)
	require.NoError(t, err)
	_, _, err = b.Read(t.Context(), key)
	require.ErrorIs(t, err, vercelblob.ErrTooLarge)
	require.ErrorIs(t, err, filememory.ErrDocumentOversized, "as of every other backend")
}

func TestListPagesThroughDocumentsOnly(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	b := newBackend(t, s)
	var want []string
	for i := range 7 {
		k := fmt.Sprintf("memscope1_%043d", i)
		want = append(want, k)
		s.put(pathname(k), "x")
	}
	s.put("eve/memory/file/notes.txt", "x")
	s.put("eve/memory/file/"+key+"/OTHER.md", "x")
	s.put("eve/memory/file/memscope1_short/MEMORY.md", "x")
	s.put("eve/memory/filed/"+key+"/MEMORY.md", "x")

	var got []string
	cursor, pages := "", 0
	for {
		keys, next, err := b.List(t.Context(), cursor, 3)
		require.NoError(t, err)
		require.LessOrEqual(t, len(keys), 3)
		got = append(got, keys...)
		pages++
		if next == "" {
			break
		}
		cursor = next
	}
	slices.Sort(got)
	assert.Equal(t, want, got)
	assert.Equal(t, 4, pages)
}

func TestAPageThatIsNoneIsAnErrorAndNotTheEnd(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	b := newBackend(t, s)
	for _, body := range []string{"", "null", "{}", `{"hasMore":false}`, `{"blobs":null,"hasMore":false}`, `{"blobs":[]}`, `{"blobs":[],"hasMore":true}`} {
		s.next("list", says(http.StatusOK, body))
		_, _, err := b.List(t.Context(), "", 1)
		require.ErrorIs(t, err, vercelblob.ErrBadReply, "%s", body)
	}
}

func TestNewListsEveryProblem(t *testing.T) {
	t.Parallel()
	_, err := vercelblob.New(nil, &vercelblob.Options{
		Prefix: "a//b", Name: "x/y", ContentType: "a\r\nX-Evil: 1", MaxBytes: -1, APIURL: "ftp://x", ObjectURL: "https://user:pass@x", Retry: vercelblob.Retry{Attempts: -1},
	})
	require.Error(t, err)
	for _, part := range []string{"credentials", "prefix", "name", "content type", "limit", "API URL", "object URL", "attempts"} {
		assert.ErrorContains(t, err, part)
	}
	assert.NotContains(t, err.Error(), "user:pass")
	for _, prefix := range []string{"/", "..", "a/../b", "ä", "a b", "a?b", "a#b", "a%2Fb", strings.Repeat("x", 900)} {
		credentials, err := vercelblob.ReadWriteToken(token)
		require.NoError(t, err)
		_, err = vercelblob.New(credentials, &vercelblob.Options{Prefix: prefix})
		assert.Error(t, err, "prefix %q", prefix)
	}
}

func TestOptionsAreCopied(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	options := s.options()
	options.Prefix = "/other/place/"
	options.Name = "STATE.json"
	options.ContentType = "application/json"
	credentials, err := vercelblob.ReadWriteToken(token)
	require.NoError(t, err)
	b, err := vercelblob.New(credentials, options)
	require.NoError(t, err)
	*options = vercelblob.Options{Prefix: "changed"}
	_, err = b.Write(t.Context(), key, []byte("{}"), "")
	require.NoError(t, err)
	stored, ok := s.get("other/place/" + key + "/STATE.json")
	assert.True(t, ok)
	assert.Equal(t, "{}", stored)
	assert.Equal(t, "application/json", s.objects["other/place/"+key+"/STATE.json"].contentType)
}
