package upstash_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/internal/leak"
	"github.com/recollect-go/recollect/internal/rest/resttest"
	"github.com/recollect-go/recollect/provider/upstash"
	"github.com/recollect-go/recollect/state"
)

func TestMain(m *testing.M) { leak.Main(m) }

var key = "memscope1_" + strings.Repeat("aB3_-", 8) + "xyz"

func stored(key string) string { return "agentkit:memoryFile:" + key }

func (s *server) client(t testing.TB, transport http.RoundTripper) *upstash.Client {
	t.Helper()
	if transport == nil {
		transport = s.Client().Transport
	}
	secret, err := upstash.Token(token)
	require.NoError(t, err)
	client, err := upstash.NewClient(s.URL, secret, &upstash.Options{HTTPClient: &http.Client{Transport: transport}, Retry: quick})
	require.NoError(t, err)
	return client
}

func (s *server) documents(t testing.TB) *upstash.Documents {
	t.Helper()
	documents, err := upstash.NewDocuments(s.client(t, nil), nil)
	require.NoError(t, err)
	return documents
}

func TestADocumentHasTheLayoutOfAgentKit(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := s.documents(t)
	version, err := d.Write(t.Context(), key, []byte("a \"document\"\n<&>\u2028\x00"), "")
	require.NoError(t, err)
	assert.Regexp(t, `^r[A-Z2-7]{26}$`, version, "a JSON client must not take it for a number")
	assert.Equal(t, map[string]string{"content": "eve-memory-document-v1:a \"document\"\n<&>\u2028\x00", "version": version}, s.get(stored(key)))

	for _, content := range []string{"eve-memory-document-v1:theirs", "theirs"} {
		s.set(stored(key), map[string]string{"content": content, "version": "rm5k3x9z1-1f-a8k2m0qz"})
		read, version, err := d.Read(t.Context(), key)
		require.NoError(t, err)
		assert.Equal(t, "theirs", string(read))
		_, err = d.Write(t.Context(), key, []byte("ours"), version)
		require.NoError(t, err)
	}
}

func TestRequestsOfDocuments(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	recorder := &resttest.Recorder{Next: s.Client().Transport}
	d, err := upstash.NewDocuments(s.client(t, recorder), &upstash.DocumentsOptions{TTL: time.Hour})
	require.NoError(t, err)
	_, _, err = d.Read(t.Context(), key)
	require.ErrorIs(t, err, fs.ErrNotExist)
	version, err := d.Write(t.Context(), key, []byte("<a>\n\u2028"), "")
	require.NoError(t, err)
	assert.Equal(t, 3600, s.ttl[stored(key)])
	_, _, err = d.Read(t.Context(), key)
	require.NoError(t, err)
	_, _, err = d.List(t.Context(), "", 10)
	require.NoError(t, err)
	require.NoError(t, d.Delete(t.Context(), key, version))
	resttest.Golden(t, "documents.http", recorder.Requests(), token, "<token>", version, "<version>")
}

func TestConditions(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := s.documents(t)
	_, err := d.Write(t.Context(), key, []byte("x"), "rabsent")
	require.ErrorIs(t, err, filememory.ErrConflict)
	first, err := d.Write(t.Context(), key, []byte("first"), "")
	require.NoError(t, err)
	second, err := d.Write(t.Context(), key, []byte("second"), first)
	require.NoError(t, err)
	for _, wrong := range []string{"", first, "\xff"} {
		var conflict *filememory.ConflictError
		_, err = d.Write(t.Context(), key, []byte("third"), wrong)
		require.ErrorAs(t, err, &conflict)
		require.ErrorAs(t, d.Delete(t.Context(), key, wrong), &conflict)
		assert.Equal(t, second, conflict.Actual)
	}
	require.NoError(t, d.Delete(t.Context(), key, second))
	require.NoError(t, d.Delete(t.Context(), key, second))
	_, _, err = d.Read(t.Context(), key)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestInvalidCallsSendNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := s.documents(t)
	for _, bad := range []string{"", "memscope1_short", key + ":x"} {
		_, _, err := d.Read(t.Context(), bad)
		require.ErrorIs(t, err, filememory.ErrInvalidKey)
		_, err = d.Write(t.Context(), bad, []byte("x"), "")
		require.ErrorIs(t, err, filememory.ErrInvalidKey)
		require.ErrorIs(t, d.Delete(t.Context(), bad, ""), filememory.ErrInvalidKey)
	}
	_, err := d.Write(t.Context(), key, []byte("\xff"), "")
	require.ErrorIs(t, err, upstash.ErrNotUTF8)
	for _, bad := range []string{"x", "!!", "e30", "eyJ2IjoyfQ"} {
		_, _, err = d.List(t.Context(), bad, 1)
		require.ErrorIs(t, err, upstash.ErrCursor, "%q", bad)
	}
	_, _, err = d.List(t.Context(), "", 0)
	require.Error(t, err)
	assert.Empty(t, s.log)
}

func TestAKeyOfAnotherShapeIsNamedAndLeftAlone(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{
		"a string":                 "text",
		"a value of another type":  []byte("json"),
		"without the fields":       map[string]string{"other": "x"},
		"without the fields cont":  map[string]string{"version": "r1"},
		"without the fields vers":  map[string]string{"content": "x"},
		"without the fields empty": map[string]string{"content": "x", "version": ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.set(stored(key), value)
			d := s.documents(t)
			_, _, err := d.Read(t.Context(), key)
			require.ErrorIs(t, err, upstash.ErrShape)
			require.ErrorIs(t, err, state.ErrShape, "a sweep goes on past it")
			require.ErrorContains(t, err, strings.Join(strings.Fields(name)[:2], " "))
			for _, expected := range []string{"", "r1"} {
				_, err = d.Write(t.Context(), key, []byte("x"), expected)
				require.ErrorIs(t, err, upstash.ErrShape)
				require.ErrorIs(t, d.Delete(t.Context(), key, expected), upstash.ErrShape)
			}
			assert.Equal(t, value, s.get(stored(key)))
		})
	}
}

func TestALostAnswerToAChangeThatHappenedIsSuccess(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(http.ResponseWriter, func() []byte){
		"no reply":       losesReply,
		"not understood": thenSays(200, "<html>"),
		"plain text":     thenSays(200, `{"result":["done"]}`),
		"no result":      thenSays(200, `{}`),
		"gateway error":  thenSays(502, "bad gateway"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			d := s.documents(t)
			s.next("EVAL", fault)
			version, err := d.Write(t.Context(), key, []byte("first"), "")
			require.NoError(t, err)
			s.next("EVAL", fault)
			version, err = d.Write(t.Context(), key, []byte("second"), version)
			require.NoError(t, err)
			content, read, err := d.Read(t.Context(), key)
			require.NoError(t, err)
			assert.Equal(t, version, read)
			assert.Equal(t, "second", string(content))
			s.next("EVAL", fault)
			require.NoError(t, d.Delete(t.Context(), key, version))
		})
	}
}

// TestACreateInDoubtIsNotSentAgain guards against bringing back a document: each of these creates was carried out, and the document deleted
// since.
func TestACreateInDoubtIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for name, loses := range map[string]func(http.ResponseWriter, func() []byte){
		"no reply":        losesReply,
		"not understood":  thenSays(200, "<html>"),
		"no result":       thenSays(200, `{}`),
		"another success": thenSays(204, ""),
		"gateway error":   thenSays(502, "bad gateway"),
		"gateway timeout": thenSays(504, ""),
		"request timeout": thenSays(408, ""),
		"unavailable":     thenSays(503, `{"error":"LOADING"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			d := s.documents(t)
			_, _, err := d.Read(t.Context(), key)
			require.ErrorIs(t, err, fs.ErrNotExist, "there is a kept connection now, which net/http might take for one that was closed before")
			s.next("EVAL", func(w http.ResponseWriter, serve func() []byte) {
				loses(w, func() []byte { defer s.remove(stored(key)); return serve() })
			})
			_, err = d.Write(t.Context(), key, []byte("forgotten since"), "")
			require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
			require.NotErrorIs(t, err, filememory.ErrConflict)
			assert.Equal(t, 1, s.count("EVAL"))
			assert.Equal(t, 2, s.count("HGETALL"), "it reads what became of it")
			assert.Empty(t, s.keys(), "it is back")
		})
	}
}

func TestACreateThatWasCertainlyNotCarriedOutIsSentAgain(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	refused := false
	d, err := upstash.NewDocuments(s.client(t, roundTripper(func(r *http.Request) (*http.Response, error) {
		if refused {
			return s.Client().Transport.RoundTrip(r)
		}
		refused = true
		r.Body.Close()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	})), nil)
	require.NoError(t, err)
	s.next("EVAL", answers(400, "LOADING"))
	version, err := d.Write(t.Context(), key, []byte("x"), "")
	require.NoError(t, err)
	_, read, err := d.Read(t.Context(), key)
	require.NoError(t, err)
	assert.Equal(t, version, read)
	assert.Equal(t, 2, s.count("EVAL"))
}

// TestARepeatedUpdateDoesNotBringBackWhatWasDeleted: its condition does not hold any more, and never will, since no version is used twice.
func TestARepeatedUpdateDoesNotBringBackWhatWasDeleted(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.set(stored(key), map[string]string{"content": "old", "version": "r1"})
	s.next("EVAL", then(func() { s.remove(stored(key)) }))
	_, err := s.documents(t).Write(t.Context(), key, []byte("forgotten since"), "r1")
	require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
	require.NotErrorIs(t, err, filememory.ErrConflict)
	assert.Equal(t, 2, s.count("EVAL"))
	assert.Empty(t, s.keys(), "it is back")
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAChangeThatMayHaveHappenedIsUnknownAndNoConflict(t *testing.T) {
	t.Parallel()
	replaced := map[string]string{"content": "theirs", "version": "rtheirs"}
	t.Run("replaced since", func(t *testing.T) {
		t.Parallel()
		s := newServer(t)
		s.next("EVAL", then(func() { s.set(stored(key), replaced) }))
		_, err := s.documents(t).Write(t.Context(), key, []byte("mine"), "")
		require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
		require.NotErrorIs(t, err, filememory.ErrConflict)
		s.next("EVAL", then(func() { s.set(stored(key), map[string]string{"content": "theirs", "version": "rothers"}) }))
		err = s.documents(t).Delete(t.Context(), key, "rtheirs")
		require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
		require.NotErrorIs(t, err, filememory.ErrConflict)
	})
	t.Run("never answered", func(t *testing.T) {
		t.Parallel()
		s := newServer(t)
		s.set(stored(key), replaced)
		s.next("EVAL", hangsUp, hangsUp, hangsUp)
		_, err := s.documents(t).Write(t.Context(), key, []byte("mine"), "rtheirs")
		require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
		require.ErrorIs(t, err, upstash.ErrNoReply)
		assert.Equal(t, 3, s.count("EVAL"))
		assert.Equal(t, 1, s.count("HGETALL"))
	})
	t.Run("never sent", func(t *testing.T) {
		t.Parallel()
		s := newServer(t)
		d := s.documents(t)
		s.Close()
		_, err := d.Write(t.Context(), key, []byte("mine"), "")
		require.ErrorIs(t, err, upstash.ErrNoReply)
		require.NotErrorIs(t, err, filememory.ErrUnknownOutcome)
	})
	t.Run("unknown word", func(t *testing.T) {
		t.Parallel()
		s := newServer(t)
		s.next("EVAL", says(200, `{"result":["d2hhdA=="]}`))
		_, err := s.documents(t).Write(t.Context(), key, []byte("mine"), "")
		require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
	})
}

func TestAForeignHashIsNotTakenForADeletedDocument(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := s.documents(t)
	foreign := map[string]string{"content": "no version"}
	s.set(stored(key), foreign)
	s.next("EVAL", losesReply, losesReply, losesReply)
	require.ErrorIs(t, d.Delete(t.Context(), key, "r1"), filememory.ErrUnknownOutcome)
	require.ErrorIs(t, d.Delete(t.Context(), key, "r1"), upstash.ErrShape)
	assert.Equal(t, foreign, s.get(stored(key)))
}

func TestErrorsAreTyped(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status  int
		text    string
		want    error
		code    string
		retried bool
	}{
		{401, "Unauthorized", upstash.ErrUnauthorized, "", false},
		{400, "NOPERM this user has no permissions", upstash.ErrUnauthorized, "NOPERM", false},
		{400, "ERR max requests limit exceeded. Limit: 500000", upstash.ErrRateLimited, "ERR", false},
		{429, "Too Many Requests", upstash.ErrRateLimited, "", false},
		{400, "ERR max request size exceeded", upstash.ErrTooLarge, "ERR", false},
		{413, "", upstash.ErrTooLarge, "", false},
		{400, "OOM command not allowed", upstash.ErrRefused, "OOM", false},
		{400, "ERR whatever", upstash.ErrRefused, "ERR", false},
		{400, "LOADING", upstash.ErrUnavailable, "LOADING", true},
		{503, "", upstash.ErrUnavailable, "", true},
		{302, "", upstash.ErrBadReply, "", false},
	} {
		s := newServer(t)
		s.set(stored(key), map[string]string{"content": "old", "version": "r1"})
		for range quick.Attempts {
			s.next("EVAL", answers(test.status, test.text))
		}
		_, err := s.documents(t).Write(t.Context(), key, []byte("x"), "r1")
		require.ErrorIs(t, err, test.want, "%d %s", test.status, test.text)
		var typed *upstash.Error
		require.ErrorAs(t, err, &typed)
		assert.Equal(t, test.code, typed.Code)
		assert.Equal(t, test.status, typed.Status)
		assert.Equal(t, test.status >= 500, errors.Is(err, filememory.ErrUnknownOutcome), "%d %s", test.status, test.text)
		want := 1
		if test.retried {
			want = quick.Attempts
		}
		assert.Equal(t, want, s.count("EVAL"), "%d %s", test.status, test.text)
	}
}

func TestAProcessReadsItsOwnWrites(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := s.documents(t)
	_, err := d.Write(t.Context(), key, []byte("x"), "")
	require.NoError(t, err)
	_, _, err = d.Read(t.Context(), key)
	require.NoError(t, err)
	assert.Equal(t, []string{"", "1"}, s.syncs, "the token of the answer before goes with the next request")
}

func TestACancelledCallReturnsAtOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := s.documents(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	s.next("EVAL", func(http.ResponseWriter, func() []byte) {
		cancel()
		select {
		case <-done:
		case <-time.After(time.Second):
		}
	})
	_, err := d.Write(ctx, key, []byte("x"), "")
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
	_, _, err = d.Read(ctx, key)
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, s.count("HGETALL"))
}

func TestTheWaitBetweenAttemptsEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		secret, err := upstash.Token(token)
		require.NoError(t, err)
		handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fail(w, 503, "") })
		client, err := upstash.NewClient("https://x.upstash.io", secret, &upstash.Options{HTTPClient: &http.Client{Transport: resttest.InMemory{Handler: handler}}})
		require.NoError(t, err)
		d, err := upstash.NewDocuments(client, nil)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		begin := time.Now()
		_, _, err = d.Read(ctx, key)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, upstash.ErrUnavailable)
		assert.Equal(t, time.Second, time.Since(begin))
	})
}

func TestTheServiceSaysHowLongToWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		secret, err := upstash.Token(token)
		require.NoError(t, err)
		var times []time.Time
		handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			times = append(times, time.Now())
			w.Header().Set("Retry-After", []string{"5", "60"}[len(times)-1])
			fail(w, 503, "")
		})
		client, err := upstash.NewClient("https://x.upstash.io", secret, &upstash.Options{HTTPClient: &http.Client{Transport: resttest.InMemory{Handler: handler}}})
		require.NoError(t, err)
		d, err := upstash.NewDocuments(client, nil)
		require.NoError(t, err)
		_, _, err = d.Read(t.Context(), key)
		var typed *upstash.Error
		require.ErrorAs(t, err, &typed)
		assert.Equal(t, time.Minute, typed.RetryAfter)
		require.Len(t, times, 2, "a longer wait than MaxDelay is the caller's")
		assert.Equal(t, 5*time.Second, times[1].Sub(times[0]))
	})
}

func TestAScanThatIsNoneIsAnError(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := s.documents(t)
	zero := b64("0")
	for _, result := range []string{"null", "[]", `["` + zero + `"]`, `["` + zero + `",null]`, `[null,[]]`, `["` + zero + `",[null]]`,
		`["` + zero + `",["` + b64("other:"+key) + `"]]`, `["` + zero + `",["` + b64(key) + `"]]`, `["` + b64("x") + `",[]]`} {
		s.next("SCAN", says(200, `{"result":`+result+`}`))
		_, _, err := d.List(t.Context(), "", 1)
		require.ErrorIs(t, err, upstash.ErrBadReply, "%s", result)
	}
}

// TestAReadIsOneCommand guards against putting together what was there at different times: a document that comes and goes in between would look
// like a key of another shape.
func TestAReadIsOneCommand(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := s.documents(t)
	_, _, err := d.Read(t.Context(), key)
	require.ErrorIs(t, err, fs.ErrNotExist)
	s.set(stored(key), map[string]string{"version": "r1", "other": "x", "content": "x"})
	content, version, err := d.Read(t.Context(), key)
	require.NoError(t, err)
	assert.Equal(t, "x r1", string(content)+" "+version)
	assert.Len(t, s.log, 2)
}

func TestAHashThatIsNoneIsAnError(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := s.documents(t)
	name, value := b64("content"), b64("x")
	for _, result := range []string{"null", `["` + name + `"]`, `["` + name + `",null]`, `[null,"` + value + `"]`, `["` + name + `",1]`, "{}", `"` + name + `"`} {
		s.next("HGETALL", says(200, `{"result":`+result+`}`))
		_, _, err := d.Read(t.Context(), key)
		require.ErrorIs(t, err, upstash.ErrBadReply, "%s", result)
	}
}

func TestListHandsOutEveryKeyOfThePrefix(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := s.documents(t)
	var want []string
	for i := range 25 {
		k := fmt.Sprintf("memscope1_%043d", i)
		want = append(want, k)
		s.set(stored(k), map[string]string{"content": "x", "version": "r"})
		s.set(fmt.Sprintf("other:%d", i), "x")
	}
	s.set("agentkit:memoryFile:not a key", "x")
	var got []string
	for cursor, more := "", true; more; more = cursor != "" {
		keys, next, err := d.List(t.Context(), cursor, 3)
		require.NoError(t, err)
		require.LessOrEqual(t, len(keys), 3)
		got = append(got, keys...)
		cursor = next
	}
	slices.Sort(got)
	assert.Equal(t, want, slices.Compact(got))
}

func TestOfConcurrentWritersOneWins(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := s.documents(t)
	var wg sync.WaitGroup
	won := make(chan string, 8)
	for i := range 8 {
		wg.Go(func() {
			version, err := d.Write(t.Context(), key, fmt.Appendf(nil, "%d", i), "")
			if err == nil {
				won <- version
				return
			}
			assert.ErrorIs(t, err, filememory.ErrConflict)
		})
	}
	wg.Wait()
	assert.Len(t, won, 1)
}

func TestConstructorsListEveryProblem(t *testing.T) {
	t.Parallel()
	_, err := upstash.NewClient("https://user:pass@x", nil, &upstash.Options{Timeout: -1, Retry: upstash.Retry{Attempts: -1}})
	for _, part := range []string{"address", "token", "limit", "attempts"} {
		assert.ErrorContains(t, err, part)
	}
	assert.NotContains(t, err.Error(), "pass@")
	_, err = upstash.NewDocuments(nil, &upstash.DocumentsOptions{Prefix: "\xff", TTL: time.Millisecond})
	for _, part := range []string{"client", "UTF-8", "TTL"} {
		assert.ErrorContains(t, err, part)
	}
	_, err = upstash.Token("a b")
	require.Error(t, err)
}

func TestTheEnvironmentNamesTheDatabase(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	env := map[string]string{}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	_, err := upstash.ClientFromEnvironment(lookup, nil)
	for _, name := range []string{"UPSTASH_REDIS_REST_URL", "KV_REST_API_URL", "UPSTASH_REDIS_REST_TOKEN", "KV_REST_API_TOKEN"} {
		require.ErrorContains(t, err, name)
	}
	for _, names := range [][2]string{{"KV_REST_API_URL", "KV_REST_API_TOKEN"}, {"UPSTASH_REDIS_REST_URL", "UPSTASH_REDIS_REST_TOKEN"}} {
		env = map[string]string{"KV_REST_API_URL": "https://other", "KV_REST_API_TOKEN": "other"}
		env[names[0]], env[names[1]] = " "+s.URL+" ", token+"\n"
		client, err := upstash.ClientFromEnvironment(lookup, &upstash.Options{HTTPClient: s.Client()})
		require.NoError(t, err)
		d, err := upstash.NewDocuments(client, nil)
		require.NoError(t, err)
		_, _, err = d.Read(t.Context(), key)
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
}

func TestNoTokenAndNoTextIsPrinted(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	client := s.client(t, nil)
	d := s.documents(t)
	var printed bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&printed, nil))
	for _, v := range []any{client, d, *d} {
		fmt.Fprintf(&printed, "%v %+v %#v\n", v, v, v)
	}
	for _, status := range []int{400, 401, 429, 500} {
		for range quick.Attempts {
			s.next("EVAL", answers(status, "ERR your token "+token+" with args beginning with: a memory"))
		}
		_, err := d.Write(t.Context(), key, []byte("a memory"), "")
		require.Error(t, err)
		fmt.Fprintf(&printed, "%v %+v %#v\n", err, err, err)
		log.Error("x", "error", err)
	}
	s.Close()
	_, err := d.Write(t.Context(), key, []byte("a memory"), "")
	fmt.Fprintf(&printed, "%v %+v %#v\n", err, err, err)
	assert.NotContains(t, printed.String(), token)
	assert.NotContains(t, printed.String(), "a memory")
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { elsewhere <- r.Header.Get("Authorization") }))
	t.Cleanup(other.Close)
	s := newServer(t)
	s.next("EVAL", func(w http.ResponseWriter, _ func() []byte) {
		w.Header().Set("Location", other.URL)
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	_, err := s.documents(t).Write(t.Context(), key, []byte("x"), "")
	require.ErrorIs(t, err, upstash.ErrBadReply)
	assert.Empty(t, elsewhere)
}

func TestTheTokenIsAskedForBeforeEveryRequest(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	asked := 0
	broken := errors.New("the vault is closed")
	secret := upstash.SecretFunc(func(context.Context) (string, error) {
		if asked++; asked > 2 {
			return "", broken
		}
		return token, nil
	})
	client, err := upstash.NewClient(s.URL, secret, &upstash.Options{HTTPClient: s.Client(), Retry: quick})
	require.NoError(t, err)
	d, err := upstash.NewDocuments(client, nil)
	require.NoError(t, err)
	for range 2 {
		_, _, err = d.Read(t.Context(), key)
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	_, err = d.Write(t.Context(), key, []byte("x"), "")
	require.ErrorIs(t, err, broken)
	require.NotErrorIs(t, err, filememory.ErrUnknownOutcome, "nothing was sent")
	assert.Len(t, s.log, 2)
}

func TestAKeyWhoseTypeCannotBeAskedForIsAnErrorOfTheService(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.set(stored(key), "text")
	d := s.documents(t)
	s.next("TYPE", answers(400, "NOPERM"))
	_, _, err := d.Read(t.Context(), key)
	require.ErrorIs(t, err, upstash.ErrUnauthorized)
	s.next("TYPE", says(200, `{"result":null}`))
	_, _, err = d.Read(t.Context(), key)
	require.ErrorIs(t, err, upstash.ErrBadReply)
}

// TestTheWordOKMayComeAsItIs: the service never encodes it, whatever it stands for.
func TestTheWordOKMayComeAsItIs(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.next("HGETALL", says(200, `{"result":["`+b64("content")+`","OK","`+b64("version")+`","`+b64("r1")+`"]}`))
	content, version, err := s.documents(t).Read(t.Context(), key)
	require.NoError(t, err)
	assert.Equal(t, "OK r1", string(content)+" "+version)
}
