package integration_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/integration/linear"
	"github.com/recollect-go/recollect/internal/integration/proxy"
	"github.com/recollect-go/recollect/internal/integration/server"
	"github.com/recollect-go/recollect/provider/s3store"
)

// TestS3 runs stores with clients of their own on one S3-compatible server. Deletes leave tombstones, because this
// server's conditional delete is not atomic.
func TestS3(t *testing.T) {
	t.Parallel()
	stores := &s3Stores{server: server.StartS3(t)}
	exercise(t, engine{open: stores.open, again: stores.again, loseReply: stores.loseReply, disturb: stores.disturb})
}

// s3Stores opens stores, each on a client and in a bucket of its own, and remembers where they are.
type s3Stores struct {
	server *server.S3
	places sync.Map // docstore.Store to s3Place
}

type s3Place struct {
	bucket string
	thief  *requestThief
}

func (s *s3Stores) openIn(t *testing.T, bucket string) docstore.Store {
	t.Helper()
	thief := &requestThief{transport: transport(t)}
	client := s.server.Client(s.server.Address, thief, func(o *s3.Options) { o.Retryer = aws.NopRetryer{} })
	store := openS3(t, client, bucket, nil)
	s.places.Store(store, s3Place{bucket, thief})
	return store
}

func (s *s3Stores) placeOf(store docstore.Store) s3Place {
	found, _ := s.places.Load(store)
	return found.(s3Place)
}

func (s *s3Stores) open(t *testing.T, n int) []docstore.Store {
	bucket := newBucket(t, s.server)
	stores := make([]docstore.Store, n)
	for i := range stores {
		stores[i] = s.openIn(t, bucket)
	}
	return stores
}

func (s *s3Stores) again(t *testing.T, store docstore.Store) docstore.Store {
	return s.openIn(t, s.placeOf(store).bucket)
}

// loseReply loses the reply to the write, and to the question that would tell what became of it.
func (s *s3Stores) loseReply(_ *testing.T, store docstore.Store, applied bool) {
	s.placeOf(store).thief.takeWrite(applied, 1)
}

// disturb cuts the connections of clients that repeat requests, as they do by default.
func (s *s3Stores) disturb(t *testing.T) *disturbance {
	bucket := newBucket(t, s.server)
	shaky := proxy.Start(t, s.server.Address)
	d := &disturbance{
		calm:  openS3(t, s.server.Client(s.server.Address, transport(t)), bucket, nil),
		count: shaky.Cuts,
		stop:  func() { shaky.CutWith(nil) },
	}
	for range processes {
		d.stores = append(d.stores, openS3(t, s.server.Client(shaky.Address(), transport(t)), bucket, nil))
	}
	shaky.CutWith(proxy.Anywhere(8 << 10))
	shaky.CutAll()
	return d
}

func openS3(t testing.TB, client *s3.Client, bucket string, opts *s3store.Options) *s3store.Store {
	t.Helper()
	store, err := s3store.New(t.Context(), client, bucket, opts)
	require.NoError(t, err)
	return store
}

// newBucket creates an empty bucket.
func newBucket(t testing.TB, server *server.S3) string {
	t.Helper()
	bucket := "test-" + strings.ToLower(rand.Text())
	_, err := server.Client(server.Address, transport(t)).CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket})
	require.NoError(t, err)
	return bucket
}

// transport returns a pool of connections that is closed when the test ends.
func transport(t testing.TB) *http.Transport {
	pool := &http.Transport{MaxIdleConnsPerHost: 100}
	t.Cleanup(pool.CloseIdleConnections)
	return pool
}

// requestThief loses requests to an S3 server, or their replies, exactly when a test wants it.
type requestThief struct {
	transport http.RoundTripper
	after     func() // runs between the server's act and the loss of its reply; set before the client is used

	mu       sync.Mutex
	writing  bool // the next write is to be lost...
	swallows bool // ...before the server sees it
	others   int  // how many of the requests after it are lost
}

// takeWrite loses the next write, or only its reply if applied, and then the given number of other requests.
func (r *requestThief) takeWrite(applied bool, others int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writing, r.swallows, r.others = true, !applied, others
}

// fate says what becomes of a request.
func (r *requestThief) fate(request *http.Request) (swallowed, stolen bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	writes := request.Method == http.MethodPut || request.Method == http.MethodDelete
	switch {
	case r.writing && writes:
		r.writing = false
		return r.swallows, !r.swallows
	case !r.writing && r.others > 0:
		r.others--
		return true, false
	}
	return false, false
}

func (r *requestThief) RoundTrip(request *http.Request) (*http.Response, error) {
	swallowed, stolen := r.fate(request)
	if swallowed {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, syscall.ECONNRESET
	}
	response, err := r.transport.RoundTrip(request)
	if err != nil || !stolen {
		return response, err
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	if r.after != nil {
		r.after()
	}
	return nil, syscall.ECONNRESET
}

// thievedS3 returns a store whose requests the thief can take, on a client that repeats them as it does by default.
func thievedS3(t *testing.T, running *server.S3, bucket string, thief *requestThief) *s3store.Store {
	thief.transport = transport(t)
	return openS3(t, running.Client(running.Address, thief), bucket, nil)
}

// TestS3RepeatedWriteIsNoConflictWithItself guards that the client's own repetition of a write, which finds its condition
// gone, ends in success.
func TestS3RepeatedWriteIsNoConflictWithItself(t *testing.T) {
	t.Parallel()
	running := server.StartS3(t)
	thief := &requestThief{}
	store := thievedS3(t, running, newBucket(t, running), thief)
	key := keyOf("repeated")
	thief.takeWrite(true, 0)
	version := create(t, store, key, []byte("a"))
	require.Equal(t, version, requireContent(t, store, key, []byte("a")))

	thief.takeWrite(true, 0)
	version, err := store.Write(t.Context(), key, []byte("b"), version)
	require.NoError(t, err)
	require.Equal(t, version, requireContent(t, store, key, []byte("b")))

	thief.takeWrite(true, 0)
	require.NoError(t, store.Delete(t.Context(), key, version))
	_, _, err = store.Read(t.Context(), key)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestS3OverwrittenWriteIsUnknown guards that a write that happened, whose reply was lost, and that another client then
// replaced, is no conflict, which would say that it never happened.
func TestS3OverwrittenWriteIsUnknown(t *testing.T) {
	t.Parallel()
	running := server.StartS3(t)
	bucket := newBucket(t, running)
	other := openS3(t, running.Client(running.Address, transport(t)), bucket, nil)
	key := keyOf("overwritten")
	thief := &requestThief{after: func() {
		_, ours, err := other.Read(context.Background(), key)
		if err == nil {
			_, err = other.Write(context.Background(), key, []byte("c"), ours)
		}
		if err != nil {
			t.Error(err)
		}
	}}
	store := thievedS3(t, running, bucket, thief)
	version := create(t, store, key, []byte("a"))
	thief.takeWrite(true, 0)
	_, err := store.Write(t.Context(), key, []byte("b"), version)
	require.ErrorIs(t, err, docstore.ErrUnknownOutcome)
	require.NotErrorIs(t, err, docstore.ErrConflict)
	requireContent(t, other, key, []byte("c"))
}

// TestS3ConditionalDelete runs a store that removes objects, one client at a time: this server's delete is conditional
// and not atomic.
func TestS3ConditionalDelete(t *testing.T) {
	t.Parallel()
	running := server.StartS3(t)
	client := running.Client(running.Address, transport(t))
	bucket := newBucket(t, running)
	store := openS3(t, client, bucket, &s3store.Options{ConditionalDelete: true})
	key := keyOf("removed")
	version := create(t, store, key, []byte("a"))
	requireConflictWith(t, store.Delete(t.Context(), key, ""), "", version)
	const another = `"0123456789abcdef0123456789abcdef"`
	requireConflictWith(t, store.Delete(t.Context(), key, another), another, version)
	require.NoError(t, store.Delete(t.Context(), key, version))
	require.NoError(t, store.Delete(t.Context(), key, version), "gone is success")
	require.Empty(t, objects(t, client, bucket), "an object is left")

	history := linear.Record(t.Context(), []docstore.Store{store}, linear.Plan{Clients: 1, Keys: 2, Operations: 200})
	require.Empty(t, history.Failures())
	require.NoError(t, history.Check())
}

// objects returns the names of all objects.
func objects(t *testing.T, client *s3.Client, bucket string) []string {
	t.Helper()
	page, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &bucket})
	require.NoError(t, err)
	require.False(t, aws.ToBool(page.IsTruncated))
	var names []string
	for _, object := range page.Contents {
		names = append(names, aws.ToString(object.Key))
	}
	return names
}

// TestS3TombstonesAreNoDocuments guards what a deleted document leaves: one object without any of the content, which
// nothing takes for a document and a create replaces.
func TestS3TombstonesAreNoDocuments(t *testing.T) {
	t.Parallel()
	running := server.StartS3(t)
	client := running.Client(running.Address, transport(t))
	bucket := newBucket(t, running)
	store := openS3(t, client, bucket, nil)
	require.Empty(t, objects(t, client, bucket), "the probe left an object")

	key := keyOf("deleted")
	secret := []byte("secret " + strings.Repeat("x", 47-len("secret "))) // a document of a tombstone's size
	version := create(t, store, key, secret)
	require.NoError(t, store.Delete(t.Context(), key, version))
	require.Equal(t, []string{"recollect/" + key}, objects(t, client, bucket))
	out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: aws.String("recollect/" + key)})
	require.NoError(t, err)
	left, err := io.ReadAll(out.Body)
	require.NoError(t, err)
	require.NoError(t, out.Body.Close())
	require.Regexp(t, `^recollect-deleted-v1 [A-Z2-7]{26}$`, string(left))

	_, _, err = store.Read(t.Context(), key)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, store.Delete(t.Context(), key, version))
	_, err = store.Write(t.Context(), key, []byte("b"), version)
	requireConflictWith(t, err, version, "")
	_, err = store.Write(t.Context(), keyOf("other"), left, "")
	require.ErrorIs(t, err, s3store.ErrReserved)

	alive := keyOf("alive")
	create(t, store, alive, secret)
	require.Equal(t, []string{alive}, listed(t, store, 1))
	create(t, store, key, secret)
	both := []string{alive, key}
	slices.Sort(both)
	require.Equal(t, both, listed(t, store, 1))
}

// TestS3ListFindsEveryKey guards that pages of any size together hold every document of the prefix, and nothing else.
func TestS3ListFindsEveryKey(t *testing.T) {
	t.Parallel()
	running := server.StartS3(t)
	client := running.Client(running.Address, transport(t))
	bucket := newBucket(t, running)
	store := openS3(t, client, bucket, &s3store.Options{Prefix: "a b/文"})
	keys := fill(t, store, 150)
	for _, name := range []string{"a b/文/foreign", "a b/文/folder/" + keys[0], "a b/" + keyOf("above")} {
		putObject(t, client, &s3.PutObjectInput{Bucket: &bucket, Key: &name})
	}
	fill(t, openS3(t, client, bucket, &s3store.Options{Prefix: "a b/文/state"}), 10)
	for _, limit := range []int{1, 7, 100, 10_000} {
		require.Equal(t, keys, listed(t, store, limit))
	}
	_, _, err := store.List(t.Context(), "", 0)
	require.ErrorContains(t, err, "limit")
}

func putObject(t testing.TB, client *s3.Client, input *s3.PutObjectInput) {
	t.Helper()
	if input.Body == nil {
		input.Body = bytes.NewReader(nil)
	}
	_, err := client.PutObject(t.Context(), input)
	require.NoError(t, err)
}

// TestS3RefusesForeignObjects guards that an object that is no document is named and left as it is.
func TestS3RefusesForeignObjects(t *testing.T) {
	t.Parallel()
	running := server.StartS3(t)
	client := running.Client(running.Address, transport(t))
	bucket := newBucket(t, running)
	store := openS3(t, client, bucket, &s3store.Options{MaxBytes: 1000})

	encoded := keyOf("encoded")
	name := "recollect/" + encoded
	putObject(t, client, &s3.PutObjectInput{
		Bucket: &bucket, Key: &name, ContentEncoding: aws.String("gzip"), Body: strings.NewReader("x"),
	})
	_, _, err := store.Read(t.Context(), encoded)
	var shape *s3store.ShapeError
	require.ErrorAs(t, err, &shape)
	require.Equal(t, s3store.ShapeError{Key: encoded, Found: `encoded as "gzip"`}, *shape)
	require.ErrorIs(t, err, docstore.ErrShape, "a sweep goes on past it")
	_, err = store.Write(t.Context(), encoded, []byte("y"), "")
	require.ErrorIs(t, err, docstore.ErrConflict)
	require.ErrorIs(t, store.Delete(t.Context(), encoded, ""), docstore.ErrConflict)
	out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: &name})
	require.NoError(t, err)
	left, err := io.ReadAll(out.Body)
	require.NoError(t, err)
	require.NoError(t, out.Body.Close())
	require.Equal(t, "x", string(left), "it was changed")

	large := keyOf("large")
	name = "recollect/" + large
	putObject(t, client, &s3.PutObjectInput{Bucket: &bucket, Key: &name, Body: bytes.NewReader(make([]byte, 1001))})
	_, _, err = store.Read(t.Context(), large)
	require.ErrorIs(t, err, s3store.ErrTooLarge)
	require.ErrorContains(t, err, "1001 bytes, over the limit of 1000")
	_, err = store.Write(t.Context(), keyOf("too large"), make([]byte, 1001), "")
	require.ErrorIs(t, err, s3store.ErrTooLarge)

	folder := keyOf("folder")
	name = "recollect/" + folder + "/file"
	putObject(t, client, &s3.PutObjectInput{Bucket: &bucket, Key: &name})
	_, err = store.Write(t.Context(), folder, []byte("y"), "")
	require.Error(t, err)
	require.NotErrorIs(t, err, docstore.ErrUnknownOutcome)
	require.Contains(t, objects(t, client, bucket), name)
}

// TestS3MissingBucketIsNoMissingDocument guards that a bucket that went away is not an empty one.
func TestS3MissingBucketIsNoMissingDocument(t *testing.T) {
	t.Parallel()
	running := server.StartS3(t)
	client := running.Client(running.Address, transport(t))
	bucket := newBucket(t, running)
	store := openS3(t, client, bucket, nil)
	_, err := client.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: &bucket})
	require.NoError(t, err)

	key := keyOf("gone")
	_, _, err = store.Read(t.Context(), key)
	require.Error(t, err)
	require.NotErrorIs(t, err, fs.ErrNotExist)
	_, err = store.Write(t.Context(), key, nil, `"0123456789abcdef0123456789abcdef"`)
	require.Error(t, err)
	require.NotErrorIs(t, err, docstore.ErrConflict)
	_, err = s3store.New(t.Context(), client, bucket, nil)
	require.ErrorContains(t, err, "NoSuchBucket")
}

// TestS3EndedContextReturnsPromptly guards calls that a server keeps waiting: they return with the context, a write with
// an unknown outcome, and the pool serves the next calls.
func TestS3EndedContextReturnsPromptly(t *testing.T) {
	t.Parallel()
	running := server.StartS3(t)
	bucket := newBucket(t, running)
	slow := &slowTransport{transport: transport(t)}
	store := openS3(t, running.Client(running.Address, slow), bucket, nil)
	key := keyOf("prompt")
	version := create(t, store, key, []byte("a"))

	calls := map[string]func(context.Context) error{
		"read":   func(ctx context.Context) error { _, _, err := store.Read(ctx, key); return err },
		"write":  func(ctx context.Context) error { _, err := store.Write(ctx, key, []byte("b"), version); return err },
		"delete": func(ctx context.Context) error { return store.Delete(ctx, key, version) },
		"list":   func(ctx context.Context) error { _, _, err := store.List(ctx, "", 10); return err },
		"new": func(ctx context.Context) error {
			_, err := s3store.New(ctx, running.Client(running.Address, slow), bucket, nil)
			return err
		},
	}
	for name, call := range calls {
		slow.stall(true)
		for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
			waited, err := interrupted(end, call)
			require.ErrorIs(t, err, end, name)
			require.Less(t, waited, 400*time.Millisecond, name)
			require.Equal(t, name == "write" || name == "delete", errors.Is(err, docstore.ErrUnknownOutcome), name)
			require.NotErrorIs(t, err, docstore.ErrConflict, name)
		}
		slow.stall(false)
		requireContent(t, store, key, []byte("a"))
	}
}

// slowTransport holds requests back until they are cancelled.
type slowTransport struct {
	transport http.RoundTripper
	mu        sync.Mutex
	stalls    bool
}

func (s *slowTransport) stall(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalls = on
}

func (s *slowTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	s.mu.Lock()
	stalls := s.stalls
	s.mu.Unlock()
	if !stalls {
		return s.transport.RoundTrip(request)
	}
	<-request.Context().Done()
	if request.Body != nil {
		_ = request.Body.Close()
	}
	return nil, request.Context().Err()
}

// TestS3WriteDoesNotKeepItsContent guards that a caller may change the content after a call that its context ended.
func TestS3WriteDoesNotKeepItsContent(t *testing.T) {
	t.Parallel()
	running := server.StartS3(t)
	store := openS3(t, running.Client(running.Address, transport(t)), newBucket(t, running), nil)
	content := bytes.Repeat([]byte("a"), 1<<20)
	for i := range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*200*time.Microsecond)
		_, err := store.Write(ctx, keyOf(fmt.Sprint("kept ", i)), content, "")
		cancel()
		clear(content) // the race detector would see the client read this
		if err != nil {
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
	}
}
