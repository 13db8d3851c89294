package vercelblob_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/leak"
	"github.com/recollect-go/recollect/provider/vercelblob"
)

func TestMain(m *testing.M) { leak.Main(m) }

var key = "memscope1_" + strings.Repeat("aB3_-", 8) + "xyz"

func pathname(key string) string { return "eve/memory/file/" + key + "/MEMORY.md" }

// quick retries without making a test wait.
var quick = vercelblob.Retry{Attempts: 3, FirstDelay: time.Millisecond, MaxDelay: 2 * time.Millisecond}

func (s *server) options() *vercelblob.Options {
	return &vercelblob.Options{
		APIURL:     s.URL + "/api/blob",
		ObjectURL:  s.URL + "/objects",
		HTTPClient: s.Client(),
		Retry:      quick,
	}
}

func newBackend(t *testing.T, s *server) *vercelblob.Backend {
	t.Helper()
	return newBackendWith(t, s, s.Client())
}

func newBackendWith(t *testing.T, s *server, client *http.Client) *vercelblob.Backend {
	t.Helper()
	credentials, err := vercelblob.ReadWriteToken(token)
	require.NoError(t, err)
	options := s.options()
	options.HTTPClient = client
	backend, err := vercelblob.New(credentials, options)
	require.NoError(t, err)
	return backend
}
