package integration_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/filememory/backendtest"
	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/integration/proxy"
	"github.com/recollect-go/recollect/internal/integration/server"
	"github.com/recollect-go/recollect/provider/upstash"
	"github.com/recollect-go/recollect/state"
	"github.com/recollect-go/recollect/state/statetest"
)

const restToken = "token-of-the-shim"

// restShim is the REST protocol of Upstash in front of a real server. It says what each answer of the server is in JSON and adds nothing.
type restShim struct {
	*httptest.Server
	redis *redis.Client
	lose  atomic.Pointer[loss] // what the next write loses
}

// loss is a write whose reply does not arrive, nor do the answers to its repetitions and to the read that would tell what became of it.
type loss struct {
	applied bool
	left    atomic.Int32 // requests that get no answer
}

func startShim(t testing.TB, address string) *restShim {
	t.Helper()
	shim := &restShim{redis: redisClient(t, address)}
	shim.Server = httptest.NewServer(shim)
	t.Cleanup(shim.Close)
	return shim
}

func (s *restShim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if r.Header.Get("Authorization") != "Bearer "+restToken {
		writeJSON(w, http.StatusUnauthorized, map[string]any{"error": "Unauthorized"})
		return
	}
	if r.Header.Get("Upstash-Encoding") != "base64" || r.URL.Path != "/" {
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": "ERR this shim has commands and base64 only"})
		return
	}
	var command []string
	if err := json.Unmarshal(body, &command); err != nil || len(command) == 0 {
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": "ERR a command is an array of strings"})
		return
	}
	if s.loses(r, command) {
		panic(http.ErrAbortHandler)
	}
	result, err := s.do(r, command)
	if err != nil && errors.As(err, new(redis.Error)) {
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": err.Error()})
		return
	}
	if err != nil {
		panic(http.ErrAbortHandler) // the shim's own connection was cut: nobody knows
	}
	writeJSON(w, http.StatusOK, map[string]any{"result": inBase64(result)})
}

// loses reports whether the request gets no answer, after it was carried out if that is wanted.
func (s *restShim) loses(r *http.Request, command []string) bool {
	lost := s.lose.Load()
	if lost == nil {
		return false
	}
	if lost.left.Add(-1) == 0 {
		s.lose.Store(nil)
	}
	if lost.applied && command[0] == "EVAL" {
		_, _ = s.do(r, command)
	}
	return true
}

// do sends a command to the server. It is sent once, whatever happens, and goes on when its caller has gone: so does the service's.
func (s *restShim) do(r *http.Request, command []string) (any, error) {
	args := make([]any, len(command))
	for i, argument := range command {
		args[i] = argument
	}
	result, err := s.redis.Do(context.WithoutCancel(r.Context()), args...).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return result, err
}

func inBase64(v any) any {
	switch v := v.(type) {
	case string:
		if v == "OK" {
			return v
		}
		return base64.StdEncoding.EncodeToString([]byte(v))
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = inBase64(v[i])
		}
		return list
	case map[any]any: // RESP3 has maps; REST has names and values in turn
		list := []any{}
		for name, value := range v {
			list = append(list, inBase64(name), inBase64(value))
		}
		return list
	}
	return v
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// restRetry keeps the tests short.
var restRetry = upstash.Retry{Attempts: 3, FirstDelay: time.Millisecond, MaxDelay: 5 * time.Millisecond}

// restRequests is how many requests a write that never gets an answer sends: every attempt of it and of the read afterwards.
// A create sends two less, since it is not repeated; the next read, which is, then meets what is left of the loss.
const restRequests = 6

// openRest returns documents with a connection pool of their own.
func openRest(t testing.TB, url string) *upstash.Documents {
	t.Helper()
	return openRestOver(t, transport(t), url)
}

func openRestOver(t testing.TB, pool *http.Transport, url string) *upstash.Documents {
	t.Helper()
	token, err := upstash.Token(restToken)
	require.NoError(t, err)
	client, err := upstash.NewClient(url, token, &upstash.Options{HTTPClient: &http.Client{Transport: pool}, Retry: restRetry})
	require.NoError(t, err)
	documents, err := upstash.NewDocuments(client, nil)
	require.NoError(t, err)
	return documents
}

// restStore is documents with the shim that they are behind.
type restStore struct {
	*upstash.Documents
	shim *restShim
}

func (s *restStore) loseReply(applied bool) {
	lost := &loss{applied: applied}
	lost.left.Store(restRequests)
	s.shim.lose.Store(lost)
}

func (s *restStore) again(t *testing.T) *restStore {
	return &restStore{openRest(t, s.shim.URL), s.shim}
}

func startRest(t *testing.T) *restStore {
	shim := startShim(t, server.StartRedis(t, "appendonly no").Address)
	return &restStore{openRest(t, shim.URL), shim}
}

// bytesRefused is the one rule of the kits that a protocol of JSON cannot keep; the package's own tests look at what it does instead.
var bytesRefused = map[string]string{"content-bytes": "the protocol is JSON: a NUL is kept, invalid UTF-8 is refused"}

// TestUpstash runs the kits and the concurrent tests on a real server behind the REST protocol.
func TestUpstash(t *testing.T) {
	t.Parallel()
	t.Run("document backend", func(t *testing.T) {
		backendtest.Run(t, func(t *testing.T) filememory.Backend { return startRest(t) }, &backendtest.Options{
			Skip:      bytesRefused,
			Reopen:    func(t *testing.T, b filememory.Backend) filememory.Backend { return b.(*restStore).again(t) },
			LoseReply: func(_ *testing.T, b filememory.Backend, applied bool) { b.(*restStore).loseReply(applied) },
		})
	})
	t.Run("checkpoint store", func(t *testing.T) {
		statetest.Run(t, func(t *testing.T) state.Store { return startRest(t) }, &statetest.Options{
			Skip:      bytesRefused,
			Reopen:    func(t *testing.T, s state.Store) state.Store { return s.(*restStore).again(t) },
			LoseReply: func(_ *testing.T, s state.Store, applied bool) { s.(*restStore).loseReply(applied) },
		})
	})
	e := engine{
		open: func(t *testing.T, n int) []docstore.Store {
			shim := startShim(t, server.StartRedis(t, "appendonly no").Address)
			stores := make([]docstore.Store, n)
			for i := range stores {
				stores[i] = openRest(t, shim.URL)
			}
			return stores
		},
		disturb: func(t *testing.T) *disturbance {
			shim := startShim(t, server.StartRedis(t).Address)
			shaky := proxy.Start(t, strings.TrimPrefix(shim.URL, "http://"))
			d := &disturbance{
				calm:  openRest(t, shim.URL),
				count: shaky.Cuts,
				stop:  func() { shaky.CutWith(nil) },
			}
			for range processes {
				d.stores = append(d.stores, openRest(t, "http://"+shaky.Address()))
			}
			shaky.CutWith(proxy.Anywhere(8 << 10))
			return d
		},
	}
	t.Run("linearizable", func(t *testing.T) { testLinearizable(t, e) })
	t.Run("disturbed", func(t *testing.T) { testDisturbed(t, e) })
}

// TestUpstashAndRedisShareDocuments guards that both engines keep the one layout, byte for byte.
func TestUpstashAndRedisShareDocuments(t *testing.T) {
	t.Parallel()
	address := server.StartRedis(t, "appendonly no").Address
	client := redisClient(t, address)
	overREST, overRedis := openRest(t, startShim(t, address).URL), openRedis(t, client)
	key := keyOf("shared")
	document, err := os.ReadFile("testdata/redis/document.md")
	require.NoError(t, err)
	stored, err := os.ReadFile("testdata/redis/content.stored")
	require.NoError(t, err)

	version := create(t, overREST, key, document)
	fields, err := client.HGetAll(t.Context(), agentKitKey(key)).Result()
	require.NoError(t, err)
	require.Equal(t, map[string]string{"content": string(stored), "version": version}, fields)
	require.Regexp(t, `^r[A-Z2-7]{26}$`, version)

	require.Equal(t, version, requireContent(t, overRedis, key, document))
	version, err = overRedis.Write(t.Context(), key, []byte("over Redis"), version)
	require.NoError(t, err)
	require.Equal(t, version, requireContent(t, overREST, key, []byte("over Redis")))
	_, err = overREST.Write(t.Context(), key, []byte("x"), "another")
	requireConflictWith(t, err, "another", version)
	require.NoError(t, overREST.Delete(t.Context(), key, version))
	require.Zero(t, client.Exists(t.Context(), agentKitKey(key)).Val())
}

// TestUpstashTimeToLive guards that the script starts the time to live anew, and that documents without one lose theirs.
func TestUpstashTimeToLive(t *testing.T) {
	t.Parallel()
	address := server.StartRedis(t, "appendonly no").Address
	client := redisClient(t, address)
	token, err := upstash.Token(restToken)
	require.NoError(t, err)
	shim := startShim(t, address)
	rest, err := upstash.NewClient(shim.URL, token, &upstash.Options{HTTPClient: shim.Client()})
	require.NoError(t, err)
	expiring, err := upstash.NewDocuments(rest, &upstash.DocumentsOptions{TTL: time.Hour})
	require.NoError(t, err)
	key := keyOf("ttl")
	left := func() time.Duration { return client.TTL(t.Context(), agentKitKey(key)).Val() }

	version := create(t, expiring, key, []byte("a"))
	require.InDelta(t, time.Hour, left(), float64(time.Minute))
	_, err = openRest(t, shim.URL).Write(t.Context(), key, []byte("b"), version)
	require.NoError(t, err)
	require.Negative(t, left())
}

// TestUpstashAnotherShape guards that the scripts name what a key holds and leave it as it is.
func TestUpstashAnotherShape(t *testing.T) {
	t.Parallel()
	address := server.StartRedis(t, "appendonly no").Address
	client := redisClient(t, address)
	documents := openRest(t, startShim(t, address).URL)
	shapes := map[string]func(key string) error{
		"a string":    func(key string) error { return client.Set(t.Context(), key, "x", 0).Err() },
		"a list":      func(key string) error { return client.RPush(t.Context(), key, "x").Err() },
		"a hash":      func(key string) error { return client.HSet(t.Context(), key, "other", "x").Err() },
		"only half":   func(key string) error { return client.HSet(t.Context(), key, "version", "r").Err() },
		"empty field": func(key string) error { return client.HSet(t.Context(), key, "version", "", "content", "x").Err() },
	}
	for name, put := range shapes {
		key := keyOf(name)
		require.NoError(t, put(agentKitKey(key)))
		before := client.Dump(t.Context(), agentKitKey(key)).Val()
		_, _, err := documents.Read(t.Context(), key)
		require.ErrorIs(t, err, upstash.ErrShape, name)
		for _, expected := range []string{"", "r"} {
			_, err = documents.Write(t.Context(), key, []byte("x"), expected)
			require.ErrorIs(t, err, upstash.ErrShape, name)
			require.ErrorIs(t, documents.Delete(t.Context(), key, expected), upstash.ErrShape, name)
		}
		require.Equal(t, before, client.Dump(t.Context(), agentKitKey(key)).Val(), name)
	}
}

// TestUpstashList guards that a scan of a real server hands out every document and nothing else.
func TestUpstashList(t *testing.T) {
	t.Parallel()
	address := server.StartRedis(t, "appendonly no").Address
	client := redisClient(t, address)
	documents := openRest(t, startShim(t, address).URL)
	var want []string
	for i := range 300 {
		key := keyOf(string(rune('a' + i)))
		want = append(want, key)
		create(t, documents, key, []byte("x"))
		require.NoError(t, client.Set(t.Context(), "other:"+key, "x", 0).Err())
	}
	var got []string
	for cursor, more := "", true; more; more = cursor != "" {
		keys, next, err := documents.List(t.Context(), cursor, 7)
		require.NoError(t, err)
		require.LessOrEqual(t, len(keys), 7)
		got = append(got, keys...)
		cursor = next
	}
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, want, slices.Compact(got))
}
