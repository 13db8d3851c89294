package integration_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/integration/server"
	"github.com/recollect-go/recollect/provider/redisstore"
)

// listed returns every key of a listing in pages of limit, sorted and each once.
func listed(t *testing.T, store docstore.Lister, limit int) []string {
	t.Helper()
	var all []string
	for cursor := ""; ; {
		keys, next, err := store.List(t.Context(), cursor, limit)
		require.NoError(t, err)
		require.LessOrEqual(t, len(keys), limit)
		all = append(all, keys...)
		if cursor = next; cursor == "" {
			slices.Sort(all)
			return slices.Compact(all)
		}
	}
}

// fill creates n documents and returns their keys, sorted.
func fill(t testing.TB, store docstore.Store, n int) []string {
	t.Helper()
	keys := make([]string, n)
	for i := range keys {
		keys[i] = keyOf(fmt.Sprint("listed ", i))
		create(t, store, keys[i], nil)
	}
	slices.Sort(keys)
	return keys
}

// TestRedisListFindsEveryKey guards that pages of any size together hold every document of the prefix, and nothing else.
func TestRedisListFindsEveryKey(t *testing.T) {
	t.Parallel()
	client := redisClient(t, server.StartRedis(t, "appendonly no").Address)
	store, err := redisstore.New(client, &redisstore.Options{Prefix: `odd *?[a]\`})
	require.NoError(t, err)
	keys := fill(t, store, 500)
	fill(t, openRedis(t, client), 100)
	for _, name := range []string{"unrelated", `odd *?[a]\:foreign`, `odd *?[a]\:` + keys[0] + "x", "odd xya\\:" + keys[0]} {
		require.NoError(t, client.Set(t.Context(), name, "x", 0).Err())
	}
	for _, limit := range []int{1, 7, 100, 10_000} {
		require.Equal(t, keys, listed(t, store, limit))
	}
}

// TestRedisListSpansTheCluster guards that a listing visits every master.
func TestRedisListSpansTheCluster(t *testing.T) {
	t.Parallel()
	client := closed(t, redis.NewClusterClient(&redis.ClusterOptions{Addrs: server.StartRedisCluster(t, 3).Addresses}))
	store := openRedis(t, client)
	keys := fill(t, store, 200)
	for _, limit := range []int{3, 1000} {
		require.Equal(t, keys, listed(t, store, limit))
	}
}

// TestRedisListEndsWhenTheServerRestarts guards that a cursor of another process, which could skip documents, is refused.
func TestRedisListEndsWhenTheServerRestarts(t *testing.T) {
	t.Parallel()
	running := server.StartRedis(t)
	store := openRedis(t, redisClient(t, running.Address))
	fill(t, store, 100)
	_, cursor, err := store.List(t.Context(), "", 10)
	require.NoError(t, err)
	require.NotEmpty(t, cursor)
	running.Restart(t)
	for err == nil && cursor != "" {
		_, cursor, err = store.List(t.Context(), cursor, 10)
	}
	require.ErrorIs(t, err, redisstore.ErrCursor)
}

// TestRedisListRefusesForeignCursors guards that a cursor is checked before a server is asked.
func TestRedisListRefusesForeignCursors(t *testing.T) {
	t.Parallel()
	store := openRedis(t, redisClient(t, server.StartRedis(t).Address))
	for _, cursor := range []string{"0", "12", "bm90IEpTT04", "eyJ2Ijo5fQ"} {
		_, _, err := store.List(t.Context(), cursor, 10)
		require.ErrorIs(t, err, redisstore.ErrCursor, cursor)
	}
	for _, limit := range []int{0, -1} {
		_, _, err := store.List(t.Context(), "", limit)
		require.ErrorContains(t, err, "limit")
	}
}

// TestRedisRisks guards that each setting that can lose documents is told, and that a server that loses none is silent.
func TestRedisRisks(t *testing.T) {
	t.Parallel()
	client := redisClient(t, server.StartRedis(t).Address)
	store := openRedis(t, client)
	require.Empty(t, risks(t, store))

	configure := func(name, value string) { require.NoError(t, client.ConfigSet(t.Context(), name, value).Err()) }
	configure("appendfsync", "everysec")
	require.Contains(t, risks(t, store), "appendfsync")
	configure("appendonly", "no")
	require.Contains(t, risks(t, store), "appendonly is off")
	configure("maxmemory", "100mb")
	require.NotContains(t, risks(t, store), "maxmemory-policy", "noeviction refuses writes and loses nothing")
	configure("maxmemory-policy", "volatile-lru")
	require.NotContains(t, risks(t, store), "maxmemory-policy", "documents without a time to live are safe from it")
	configure("maxmemory-policy", "allkeys-lru")
	require.Contains(t, risks(t, store), "maxmemory-policy")
}

// TestRedisRisksWithoutConfig guards that a service that refuses CONFIG is told apart from a safe one.
func TestRedisRisksWithoutConfig(t *testing.T) {
	t.Parallel()
	address := server.StartRedis(t).Address
	admin := redisClient(t, address)
	require.NoError(t, admin.Do(t.Context(), "acl", "setuser", "plain", "on", "nopass", "~*", "+@all", "-config").Err())
	store := openRedis(t, closed(t, redis.NewClient(&redis.Options{Addr: address, Username: "plain", Password: "any"})))
	require.Contains(t, risks(t, store), "does not tell appendfsync")
}

// risks returns what the store tells about its server, in one text.
func risks(t *testing.T, store *redisstore.Store) string {
	t.Helper()
	found, err := store.Risks(t.Context())
	require.NoError(t, err)
	return strings.Join(found, "\n")
}
