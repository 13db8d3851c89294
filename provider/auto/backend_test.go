package auto_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/internal/leak"
	"github.com/recollect-go/recollect/provider/auto"
	"github.com/recollect-go/recollect/provider/vercelblob"
)

func TestMain(m *testing.M) { leak.Main(m) }

const (
	memoryToken  = "vercel_blob_rw_memoryStore_secret"
	projectToken = "vercel_blob_rw_projectStore_secret"
)

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, ok := env[name]; return value, ok }
}

// development is a backend that can be recognized.
type development struct{ filememory.Backend }

// sent is what a chosen backend sends for a read.
type sent struct{ store, authorization string }

// probe builds a backend from env whose requests are recorded instead of sent.
func probe(t *testing.T, env map[string]string, dev filememory.Backend) (filememory.Backend, *sent, error) {
	t.Helper()
	var last sent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last = sent{r.Header.Get("X-Vercel-Blob-Store-Id"), r.Header.Get("Authorization")}
		fmt.Fprint(w, `{"blobs":[],"hasMore":false}`)
	}))
	t.Cleanup(server.Close)
	backend, err := auto.Backend(&auto.Options{
		Lookup: lookup(env), Development: dev,
		Blob: &vercelblob.Options{APIURL: server.URL, HTTPClient: server.Client()},
	})
	return backend, &last, err
}

func TestTheFirstCredentialThatIsNotBlankIsUsed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		env  map[string]string
		want sent
	}{
		"memory store": {
			map[string]string{"EVE_MEMORY_BLOB_STORE_ID": "store_memoryOIDC", "EVE_MEMORY_BLOB_READ_WRITE_TOKEN": memoryToken,
				"BLOB_STORE_ID": "projectOIDC", "BLOB_READ_WRITE_TOKEN": projectToken},
			sent{"memoryOIDC", "Bearer jwt"},
		},
		"memory token": {
			map[string]string{"EVE_MEMORY_BLOB_STORE_ID": " ", "EVE_MEMORY_BLOB_READ_WRITE_TOKEN": " " + memoryToken + "\n",
				"BLOB_STORE_ID": "projectOIDC", "BLOB_READ_WRITE_TOKEN": projectToken},
			sent{"memoryStore", "Bearer " + memoryToken},
		},
		"project store": {
			map[string]string{"EVE_MEMORY_BLOB_READ_WRITE_TOKEN": "\ufeff", "BLOB_STORE_ID": "projectOIDC", "BLOB_READ_WRITE_TOKEN": projectToken},
			sent{"projectOIDC", "Bearer jwt"},
		},
		"project token": {
			map[string]string{"BLOB_READ_WRITE_TOKEN": projectToken},
			sent{"projectStore", "Bearer " + projectToken},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.env["VERCEL"] = "1"
			test.env["VERCEL_OIDC_TOKEN"] = "jwt"
			backend, last, err := probe(t, test.env, development{})
			require.NoError(t, err)
			_, _, err = backend.(filememory.Lister).List(t.Context(), "", 1)
			require.NoError(t, err)
			assert.Equal(t, test.want, *last)
		})
	}
}

func TestTheOIDCTokenIsLookedUpForEveryRequest(t *testing.T) {
	t.Parallel()
	env := map[string]string{"VERCEL": "1", "BLOB_STORE_ID": "abc", "VERCEL_OIDC_TOKEN": "first"}
	backend, last, err := probe(t, env, nil)
	require.NoError(t, err)
	list := func(ctx context.Context) {
		_, _, err = backend.(filememory.Lister).List(ctx, "", 1)
		require.NoError(t, err)
	}
	list(t.Context())
	assert.Equal(t, "Bearer first", last.authorization)
	env["VERCEL_OIDC_TOKEN"] = "second"
	list(t.Context())
	assert.Equal(t, "Bearer second", last.authorization)
	list(vercelblob.WithOIDCToken(t.Context(), "of-request"))
	assert.Equal(t, "Bearer of-request", last.authorization)
}

func TestVercelWithoutAStoreIsAnErrorThatNamesWhatToSet(t *testing.T) {
	t.Parallel()
	_, _, err := probe(t, map[string]string{"VERCEL": "1", "BLOB_STORE_ID": "\t", "EVE_DEV": "1"}, development{})
	require.ErrorIs(t, err, auto.ErrNoBlobStore, "development mode does not hide it")
	for _, name := range []string{"EVE_MEMORY_BLOB_STORE_ID", "EVE_MEMORY_BLOB_READ_WRITE_TOKEN", "BLOB_STORE_ID", "BLOB_READ_WRITE_TOKEN"} {
		assert.ErrorContains(t, err, name)
	}
}

func TestAMalformedCredentialIsAnErrorThatNamesItsVariable(t *testing.T) {
	t.Parallel()
	for variable, value := range map[string]string{
		"EVE_MEMORY_BLOB_STORE_ID": "a.b", "EVE_MEMORY_BLOB_READ_WRITE_TOKEN": "hunter2", "BLOB_STORE_ID": "store_", "BLOB_READ_WRITE_TOKEN": "hunter2",
	} {
		_, _, err := probe(t, map[string]string{"VERCEL": "1", variable: value}, nil)
		require.ErrorContains(t, err, variable)
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

func TestAnInvalidBlobOptionIsAnErrorAtOnce(t *testing.T) {
	t.Parallel()
	_, err := auto.Backend(&auto.Options{
		Lookup: lookup(map[string]string{"VERCEL": "1", "BLOB_READ_WRITE_TOKEN": projectToken}),
		Blob:   &vercelblob.Options{Prefix: "/"},
	})
	require.ErrorContains(t, err, "prefix")
}

func TestDevelopmentIsSaidAndNotInferred(t *testing.T) {
	t.Parallel()
	backend, _, err := probe(t, map[string]string{"VERCEL": " "}, development{})
	require.NoError(t, err)
	assert.IsType(t, development{}, backend, "a blank VERCEL is not Vercel")

	_, _, err = probe(t, map[string]string{"EVE_DEV": "1", "NODE_ENV": "development"}, nil)
	require.ErrorIs(t, err, auto.ErrNoBackend)
}

func TestABlobTokenOutsideVercelSelectsNothing(t *testing.T) {
	t.Parallel()
	env := map[string]string{"BLOB_READ_WRITE_TOKEN": projectToken, "BLOB_STORE_ID": "abc", "EVE_MEMORY_BLOB_READ_WRITE_TOKEN": memoryToken}
	_, _, err := probe(t, env, nil)
	require.ErrorIs(t, err, auto.ErrNoBackend)
	backend, _, err := probe(t, env, development{})
	require.NoError(t, err)
	assert.IsType(t, development{}, backend)
}

func TestNilOptionsMeanTheEnvironmentOfTheProcess(t *testing.T) {
	t.Setenv("VERCEL", "1")
	t.Setenv("EVE_MEMORY_BLOB_STORE_ID", "")
	t.Setenv("EVE_MEMORY_BLOB_READ_WRITE_TOKEN", memoryToken)
	backend, err := auto.Backend(nil)
	require.NoError(t, err)
	assert.IsType(t, &vercelblob.Backend{}, backend)
}
