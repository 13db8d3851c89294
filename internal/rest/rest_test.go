package rest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/rest"
)

func serve(t *testing.T, handler http.HandlerFunc) (*rest.Client, string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return rest.NewClient(server.Client(), time.Second, 100), server.URL
}

func TestARequestAsksForIdentityAndSaysWhoSendsIt(t *testing.T) {
	t.Parallel()
	client, url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Header.Get("Accept-Encoding"), " ", strings.HasPrefix(r.UserAgent(), "recollect-go "), " ", r.ContentLength)
	})
	for body, length := range map[string]string{"": "0", "four": "4"} {
		reply, err := client.Do(t.Context(), &rest.Request{Method: http.MethodPost, URL: url, Body: []byte(body)})
		require.NoError(t, err)
		assert.Equal(t, "identity true "+length, string(reply.Body))
	}
}

func TestAReplyIsBounded(t *testing.T) {
	t.Parallel()
	size := 0
	client, url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, size)) })
	size = 100
	_, err := client.Do(t.Context(), &rest.Request{Method: http.MethodGet, URL: url})
	require.NoError(t, err)
	size = 101
	_, err = client.Do(t.Context(), &rest.Request{Method: http.MethodGet, URL: url})
	require.ErrorIs(t, err, rest.ErrTooLarge)
}

func TestAnErrorDoesNotQuoteTheAddress(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	client := rest.NewClient(nil, 0, 100)
	_, err = client.Do(t.Context(), &rest.Request{Method: http.MethodGet, URL: "http://" + listener.Addr().String() + "/secret-path"})
	var transport *rest.TransportError
	require.ErrorAs(t, err, &transport)
	assert.True(t, transport.NotSent, "nothing was listening")
	assert.NotContains(t, err.Error(), "secret-path")

	_, err = client.Do(t.Context(), &rest.Request{Method: http.MethodGet, URL: "http://secret host/"})
	require.ErrorIs(t, err, rest.ErrBadURL)
	assert.NotContains(t, err.Error(), "secret")
}

func TestARequestThatCannotBeMadeIsInNoDoubt(t *testing.T) {
	t.Parallel()
	client := rest.NewClient(nil, 0, 100)
	for _, bad := range []*rest.Request{{Method: http.MethodPut, URL: "http://a b/"}, {Method: "no method", URL: "http://a"}} {
		_, err := client.Do(t.Context(), bad)
		require.ErrorIs(t, err, rest.ErrRefused)
		assert.False(t, rest.InDoubt(err), "it was never sent")
	}
}

func TestARequestWithAnEndedContextIsNotSent(t *testing.T) {
	t.Parallel()
	client, url := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := client.Do(ctx, &rest.Request{Method: http.MethodPut, URL: url})
	require.ErrorIs(t, err, context.Canceled)
	assert.False(t, rest.InDoubt(err))
}

func TestAnErrorQuotesNothingOfAReply(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]string{
		"no HTTP":      "a memory\r\n\r\n",
		"bad header":   "HTTP/1.1 200 OK\r\na memory\r\n\r\n",
		"bad length":   "HTTP/1.1 200 OK\r\nContent-Length: a memory\r\n\r\n",
		"bad location": "HTTP/1.1 307 x\r\nLocation: http://[a memory\r\nContent-Length: 0\r\n\r\n",
		"bad status":   "HTTP/1.1 a memory\r\n\r\n",
	} {
		client, url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if assert.NoError(t, err) {
				io.WriteString(conn, reply)
				conn.Close()
			}
		})
		_, err := client.Do(t.Context(), &rest.Request{Method: http.MethodGet, URL: url})
		var transport *rest.TransportError
		require.ErrorAs(t, err, &transport, name)
		require.ErrorIs(t, err, rest.ErrNoReply, name)
		assert.False(t, transport.NotSent, name)
		assert.NotContains(t, err.Error(), "memory", name)
	}
}

func TestAnErrorSaysWhyThereIsNoConnection(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	client := rest.NewClient(nil, 0, 100)
	_, err := client.Do(t.Context(), &rest.Request{Method: http.MethodGet, URL: server.URL})
	require.ErrorContains(t, err, "certificate")
	client, url := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	_, err = client.Do(t.Context(), &rest.Request{Method: http.MethodGet, URL: url})
	require.ErrorIs(t, err, io.EOF)
	require.ErrorContains(t, err, "EOF")
	broken := errors.New("a memory")
	client = rest.NewClient(&http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) { return nil, broken })}, 0, 100)
	_, err = client.Do(t.Context(), &rest.Request{Method: http.MethodGet, URL: url})
	require.ErrorIs(t, err, broken, "the host knows its transport")
	assert.NotContains(t, err.Error(), "memory")
}

func TestTheTimeoutOfAnExchangeIsNoContextError(t *testing.T) {
	t.Parallel()
	hang := func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }
	synctest.Test(t, func(t *testing.T) {
		client := rest.NewClient(&http.Client{Transport: roundTripper(hang)}, time.Minute, 100)
		_, err := client.Do(t.Context(), &rest.Request{Method: http.MethodGet, URL: "http://x"})
		require.ErrorIs(t, err, rest.ErrNoReply)
		require.NotErrorIs(t, err, context.DeadlineExceeded)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = client.Do(ctx, &rest.Request{Method: http.MethodGet, URL: "http://x"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, rest.ErrNoReply)
	})
	client := rest.NewClient(&http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
		return nil, context.Canceled // of the transport, not of the caller
	})}, time.Minute, 100)
	_, err := client.Do(t.Context(), &rest.Request{Method: http.MethodGet, URL: "http://x"})
	require.ErrorIs(t, err, rest.ErrNoReply)
	require.NotErrorIs(t, err, context.Canceled)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRetryHonoursTheVerdict(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	synctest.Test(t, func(t *testing.T) {
		retry, err := rest.Retry{Attempts: 5, FirstDelay: time.Second, MaxDelay: 3 * time.Second}.Normalize()
		require.NoError(t, err)
		for name, test := range map[string]struct {
			verdict  rest.Verdict
			attempts int
			least    time.Duration
			most     time.Duration
		}{
			"never again":              {rest.Verdict{}, 1, 0, 0},
			"again":                    {rest.Verdict{Again: true}, 5, 6750 * time.Millisecond, 9 * time.Second}, // 1 + 2 + 3 + 3
			"again, but later":         {rest.Verdict{Again: true, After: 3 * time.Second}, 5, 12 * time.Second, 12 * time.Second},
			"again, but much too late": {rest.Verdict{Again: true, After: time.Hour}, 1, 0, 0},
		} {
			begin, attempts := time.Now(), 0
			err := retry.Do(t.Context(), func(n int) (rest.Verdict, error) {
				assert.Equal(t, attempts, n)
				attempts++
				return test.verdict, broken
			})
			require.ErrorIs(t, err, broken, name)
			assert.Equal(t, test.attempts, attempts, name)
			assert.GreaterOrEqual(t, time.Since(begin), test.least, name)
			assert.LessOrEqual(t, time.Since(begin), test.most, name)
		}
	})
}

func TestNegativeRetriesAreRefused(t *testing.T) {
	t.Parallel()
	_, err := rest.Retry{Attempts: -1, FirstDelay: -1}.Normalize()
	require.ErrorContains(t, err, "attempts")
	require.ErrorContains(t, err, "delay")
}

func TestRetryAfterIsSecondsMillisecondsOrADate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"3": 3 * time.Second, "0.5": 500 * time.Millisecond, "0": 0, "-1": 0, "": 0, "soon": 0, "NaN": 0, "1e300": 30 * 24 * time.Hour,
		"Fri, 02 Jan 2026 03:04:15 GMT": 10 * time.Second, "Fri, 02 Jan 2026 03:04:00 GMT": 0,
	} {
		assert.Equal(t, want, rest.RetryAfter(http.Header{"Retry-After": {value}}, now), "%q", value)
	}
	assert.Equal(t, 250*time.Millisecond, rest.RetryAfter(http.Header{"Retry-After": {"3"}, "Retry-After-Ms": {"250"}}, now))
}

func TestDecodeRefusesWhatItWouldAlter(t *testing.T) {
	t.Parallel()
	var v struct{ Text string }
	require.NoError(t, rest.Decode([]byte(`{"text":"a","new":1}`), &v))
	for _, bad := range []string{"", "{", `{"text":1}`, `{"text":"a"} x`, "{\"text\":\"\xff\"}", `[]`, `{"text":"\ud800"}`, `{"text":"\udc00\ud800"}`} {
		err := rest.Decode([]byte(bad), &v)
		require.ErrorIs(t, err, rest.ErrBadReply, "%q", bad)
	}
	assert.NotContains(t, rest.Decode([]byte(`{"text":"secret`), &v).Error(), "secret")
}

func TestEncodeDoesNotEscapeForHTML(t *testing.T) {
	t.Parallel()
	text, err := rest.Encode(map[string]string{"a": "<&>"})
	require.NoError(t, err)
	assert.Equal(t, `{"a":"<&>"}`, string(text))
	_, err = rest.Encode(func() {})
	require.Error(t, err)
}

func TestEncodeRefusesWhatItWouldAlter(t *testing.T) {
	t.Parallel()
	for _, bad := range []any{"\xff", []string{"caf\xe9"}, map[string]int{"\xed\xa0\x80": 1}} {
		_, err := rest.Encode(bad)
		require.ErrorIs(t, err, rest.ErrNotUTF8, "%q", bad)
	}
	text, err := rest.Encode("\ufffd \\ufffd \\\ufffd")
	require.NoError(t, err)
	assert.Equal(t, `"`+"\ufffd"+` \\ufffd \\`+"\ufffd\"", string(text))
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{"https://a.example/b/": "https://a.example/b", "http://127.0.0.1:1": "http://127.0.0.1:1"} {
		got, err := rest.BaseURL(address)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, bad := range []string{"", "a.example", "ftp://a", "https://", "https://u:secret@a", "https://a?secret", "https://a#secret", "https://a b", "https://a/?", "https://a/#", "https://:443", "https://a\n"} {
		_, err := rest.BaseURL(bad)
		require.Error(t, err, "%q", bad)
		assert.NotContains(t, err.Error(), "secret")
	}
}

func TestAnErrorShowsNumbersAndCodesOnly(t *testing.T) {
	t.Parallel()
	err := &rest.Error{Service: "svc", Operation: "read", Status: 429, Code: rest.Code("rate_limited"), RetryAfter: time.Second, RequestID: "r", Err: rest.ErrRateLimited}
	assert.Equal(t, "svc: read: too many requests (status 429, code rate_limited, retry after 1s, request r)", err.Error())
	assert.Empty(t, rest.Code("some prose"))
	assert.Empty(t, rest.Code("sk12345"))
	assert.Empty(t, rest.Code(strings.Repeat("a", 41)), "a key may be letters alone")
	assert.Equal(t, "svc: list: no reply", (&rest.Error{Service: "svc", Operation: "list", Err: rest.ErrNoReply}).Error())
}
