package vercelblob_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/provider/vercelblob"
)

func TestErrorCodesAreTyped(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		status  int
		code    string
		message string
		want    error
		retried bool
	}{
		{"forbidden", 403, "forbidden", "", vercelblob.ErrUnauthorized, false},
		{"client token", 403, "client_token_not_allowed", "", vercelblob.ErrUnauthorized, false},
		{"expired token", 403, "forbidden", "Token expired", vercelblob.ErrUnauthorized, false},
		{"environment", 400, "bad_request", "OIDC is enabled for this project, but not for the preview environment.", vercelblob.ErrUnauthorized, false},
		{"suspended", 403, "store_suspended", "", vercelblob.ErrSuspended, false},
		{"no store", 404, "store_not_found", "", vercelblob.ErrStoreNotFound, false},
		{"file too large", 400, "bad_request", "the file length cannot be greater than 5", vercelblob.ErrTooLarge, false},
		{"bad request", 400, "bad_request", "contentType is not allowed", vercelblob.ErrRefused, false},
		{"not allowed", 405, "not_allowed", "", vercelblob.ErrRefused, false},
		{"unlisted code", 418, "teapot", "", vercelblob.ErrRefused, false},
		{"unlisted code of an unauthorized request", 401, "no_session", "", vercelblob.ErrUnauthorized, false},
		{"unlisted code of a rate limit", 429, "slow_down", "", vercelblob.ErrRateLimited, false},
		{"unlisted code of a large file", 413, "payload", "", vercelblob.ErrTooLarge, false},
		{"unlisted code of an absent endpoint", 404, "no_route", "", vercelblob.ErrRefused, false},
		{"unlisted code of a failure", 500, "new_error", "", vercelblob.ErrRefused, false},
		{"rate limited", 429, "rate_limited", "", vercelblob.ErrRateLimited, false},
		{"unavailable", 503, "service_unavailable", "", vercelblob.ErrUnavailable, true},
		{"internal", 500, "internal_server_error", "", vercelblob.ErrUnavailable, true},
		{"unknown", 500, "unknown_error", "", vercelblob.ErrUnavailable, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			etag := s.put(pathname(key), "old")
			b := newBackend(t, s)
			for range quick.Attempts {
				s.next("write", answers(test.status, test.code, test.message))
			}
			_, err := b.Write(t.Context(), key, []byte("new"), etag)
			require.ErrorIs(t, err, test.want)
			require.NotErrorIs(t, err, filememory.ErrConflict)
			var typed *vercelblob.Error
			require.ErrorAs(t, err, &typed)
			assert.Equal(t, test.status, typed.Status)
			assert.Equal(t, test.code, typed.Code)
			assert.Equal(t, test.status >= 500, errors.Is(err, filememory.ErrUnknownOutcome), "a definite refusal leaves no doubt")
			if test.retried {
				assert.Equal(t, quick.Attempts, s.count("write"))
			} else {
				assert.Equal(t, 1, s.count("write"))
			}
		})
	}
}

func TestRepliesWithoutACodeMeanWhatTheirStatusSays(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]error{
		401: vercelblob.ErrUnauthorized, 403: vercelblob.ErrUnauthorized, 413: vercelblob.ErrTooLarge, 429: vercelblob.ErrRateLimited,
		502: vercelblob.ErrUnavailable, 504: vercelblob.ErrUnavailable, 408: vercelblob.ErrUnavailable, 302: vercelblob.ErrBadReply, 204: vercelblob.ErrBadReply,
	} {
		s := newServer(t)
		for range quick.Attempts {
			s.next("read", says(status, "<html>gateway</html>"))
		}
		_, _, err := newBackend(t, s).Read(t.Context(), key)
		assert.ErrorIs(t, err, want, "status %d", status)
	}
}

// TestAGatewayThatKnowsNoSuchPathIsNoAbsentDocument guards against taking a wrong address for a store without the object: a delete that did
// nothing would be success.
func TestAGatewayThatKnowsNoSuchPathIsNoAbsentDocument(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"<html>not found</html>", `{"error":{"code":"no_route","message":""}}`} {
		s := newServer(t)
		etag := s.put(pathname(key), "x")
		b := newBackend(t, s)
		s.next("delete", says(http.StatusNotFound, body))
		require.ErrorIs(t, b.Delete(t.Context(), key, etag), vercelblob.ErrRefused)
		s.next("write", says(http.StatusNotFound, body))
		_, err := b.Write(t.Context(), key, []byte("new"), etag)
		require.ErrorIs(t, err, vercelblob.ErrRefused)
		require.NotErrorIs(t, err, filememory.ErrConflict)
		s.next("list", says(http.StatusNotFound, body))
		_, _, err = b.List(t.Context(), "", 1)
		require.ErrorIs(t, err, vercelblob.ErrRefused)
	}
}

func TestARefusedConditionIsAConflictWhateverItsCode(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusConflict, http.StatusPreconditionFailed} {
		s := newServer(t)
		etag := s.put(pathname(key), "x")
		s.next("write", answers(status, "new_code", ""))
		_, err := newBackend(t, s).Write(t.Context(), key, []byte("new"), etag)
		require.ErrorIs(t, err, filememory.ErrConflict, "%d", status)
	}
}

func TestARateLimitSaysHowLongToWait(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.next("read", func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		w.Header().Set("Retry-After", "17")
		fail(w, http.StatusTooManyRequests, "rate_limited", "slow down")
	})
	_, _, err := newBackend(t, s).Read(t.Context(), key)
	var typed *vercelblob.Error
	require.ErrorAs(t, err, &typed)
	require.ErrorIs(t, err, vercelblob.ErrRateLimited)
	assert.Equal(t, 17*time.Second, typed.RetryAfter)
	assert.Equal(t, 1, s.count("read"), "it is not tried again")
}

func TestRetriesEndInSuccess(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	b := newBackend(t, s)
	etag := s.put(pathname(key), "old")
	s.next("write", answers(503, "service_unavailable", ""), says(502, "bad gateway"))
	version, err := b.Write(t.Context(), key, []byte("x"), etag)
	require.NoError(t, err)
	s.next("read", hangsUp, answers(500, "internal_server_error", ""))
	_, read, err := b.Read(t.Context(), key)
	require.NoError(t, err)
	assert.Equal(t, version, read)
}

func TestALostReplyToAWriteThatHappenedIsSuccess(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(http.ResponseWriter, *http.Request, http.HandlerFunc){
		"no reply":       losesReply,
		"half a reply":   cutsReply,
		"not understood": thenSays(http.StatusOK, "OK"),
		"weak version":   thenSays(http.StatusOK, `{"etag":"W/\"1\""}`),
		"gateway error":  thenSays(http.StatusBadGateway, "bad gateway"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			b := newBackend(t, s)
			s.next("write", fault)
			created, err := b.Write(t.Context(), key, []byte("first"), "")
			require.NoError(t, err)
			assert.Equal(t, []string{"write", "read"}, s.requests(), "a create is read back and not repeated")
			s.next("write", fault)
			updated, err := b.Write(t.Context(), key, []byte("second"), created)
			require.NoError(t, err)

			content, version, err := b.Read(t.Context(), key)
			require.NoError(t, err)
			assert.Equal(t, "second", string(content))
			assert.Equal(t, updated, version)
		})
	}
}

// thenSays does the work and answers something else.
func thenSays(status int, body string) func(http.ResponseWriter, *http.Request, http.HandlerFunc) {
	return func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
		serve(discard{}, r)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// thenHangs does the work and answers nothing until the client gives up.
func thenHangs(_ http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
	serve(discard{}, r)
	<-r.Context().Done()
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

func TestAWriteThatSomebodyMayHaveReplacedIsUnknownAndNoConflict(t *testing.T) {
	t.Parallel()
	for name, expected := range map[string]string{"create": "", "update": "old"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			if expected != "" {
				expected = s.put(pathname(key), expected)
			}
			s.next("write", then(func() { s.put(pathname(key), "somebody else's") }))
			_, err := newBackend(t, s).Write(t.Context(), key, []byte("mine"), expected)
			require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
			require.NotErrorIs(t, err, filememory.ErrConflict)
		})
	}
}

// TestACreateInDoubtIsNotSentAgain guards against bringing back a document: each of these creates was carried out, and the document deleted
// since.
func TestACreateInDoubtIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for name, loses := range map[string]func(http.ResponseWriter, *http.Request, http.HandlerFunc){
		"no reply":         losesReply,
		"half a reply":     cutsReply,
		"not understood":   thenSays(http.StatusOK, "OK"),
		"gateway error":    thenSays(http.StatusBadGateway, "bad gateway"),
		"gateway timeout":  thenSays(http.StatusGatewayTimeout, ""),
		"request timeout":  thenSays(http.StatusRequestTimeout, ""),
		"unavailable":      thenSays(http.StatusServiceUnavailable, `{"error":{"code":"service_unavailable"}}`),
		"internal error":   thenSays(http.StatusInternalServerError, `{"error":{"code":"internal_server_error"}}`),
		"another success":  thenSays(http.StatusNoContent, ""),
		"no reply in time": thenHangs,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			b := newBackendWith(t, s, &http.Client{Transport: s.Client().Transport, Timeout: time.Second})
			_, _, err := b.Read(t.Context(), key)
			require.ErrorIs(t, err, fs.ErrNotExist, "there is a kept connection now, which net/http might take for one that was closed before")
			s.next("write", func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
				loses(w, r, func(w http.ResponseWriter, r *http.Request) {
					serve(w, r)
					s.remove(pathname(key))
				})
			})
			_, err = b.Write(t.Context(), key, []byte("forgotten since"), "")
			require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
			require.NotErrorIs(t, err, filememory.ErrConflict)
			assert.Equal(t, []string{"read", "write", "read"}, s.requests())
			_, stored := s.get(pathname(key))
			assert.False(t, stored, "it is back")
		})
	}
}

func TestACreateThatWasCertainlyNotCarriedOutIsSentAgain(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	refused := 0
	b := newBackendWith(t, s, &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if refused == 2 {
			return s.Client().Transport.RoundTrip(r)
		}
		refused++
		s.skipAttempt(r)
		r.Body.Close()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	})})
	version, err := b.Write(t.Context(), key, []byte("x"), "")
	require.NoError(t, err)
	_, read, err := b.Read(t.Context(), key)
	require.NoError(t, err)
	assert.Equal(t, version, read)
	assert.Equal(t, 2, refused)
}

// TestARepeatedUpdateDoesNotBringBackWhatWasDeleted: its condition does not hold any more.
func TestARepeatedUpdateDoesNotBringBackWhatWasDeleted(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	etag := s.put(pathname(key), "old")
	s.next("write", then(func() { s.remove(pathname(key)) }))
	_, err := newBackend(t, s).Write(t.Context(), key, []byte("forgotten since"), etag)
	require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
	require.NotErrorIs(t, err, filememory.ErrConflict)
	assert.Equal(t, 2, s.count("write"))
	_, stored := s.get(pathname(key))
	assert.False(t, stored, "it is back")
}

func TestAWriteWithoutAnAnswerIsUnknown(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	etag := s.put(pathname(key), "old")
	s.next("write", hangsUp, hangsUp, hangsUp)
	_, err := newBackend(t, s).Write(t.Context(), key, []byte("new"), etag)
	require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
	require.ErrorIs(t, err, vercelblob.ErrNoReply)
	assert.Equal(t, 3, s.count("write"))
	assert.Equal(t, 1, s.count("read"), "it reads what became of it")
}

func TestAWriteThatWasNeverSentIsNotUnknown(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	b := newBackend(t, s)
	s.Close()
	_, err := b.Write(t.Context(), key, []byte("x"), "")
	require.ErrorIs(t, err, vercelblob.ErrNoReply)
	require.NotErrorIs(t, err, filememory.ErrUnknownOutcome)
}

func TestARefusedCreateIsAConflictOnlyIfTheObjectIsThere(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		code   string
	}{"bad_request": {400, "bad_request"}, "conflict": {409, "conflict"}, "precondition": {412, "precondition_failed"}} {
		t.Run(name+" with the object", func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.existsStatus, s.existsCode = test.status, test.code
			s.put(pathname(key), "theirs")
			for _, content := range []string{"mine", "theirs"} {
				_, err := newBackend(t, s).Write(t.Context(), key, []byte(content), "")
				require.ErrorIs(t, err, filememory.ErrConflict)
				require.NotErrorIs(t, err, filememory.ErrUnknownOutcome)
			}
			assert.Equal(t, 2, s.count("write"))
		})
	}
	t.Run("without the object", func(t *testing.T) {
		t.Parallel()
		s := newServer(t)
		s.next("write", answers(400, "bad_request", "something else"))
		_, err := newBackend(t, s).Write(t.Context(), key, []byte("x"), "")
		require.ErrorIs(t, err, vercelblob.ErrRefused)
		require.NotErrorIs(t, err, filememory.ErrConflict)
		assert.Equal(t, 1, s.count("read"))
	})
	t.Run("and the read fails", func(t *testing.T) {
		t.Parallel()
		s := newServer(t)
		s.next("write", answers(400, "bad_request", "something else"))
		s.next("read", answers(403, "forbidden", ""))
		_, err := newBackend(t, s).Write(t.Context(), key, []byte("x"), "")
		require.ErrorIs(t, err, vercelblob.ErrRefused, "the original error stays")
		require.NotErrorIs(t, err, vercelblob.ErrUnauthorized)
	})
}

func TestALostReplyToADelete(t *testing.T) {
	t.Parallel()
	t.Run("that happened is success", func(t *testing.T) {
		t.Parallel()
		s := newServer(t)
		etag := s.put(pathname(key), "x")
		s.next("delete", losesReply)
		require.NoError(t, newBackend(t, s).Delete(t.Context(), key, etag))
	})
	t.Run("that happened, whose repetitions get none either, is success by the read", func(t *testing.T) {
		t.Parallel()
		s := newServer(t)
		etag := s.put(pathname(key), "x")
		s.next("delete", losesReply, hangsUp, hangsUp)
		require.NoError(t, newBackend(t, s).Delete(t.Context(), key, etag))
		assert.Equal(t, []string{"delete", "delete", "delete", "read"}, s.requests())
	})
	t.Run("and to the read after it is unknown", func(t *testing.T) {
		t.Parallel()
		s := newServer(t)
		etag := s.put(pathname(key), "x")
		s.next("delete", losesReply, hangsUp, hangsUp)
		s.next("read", hangsUp, hangsUp, hangsUp)
		require.ErrorIs(t, newBackend(t, s).Delete(t.Context(), key, etag), filememory.ErrUnknownOutcome)
	})
	t.Run("that may have been followed by a create is unknown", func(t *testing.T) {
		t.Parallel()
		s := newServer(t)
		etag := s.put(pathname(key), "x")
		s.next("delete", then(func() { s.put(pathname(key), "again") }))
		err := newBackend(t, s).Delete(t.Context(), key, etag)
		require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
		require.NotErrorIs(t, err, filememory.ErrConflict)
	})
	t.Run("that did not happen is tried again", func(t *testing.T) {
		t.Parallel()
		s := newServer(t)
		etag := s.put(pathname(key), "x")
		s.next("delete", hangsUp)
		require.NoError(t, newBackend(t, s).Delete(t.Context(), key, etag))
		_, stored := s.get(pathname(key))
		assert.False(t, stored)
	})
}

func TestADeleteOfAnObjectThatTheServiceDoesNotFindIsSuccess(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.next("delete", answers(http.StatusNotFound, "not_found", ""))
	require.NoError(t, newBackend(t, s).Delete(t.Context(), key, `"any"`))
}

// TestARefusedDeleteWhoseObjectCannotBeReadIsNeitherDoneNorAConflict guards the read that tells an absent document from another version.
func TestARefusedDeleteWhoseObjectCannotBeReadIsNeitherDoneNorAConflict(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.put(pathname(key), "x")
	s.next("read", answers(http.StatusForbidden, "forbidden", ""))
	err := newBackend(t, s).Delete(t.Context(), key, `"another"`)
	require.ErrorIs(t, err, vercelblob.ErrUnauthorized)
	require.NotErrorIs(t, err, filememory.ErrConflict)
	require.NotErrorIs(t, err, filememory.ErrUnknownOutcome)
}

func TestACancelledCallReturnsAtOnce(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"read", "write", "delete", "list"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			etag := s.put(pathname(key), "x")
			b := newBackend(t, s)
			ctx, cancel := context.WithCancel(t.Context())
			s.next(operation, func(_ http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
				io.Copy(io.Discard, r.Body)
				cancel()
				<-r.Context().Done() // the client hung up
			})
			var err error
			switch operation {
			case "read":
				_, _, err = b.Read(ctx, key)
			case "write":
				_, err = b.Write(ctx, key, []byte("new"), etag)
			case "delete":
				err = b.Delete(ctx, key, etag)
			case "list":
				_, _, err = b.List(ctx, "", 10)
			}
			require.ErrorIs(t, err, context.Canceled)
			isChange := operation == "write" || operation == "delete"
			assert.Equal(t, isChange, errors.Is(err, filememory.ErrUnknownOutcome))
			assert.Equal(t, []string{operation}, s.requests(), "nothing is sent afterwards")

			_, _, err = b.Read(ctx, key)
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}

func TestARequestThatTakesTooLongIsNoCancellation(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	options := s.options()
	options.Timeout = 20 * time.Millisecond
	options.Retry.Attempts = 1
	credentials, err := vercelblob.ReadWriteToken(token)
	require.NoError(t, err)
	b, err := vercelblob.New(credentials, options)
	require.NoError(t, err)
	s.next("read", func(_ http.ResponseWriter, r *http.Request, _ http.HandlerFunc) { <-r.Context().Done() })
	_, _, err = b.Read(t.Context(), key)
	require.ErrorIs(t, err, vercelblob.ErrNoReply)
	require.NotErrorIs(t, err, context.DeadlineExceeded, "the caller's context did not end")
}
