package integration_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/integration/server"
	"github.com/recollect-go/recollect/provider/redisstore"
)

// shortOf returns a client whose replies the thief can steal; it repeats a command up to retries times.
func shortOf(t *testing.T, address string, thief *replyThief, retries int) *redis.Client {
	client := closed(t, redis.NewClient(&redis.Options{
		Addr: address, Dialer: thief.dial, MaxRetries: retries, PoolSize: 1, MinRetryBackoff: -1, MaxRetryBackoff: -1,
	}))
	require.NoError(t, client.Ping(t.Context()).Err())
	return client
}

const neverRepeats = -1

// TestRedisRepeatedWriteIsAppliedOnce guards that a client that sends a write again after a lost reply finds that it has
// happened.
func TestRedisRepeatedWriteIsAppliedOnce(t *testing.T) {
	t.Parallel()
	address := server.StartRedis(t).Address
	thief := &replyThief{}
	store := openRedis(t, shortOf(t, address, thief, 3))
	key := keyOf("repeated")
	version := create(t, store, key, []byte("a")) // the script is known from now on

	thief.steal(2)
	version, err := store.Write(t.Context(), key, []byte("b"), version)
	require.NoError(t, err)
	require.Equal(t, version, requireContent(t, openRedis(t, redisClient(t, address)), key, []byte("b")))
}

// TestRedisLostReplyIsReadBack guards that a client that never repeats a command still learns that its write and delete
// happened.
func TestRedisLostReplyIsReadBack(t *testing.T) {
	t.Parallel()
	address := server.StartRedis(t).Address
	thief := &replyThief{}
	store := openRedis(t, shortOf(t, address, thief, neverRepeats))
	key := keyOf("read back")
	version := create(t, store, key, []byte("a"))

	thief.steal(1)
	version, err := store.Write(t.Context(), key, []byte("b"), version)
	require.NoError(t, err)
	require.Equal(t, version, requireContent(t, store, key, []byte("b")))

	require.NoError(t, deleteOnce(t, store, version)) // its script is known from now on
	thief.steal(1)
	require.NoError(t, store.Delete(t.Context(), key, version))
	_, _, err = store.Read(t.Context(), key)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func deleteOnce(t *testing.T, store docstore.Store, version string) error {
	return store.Delete(t.Context(), keyOf("never there"), version)
}

// TestRedisOverwrittenWriteIsUnknown guards that a write that happened, whose reply was lost, and that another client
// then replaced, is no conflict, which would say that it never happened; with and without repetition.
func TestRedisOverwrittenWriteIsUnknown(t *testing.T) {
	t.Parallel()
	for name, retries := range map[string]int{"repeated": 3, "not repeated": neverRepeats} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := server.StartRedis(t).Address
			other := openRedis(t, redisClient(t, address))
			thief := &replyThief{}
			store := openRedis(t, shortOf(t, address, thief, retries))
			key := keyOf("overwritten")
			version := create(t, store, key, []byte("a"))

			thief.after = func() {
				_, ours, err := other.Read(context.Background(), key)
				if err == nil && ours != version {
					_, err = other.Write(context.Background(), key, []byte("c"), ours)
				}
				if err != nil {
					t.Error(err)
				}
			}
			thief.steal(1)
			_, err := store.Write(t.Context(), key, []byte("b"), version)
			require.ErrorIs(t, err, docstore.ErrUnknownOutcome)
			require.NotErrorIs(t, err, docstore.ErrConflict)
			requireContent(t, other, key, []byte("c"))
		})
	}
}

// TestRedisRecreatedAfterDeleteIsUnknown guards the same for a delete after which another client created the document anew.
func TestRedisRecreatedAfterDeleteIsUnknown(t *testing.T) {
	t.Parallel()
	address := server.StartRedis(t).Address
	other := openRedis(t, redisClient(t, address))
	thief := &replyThief{}
	store := openRedis(t, shortOf(t, address, thief, 3))
	key := keyOf("recreated")
	version := create(t, store, key, []byte("a"))
	require.NoError(t, deleteOnce(t, store, version))

	thief.after = func() {
		if _, err := other.Write(context.Background(), key, []byte("c"), ""); err != nil {
			t.Error(err)
		}
	}
	thief.steal(1)
	err := store.Delete(t.Context(), key, version)
	require.ErrorIs(t, err, docstore.ErrUnknownOutcome)
	require.NotErrorIs(t, err, docstore.ErrConflict)
	requireContent(t, other, key, []byte("c"))
}

// TestRedisForeignHashIsNotTakenForADeletedDocument guards a delete of a key that holds no document, when the reply that says
// so is lost: the hash is still there, so nothing may say that it is gone.
func TestRedisForeignHashIsNotTakenForADeletedDocument(t *testing.T) {
	t.Parallel()
	address := server.StartRedis(t).Address
	thief := &replyThief{}
	store := openRedis(t, shortOf(t, address, thief, neverRepeats))
	require.NoError(t, deleteOnce(t, store, "v"))
	key := keyOf("foreign hash")
	require.NoError(t, redisClient(t, address).HSet(t.Context(), agentKitKey(key), "content", "no version").Err())

	thief.steal(1)
	require.ErrorIs(t, store.Delete(t.Context(), key, "v"), docstore.ErrUnknownOutcome)
	require.ErrorIs(t, store.Delete(t.Context(), key, "v"), docstore.ErrShape)
}

// TestRedisCreateIsNotRepeated guards that a document which was created, whose reply was lost, and that another client then
// deleted, does not come back: the repeated create would find its condition met.
func TestRedisCreateIsNotRepeated(t *testing.T) {
	t.Parallel()
	address := server.StartRedis(t).Address
	other := openRedis(t, redisClient(t, address))
	thief := &replyThief{}
	store := openRedis(t, shortOf(t, address, thief, 3))
	key := keyOf("deleted meanwhile")
	create(t, store, keyOf("its script is known"), nil)

	thief.after = func() {
		_, ours, err := other.Read(context.Background(), key)
		if err == nil {
			err = other.Delete(context.Background(), key, ours)
		}
		if err != nil {
			t.Error(err)
		}
	}
	thief.steal(1)
	_, err := store.Write(t.Context(), key, []byte("erased"), "")
	require.ErrorIs(t, err, docstore.ErrUnknownOutcome)
	require.NotErrorIs(t, err, docstore.ErrConflict)
	_, _, err = other.Read(t.Context(), key)
	require.ErrorIs(t, err, fs.ErrNotExist, "what was erased is back")
}

// TestRedisLostReplyToACreateIsReadBack guards that a create which is not repeated still learns that it happened.
func TestRedisLostReplyToACreateIsReadBack(t *testing.T) {
	t.Parallel()
	address := server.StartRedis(t).Address
	thief := &replyThief{}
	store := openRedis(t, shortOf(t, address, thief, 3))
	key := keyOf("created once")
	create(t, store, keyOf("its script is known"), nil)
	thief.steal(1)
	version := create(t, store, key, []byte("a"))
	require.Equal(t, version, requireContent(t, store, key, []byte("a")))
}

// TestRedisUnreachableServerIsNoUnknownOutcome guards that a write that was never sent is a plain failure.
func TestRedisUnreachableServerIsNoUnknownOutcome(t *testing.T) {
	t.Parallel()
	refuses := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
	client := closed(t, redis.NewClient(&redis.Options{
		Addr: "nowhere.invalid:1", Dialer: refuses, DialerRetries: 1, MinRetryBackoff: -1, MaxRetryBackoff: -1,
	}))
	store := openRedis(t, client)
	_, err := store.Write(t.Context(), keyOf("unsent"), []byte("a"), "")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.NotErrorIs(t, err, docstore.ErrUnknownOutcome)
	require.NotErrorIs(t, store.Delete(t.Context(), keyOf("unsent"), "v"), docstore.ErrUnknownOutcome)
}

// TestRedisRefusalIsNoUnknownOutcome guards that the server's refusal is definite: nothing was written.
func TestRedisRefusalIsNoUnknownOutcome(t *testing.T) {
	t.Parallel()
	address := server.StartRedis(t).Address
	admin := redisClient(t, address)
	require.NoError(t, admin.Do(t.Context(), "acl", "setuser", "reader", "on", ">secret", "~*", "+@all", "-hset").Err())
	store := openRedis(t, closed(t, redis.NewClient(&redis.Options{Addr: address, Username: "reader", Password: "secret"})))
	_, err := store.Write(t.Context(), keyOf("refused"), []byte("a"), "")
	require.Error(t, err)
	require.NotErrorIs(t, err, docstore.ErrUnknownOutcome)
	require.NotErrorIs(t, err, docstore.ErrConflict)
	require.NotContains(t, err.Error(), "secret")
	require.Zero(t, admin.DBSize(t.Context()).Val())
}

// TestRedisRefusesBeforeItWrites guards that a user who may write but not change the time to live is refused before anything
// is written: a script that fails half-way would be taken for one that did nothing.
func TestRedisRefusesBeforeItWrites(t *testing.T) {
	t.Parallel()
	address := server.StartRedis(t).Address
	admin := redisClient(t, address)
	require.NoError(t, admin.Do(t.Context(), "acl", "setuser", "writer", "on", ">secret", "~*", "+@all", "-persist", "-expire").Err())
	client := closed(t, redis.NewClient(&redis.Options{Addr: address, Username: "writer", Password: "secret"}))
	for name, ttl := range map[string]time.Duration{"persist": 0, "expire": time.Hour} {
		store, err := redisstore.New(client, &redisstore.Options{TTL: ttl})
		require.NoError(t, err)
		_, err = store.Write(t.Context(), keyOf(name), []byte("a"), "")
		require.ErrorContains(t, err, "NOPERM")
		require.NotErrorIs(t, err, docstore.ErrUnknownOutcome)
		require.NotErrorIs(t, err, docstore.ErrConflict)
		require.Zero(t, admin.DBSize(t.Context()).Val(), "it was written")
	}
}

// TestRedisForgottenScriptsAreSentAgain guards a server that was restarted or whose scripts were flushed.
func TestRedisForgottenScriptsAreSentAgain(t *testing.T) {
	t.Parallel()
	client := redisClient(t, server.StartRedis(t).Address)
	store := openRedis(t, client)
	key := keyOf("forgotten")
	version := create(t, store, key, []byte("a"))
	require.NoError(t, client.ScriptFlush(t.Context()).Err())
	version, err := store.Write(t.Context(), key, []byte("b"), version)
	require.NoError(t, err)
	require.NoError(t, client.ScriptFlush(t.Context()).Err())
	require.NoError(t, store.Delete(t.Context(), key, version))
}

// TestRedisEndedContextReturnsPromptly guards calls that a paused server keeps waiting: they return with the context, a
// write with an unknown outcome, and the pool is full afterwards.
func TestRedisEndedContextReturnsPromptly(t *testing.T) {
	t.Parallel()
	address := server.StartRedis(t).Address
	admin := redisClient(t, address)
	client := closed(t, redis.NewClient(&redis.Options{Addr: address, PoolSize: 4}))
	store := openRedis(t, client)
	key := keyOf("prompt")
	version := create(t, store, key, []byte("a"))
	require.NoError(t, deleteOnce(t, store, version))

	calls := map[string]func(context.Context) error{
		"read":   func(ctx context.Context) error { _, _, err := store.Read(ctx, key); return err },
		"write":  func(ctx context.Context) error { _, err := store.Write(ctx, key, []byte("b"), version); return err },
		"delete": func(ctx context.Context) error { return store.Delete(ctx, key, "another") },
		"list":   func(ctx context.Context) error { _, _, err := store.List(ctx, "", 10); return err },
	}
	for name, call := range calls {
		requirePoolFull(t, client) // a connection that is yet to be made would keep the call from being sent
		require.NoError(t, admin.Do(t.Context(), "client", "pause", "600", "all").Err())
		for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
			waited, err := interrupted(end, call)
			require.ErrorIs(t, err, end, name)
			require.Less(t, waited, 400*time.Millisecond, name)
			require.Equal(t, name == "write" || name == "delete", errors.Is(err, docstore.ErrUnknownOutcome), name)
			require.NotErrorIs(t, err, docstore.ErrConflict, name)
		}
		require.NoError(t, admin.Do(t.Context(), "client", "unpause").Err())
		idle := func() bool { stats := client.PoolStats(); return stats.IdleConns == stats.TotalConns }
		require.Eventually(t, idle, 5*time.Second, time.Millisecond, "a connection was lost to the call")
	}
	requirePoolFull(t, client)
}

// interrupted makes a call whose context ends with end while the call waits, and returns how long the call went on after
// that.
func interrupted(end error, call func(context.Context) error) (time.Duration, error) {
	const wait = 50 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	if errors.Is(end, context.DeadlineExceeded) {
		cancel()
		ctx, cancel = context.WithTimeout(context.Background(), wait)
	} else {
		time.AfterFunc(wait, cancel)
	}
	defer cancel()
	begun := time.Now()
	err := call(ctx)
	return time.Since(begun) - wait, err
}

// TestRedisEndedContextSendsNothing guards that a call with an ended context is no unknown outcome and reaches no server,
// nor does one that waits for a connection of an exhausted pool.
func TestRedisEndedContextSendsNothing(t *testing.T) {
	t.Parallel()
	address := server.StartRedis(t).Address
	client := closed(t, redis.NewClient(&redis.Options{Addr: address, PoolSize: 1}))
	store := openRedis(t, client)
	key := keyOf("unsent")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := store.Write(ended, key, []byte("a"), "")
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, docstore.ErrUnknownOutcome)

	borrowed := client.Conn()
	require.NoError(t, borrowed.Ping(t.Context()).Err())
	waiting, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = store.Write(waiting, key, []byte("a"), "")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, docstore.ErrUnknownOutcome)
	require.NoError(t, borrowed.Close())

	_, _, err = store.Read(t.Context(), key)
	require.ErrorIs(t, err, fs.ErrNotExist)
	requirePoolFull(t, client)
}

// TestRedisKilledServerKeepsAcknowledgedWrites guards the durability that the package documents for appendfsync always:
// the server is killed again and again while clients write, and each key holds the last write that was acknowledged, or a
// later one of unknown outcome.
func TestRedisKilledServerKeepsAcknowledgedWrites(t *testing.T) {
	t.Parallel()
	kills := 10
	if testing.Short() {
		kills = 3
	}
	running := server.StartRedis(t)
	client := redisClient(t, running.Address)
	writers := make([]*survivor, 8)
	for i := range writers {
		writers[i] = &survivor{store: openRedis(t, client), key: keyOf(string(rune('a' + i)))}
	}
	for range kills {
		stop := make(chan struct{})
		done := make(chan error, len(writers))
		for _, w := range writers {
			go func() { done <- w.write(stop) }()
		}
		time.Sleep(100 * time.Millisecond) // real work on a real server: nothing to wait for but time
		running.Restart(t)
		close(stop)
		for range writers {
			require.NoError(t, <-done)
		}
	}
	for _, w := range writers {
		require.NoError(t, w.check())
		require.NotZero(t, w.acknowledged)
	}
}
