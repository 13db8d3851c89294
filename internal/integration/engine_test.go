package integration_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"testing"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/integration/worker"
	"github.com/recollect-go/recollect/internal/leak"
	"github.com/stretchr/testify/require"
)

// engine is one storage engine under test.
type engine struct {
	// open returns n stores on one fresh, empty storage; each stands for a process: a connection pool or a worker of its own.
	open func(t *testing.T, n int) []docstore.Store

	// again opens one more store on the storage of a store that open returned. Nil where a store has only one opening.
	again func(t *testing.T, store docstore.Store) docstore.Store

	// loseReply makes the next write of a store that open returned lose its reply, after or before it is applied. Nil where
	// no reply can be lost.
	loseReply func(t *testing.T, store docstore.Store, applied bool)

	// disturb is open with connections that are cut, or processes that are killed, while the stores work. Nil where an
	// engine has neither.
	disturb func(t *testing.T) *disturbance
}

// disturbance is a storage whose clients are in trouble.
type disturbance struct {
	stores []docstore.Store // lose their connection or their process again and again
	calm   docstore.Store   // on the same storage, loses nothing
	stop   func()           // ends the trouble
	count  func() int       // cuts or kills so far
}

// exercise runs everything that every engine has to stand.
func exercise(t *testing.T, e engine) {
	t.Run("document backend", func(t *testing.T) { testBackend(t, e) })
	t.Run("checkpoint store", func(t *testing.T) { testCheckpoints(t, e) })
	t.Run("contents", func(t *testing.T) { testContents(t, e) })
	t.Run("linearizable", func(t *testing.T) { testLinearizable(t, e) })
	if e.disturb != nil {
		t.Run("disturbed", func(t *testing.T) { testDisturbed(t, e) })
	}
}

func (e engine) openOne(t *testing.T) docstore.Store { return e.open(t, 1)[0] }

// workers maps the first word of a worker's description to the function that opens its store.
var workers = map[string]func(argument string) (docstore.Store, error){}

func TestMain(m *testing.M) {
	if description := os.Getenv(worker.Variable); description != "" {
		if err := serveWorker(description); err != nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
			os.Exit(1)
		}
		return
	}
	leak.Main(m)
}

func serveWorker(description string) error {
	var name, argument string
	if _, err := fmt.Sscanf(description, "%s %s", &name, &argument); err != nil {
		return fmt.Errorf("description %q: %w", description, err)
	}
	open, ok := workers[name]
	if !ok {
		return fmt.Errorf("no engine %q", name)
	}
	store, err := open(argument)
	if err != nil {
		return err
	}
	return worker.Serve(store, os.Stdin, os.Stdout)
}

// keyOf returns a document key that name determines.
func keyOf(name string) string {
	digest := sha256.Sum256([]byte(name))
	return "memscope1_" + base64.RawURLEncoding.EncodeToString(digest[:])
}

func create(t testing.TB, store docstore.Store, key string, content []byte) (version string) {
	t.Helper()
	version, err := store.Write(context.Background(), key, content, "")
	require.NoError(t, err)
	require.NotEmpty(t, version)
	return version
}

func requireContent(t testing.TB, store docstore.Store, key string, want []byte) (version string) {
	t.Helper()
	content, version, err := store.Read(context.Background(), key)
	require.NoError(t, err)
	require.True(t, string(want) == string(content), "read %d bytes that are not the %d bytes written", len(content), len(want))
	return version
}
