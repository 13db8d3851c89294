package vercelblob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/provider/vercelblob"
)

func TestTokensAreAskedForEveryRequestAndNotKept(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	asked := 0
	credentials, err := vercelblob.OIDC("store_"+storeID, vercelblob.TokensFunc(func(context.Context) (string, error) {
		asked++
		fresh := fmt.Sprintf("oidc-%d", asked)
		s.mu.Lock()
		s.tokens = []string{fresh} // any earlier one has expired
		s.mu.Unlock()
		return fresh, nil
	}))
	require.NoError(t, err)
	b, err := vercelblob.New(credentials, s.options())
	require.NoError(t, err)

	etag := s.put(pathname(key), "old")
	s.next("write", answers(503, "service_unavailable", ""))
	_, err = b.Write(t.Context(), key, []byte("x"), etag)
	require.NoError(t, err)
	_, _, err = b.Read(t.Context(), key)
	require.NoError(t, err)
	assert.Equal(t, 3, asked, "also for the second attempt of a call")
}

func TestTheTokenOfTheRequestGoesBeforeThatOfTheEnvironment(t *testing.T) {
	t.Parallel()
	env := map[string]string{}
	tokens := vercelblob.VercelTokens(func(name string) (string, bool) { v, ok := env[name]; return v, ok })

	_, err := tokens.Token(t.Context())
	require.ErrorContains(t, err, "VERCEL_OIDC_TOKEN")
	env["VERCEL_OIDC_TOKEN"] = " \u00a0"
	_, err = tokens.Token(vercelblob.WithOIDCToken(t.Context(), "  "))
	require.Error(t, err, "blank is none")

	env["VERCEL_OIDC_TOKEN"] = " from-environment\n"
	token, err := tokens.Token(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "from-environment", token)

	token, err = tokens.Token(vercelblob.WithOIDCToken(t.Context(), "from-request"))
	require.NoError(t, err)
	assert.Equal(t, "from-request", token)
}

func TestMissingCredentialsAreUnauthorized(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	credentials, err := vercelblob.OIDC(storeID, nil)
	require.NoError(t, err)
	b, err := vercelblob.New(credentials, s.options())
	require.NoError(t, err)
	_, _, err = b.Read(t.Context(), key)
	require.ErrorIs(t, err, vercelblob.ErrUnauthorized)
	assert.Empty(t, s.requests())

	ctx, cancel := context.WithCancel(t.Context())
	failing := vercelblob.CredentialsFunc(func(context.Context) (vercelblob.Credential, error) {
		cancel()
		return vercelblob.Credential{}, errors.New("interrupted")
	})
	b, err = vercelblob.New(failing, s.options())
	require.NoError(t, err)
	_, _, err = b.Read(ctx, key)
	require.ErrorIs(t, err, context.Canceled, "a cancelled call stays one")
}

func TestMalformedCredentialsAreRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "token", "vercel_blob_rw__x", "vercel_blob_rw_abc_", "vercel_blob_client_abc_def", "vercel_blob_rw_a.evil_x",
		"vercel_blob_rw_abc_x\ny", "vercel_blob_rw_abc_x y", "vercel_blob_rw_abc_ü"} {
		_, err := vercelblob.ReadWriteToken(bad)
		require.Error(t, err, "%q", bad)
		if len(bad) > 10 {
			assert.NotContains(t, err.Error(), bad)
		}
	}
	for _, bad := range []string{"", "store_", "a.b", "a/b", "a@b", strings.Repeat("a", 64)} {
		_, err := vercelblob.OIDC(bad, nil)
		require.Error(t, err, "%q", bad)
	}
	s := newServer(t)
	for _, bad := range []vercelblob.Credential{{Token: "x"}, {StoreID: "abc"}, {Token: "a\r\nb", StoreID: "abc"}, {Token: "x", StoreID: "abc.evil.example"}} {
		b, err := vercelblob.New(vercelblob.CredentialsFunc(func(context.Context) (vercelblob.Credential, error) { return bad, nil }), s.options())
		require.NoError(t, err)
		_, _, err = b.Read(t.Context(), key)
		require.ErrorIs(t, err, vercelblob.ErrUnauthorized)
	}
	assert.Empty(t, s.requests())
}

func TestNoCredentialIsPrinted(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	secret := token[strings.LastIndex(token, "_")+1:]
	credentials, err := vercelblob.ReadWriteToken(token)
	require.NoError(t, err)
	credential, err := credentials.Credential(t.Context())
	require.NoError(t, err)
	b, err := vercelblob.New(credentials, s.options())
	require.NoError(t, err)

	var printed bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&printed, nil))
	for _, v := range []any{credentials, credential, &credential, b, *b} {
		fmt.Fprintf(&printed, "%v %+v %#v %s\n", v, v, v, v)
	}
	log.Info("x", "credential", credential, "request", struct{ Credential vercelblob.Credential }{credential})
	fail := func(err error) {
		require.Error(t, err)
		fmt.Fprintf(&printed, "%v %+v %#v\n", err, err, err)
		var typed *vercelblob.Error
		if errors.As(err, &typed) {
			fmt.Fprintf(&printed, "%+v\n", *typed)
		}
		log.Error("x", "error", err)
	}
	echo := "your token " + token + " is refused"
	for _, status := range []int{400, 403, 429, 500} {
		for range quick.Attempts {
			s.next("read", answers(status, "forbidden "+token, echo))
			s.next("write", answers(status, token, echo))
		}
		_, _, err = b.Read(t.Context(), key)
		fail(err)
		_, err = b.Write(t.Context(), key, []byte("x"), "")
		fail(err)
	}
	s.Close()
	_, _, err = b.Read(t.Context(), key)
	fail(err)
	assert.NotContains(t, printed.String(), secret)
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		elsewhere <- r.Header.Get("Authorization")
	}))
	t.Cleanup(other.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := newServer(t)
		redirect := func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
			http.Redirect(w, r, other.URL+"/x", status)
		}
		s.next("read", redirect)
		s.next("write", redirect)
		b := newBackend(t, s)
		_, _, err := b.Read(t.Context(), key)
		require.Error(t, err)
		_, err = b.Write(t.Context(), key, []byte("x"), "")
		require.Error(t, err)
	}
	assert.Empty(t, elsewhere)
}
