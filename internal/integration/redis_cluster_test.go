package integration_test

import (
	"context"
	"io/fs"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/integration/server"
	"github.com/recollect-go/recollect/provider/redisstore"
)

// moveSlot gives the slot of name, which must hold no key, to another master.
func moveSlot(t *testing.T, admin *redis.ClusterClient, name string) {
	t.Helper()
	slot := admin.ClusterKeySlot(t.Context(), name).Val()
	owner, err := admin.MasterForKey(t.Context(), name)
	require.NoError(t, err)
	ranges := redis.NewClusterSlotsCmd(t.Context(), "cluster", "slots") // CLUSTER SHARDS, which replaces it, needs Redis 7
	require.NoError(t, admin.Process(t.Context(), ranges))
	var next string
	for _, r := range ranges.Val() {
		if r.Nodes[0].Addr != owner.Options().Addr {
			next = r.Nodes[0].ID
		}
	}
	require.NoError(t, admin.ForEachMaster(t.Context(), func(ctx context.Context, node *redis.Client) error {
		return node.Do(ctx, "cluster", "setslot", slot, "node", next).Err()
	}))
}

// TestRedisListEndsWhenSlotsMove guards that a listing which could miss the documents of a slot that changed its master is
// not ended as if it were complete.
func TestRedisListEndsWhenSlotsMove(t *testing.T) {
	t.Parallel()
	client := closed(t, redis.NewClusterClient(&redis.ClusterOptions{Addrs: server.StartRedisCluster(t, 3).Addresses}))
	store := openRedis(t, client)
	fill(t, store, 100)
	_, cursor, err := store.List(t.Context(), "", 10)
	require.NoError(t, err)
	require.NotEmpty(t, cursor)
	moveSlot(t, client, agentKitKey(keyOf("never there")))
	for err == nil && cursor != "" {
		_, cursor, err = store.List(t.Context(), cursor, 10)
	}
	require.ErrorIs(t, err, redisstore.ErrCursor)
}

// TestRedisRedirectedCreateIsUnknownAndNotSentAgain guards a create whose slot has moved: the redirected command would be a
// second one.
func TestRedisRedirectedCreateIsUnknownAndNotSentAgain(t *testing.T) {
	t.Parallel()
	options := &redis.ClusterOptions{Addrs: server.StartRedisCluster(t, 3).Addresses}
	admin := closed(t, redis.NewClusterClient(options))
	store := openRedis(t, closed(t, redis.NewClusterClient(options)))
	key := keyOf("redirected")
	_, _, err := store.Read(t.Context(), key) // the client knows the slots from now on
	require.ErrorIs(t, err, fs.ErrNotExist)

	moveSlot(t, admin, agentKitKey(key))
	_, err = store.Write(t.Context(), key, []byte("a"), "")
	require.ErrorIs(t, err, docstore.ErrUnknownOutcome)
	require.NotErrorIs(t, err, docstore.ErrConflict)
	_, _, err = store.Read(t.Context(), key)
	require.ErrorIs(t, err, fs.ErrNotExist)
	version := create(t, store, key, []byte("b"))
	require.Equal(t, version, requireContent(t, store, key, []byte("b")))
}
