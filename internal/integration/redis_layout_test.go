package integration_test

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/integration/server"
	"github.com/recollect-go/recollect/provider/redisstore"
	"github.com/recollect-go/recollect/state"
)

// agentKitKey is where AgentKit keeps the document of key.
func agentKitKey(key string) string { return "agentkit:memoryFile:" + key }

// TestRedisStoresWhatAgentKitReads guards the layout that AgentKit's readers and writers know, byte for byte.
func TestRedisStoresWhatAgentKitReads(t *testing.T) {
	t.Parallel()
	client := redisClient(t, server.StartRedis(t).Address)
	store := openRedis(t, client)
	key := keyOf("layout")
	document, err := os.ReadFile("testdata/redis/document.md")
	require.NoError(t, err)
	stored, err := os.ReadFile("testdata/redis/content.stored")
	require.NoError(t, err)

	version := create(t, store, key, document)
	fields, err := client.HGetAll(t.Context(), agentKitKey(key)).Result()
	require.NoError(t, err)
	require.Equal(t, map[string]string{"content": string(stored), "version": version}, fields)
	require.Equal(t, []string{agentKitKey(key)}, client.Keys(t.Context(), "*").Val(), "one document is one key")
	require.Regexp(t, `^r[A-Z2-7]{26}$`, version, "a JSON client must not take it for a number")
}

// TestRedisReadsWhatAgentKitStored guards both forms that AgentKit's readers accept, and that their versions carry our
// writes.
func TestRedisReadsWhatAgentKitStored(t *testing.T) {
	t.Parallel()
	client := redisClient(t, server.StartRedis(t).Address)
	store := openRedis(t, client)
	document, err := os.ReadFile("testdata/redis/document.md")
	require.NoError(t, err)
	for _, form := range []string{"content.stored", "document.md"} {
		stored, err := os.ReadFile("testdata/redis/" + form)
		require.NoError(t, err)
		key := keyOf(form)
		const theirs = "rm5k3x9z1-1f-a8k2m0qz"
		require.NoError(t, client.HSet(t.Context(), agentKitKey(key), "content", stored, "version", theirs).Err())

		require.Equal(t, theirs, requireContent(t, store, key, document))
		_, err = store.Write(t.Context(), key, []byte("ours"), "another")
		requireConflictWith(t, err, "another", theirs)
		_, err = store.Write(t.Context(), key, []byte("ours"), theirs)
		require.NoError(t, err)
		requireContent(t, store, key, []byte("ours"))
	}
}

// TestRedisAgentKitScriptWritesOverOurs guards that a writer of AgentKit sees our version and replaces our document, and
// ours its.
func TestRedisAgentKitScriptWritesOverOurs(t *testing.T) {
	t.Parallel()
	// What AgentKit's script does, in our words: compare the version, set both fields, set the time to live.
	theirWrite := redis.NewScript(`
		local stored = redis.call('HGET', KEYS[1], 'version') or ''
		if stored ~= ARGV[2] then return {0, stored} end
		redis.call('HSET', KEYS[1], 'content', ARGV[1], 'version', ARGV[3])
		if tonumber(ARGV[4]) > 0 then redis.call('EXPIRE', KEYS[1], ARGV[4]) end
		return {1, ARGV[3]}`)
	client := redisClient(t, server.StartRedis(t).Address)
	store := openRedis(t, client)
	key := keyOf("shared")
	ours := create(t, store, key, []byte("ours"))

	write := func(expected, version string) int64 {
		reply, err := theirWrite.Run(t.Context(), client, []string{agentKitKey(key)},
			"eve-memory-document-v1:theirs", expected, version, "0").Slice()
		require.NoError(t, err)
		return reply[0].(int64)
	}
	require.Zero(t, write("rstale", "rtheirs"))
	require.EqualValues(t, 1, write(ours, "rtheirs"))
	require.Equal(t, "rtheirs", requireContent(t, store, key, []byte("theirs")))
	_, err := store.Write(t.Context(), key, []byte("again"), ours)
	requireConflictWith(t, err, ours, "rtheirs")
}

// TestRedisContentMayLookLikeTheMarker guards that only the marker that the store itself wrote is taken off.
func TestRedisContentMayLookLikeTheMarker(t *testing.T) {
	t.Parallel()
	store := openRedis(t, redisClient(t, server.StartRedis(t).Address))
	for _, content := range []string{"eve-memory-document-v1:", "eve-memory-document-v1:eve-memory-document-v1:x", "eve-memory-document-v1"} {
		key := keyOf(content)
		create(t, store, key, []byte(content))
		requireContent(t, store, key, []byte(content))
	}
}

// TestRedisTimeToLive guards that a write starts the time to live anew, and that a store without one keeps documents.
func TestRedisTimeToLive(t *testing.T) {
	t.Parallel()
	client := redisClient(t, server.StartRedis(t).Address)
	expiring, err := redisstore.New(client, &redisstore.Options{TTL: time.Hour})
	require.NoError(t, err)
	key := keyOf("ttl")
	left := func() time.Duration { return client.TTL(t.Context(), agentKitKey(key)).Val() }

	version := create(t, expiring, key, []byte("a"))
	require.InDelta(t, time.Hour, left(), float64(time.Minute))
	require.NoError(t, client.Expire(t.Context(), agentKitKey(key), time.Minute).Err())
	version, err = expiring.Write(t.Context(), key, []byte("b"), version)
	require.NoError(t, err)
	require.InDelta(t, time.Hour, left(), float64(time.Minute))

	_, err = openRedis(t, client).Write(t.Context(), key, []byte("c"), version)
	require.NoError(t, err)
	require.EqualValues(t, -1, left(), "there is no time to live")
}

// TestRedisExpiredDocumentIsAbsent guards that expiry looks like a delete.
func TestRedisExpiredDocumentIsAbsent(t *testing.T) {
	t.Parallel()
	client := redisClient(t, server.StartRedis(t).Address)
	store := openRedis(t, client)
	key := keyOf("expired")
	version := create(t, store, key, []byte("a"))
	require.NoError(t, client.PExpire(t.Context(), agentKitKey(key), time.Millisecond).Err())
	gone := func() bool { return client.Exists(t.Context(), agentKitKey(key)).Val() == 0 }
	require.Eventually(t, gone, 10*time.Second, time.Millisecond)

	_, _, err := store.Read(t.Context(), key)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = store.Write(t.Context(), key, []byte("b"), version)
	requireConflictWith(t, err, version, "")
	require.NoError(t, store.Delete(t.Context(), key, version))
}

// TestRedisRefusesForeignKeys guards that a key of another type or shape is named and left as it is by every call.
func TestRedisRefusesForeignKeys(t *testing.T) {
	t.Parallel()
	client := redisClient(t, server.StartRedis(t).Address)
	store := openRedis(t, client)
	const foreignHash = "a hash without the fields content and version"
	hash := func(fields ...any) func(context.Context, string) error {
		return func(ctx context.Context, name string) error { return client.HSet(ctx, name, fields...).Err() }
	}
	for name, tc := range map[string]struct {
		found string
		put   func(ctx context.Context, name string) error
	}{
		"string": {"a string", func(ctx context.Context, name string) error { return client.Set(ctx, name, "x", 0).Err() }},
		"list":   {"a list", func(ctx context.Context, name string) error { return client.RPush(ctx, name, "x").Err() }},
		"set":    {"a set", func(ctx context.Context, name string) error { return client.SAdd(ctx, name, "x").Err() }},
		"sorted set": {"a zset", func(ctx context.Context, name string) error {
			return client.ZAdd(ctx, name, redis.Z{Member: "x"}).Err()
		}},
		"stream": {"a stream", func(ctx context.Context, name string) error {
			return client.XAdd(ctx, &redis.XAddArgs{Stream: name, Values: []any{"a", "b"}}).Err()
		}},
		"foreign fields":  {foreignHash, hash("a", "b")},
		"no version":      {foreignHash, hash("content", "b")},
		"no content":      {foreignHash, hash("version", "v")},
		"a blank version": {foreignHash, hash("content", "b", "version", "")},
	} {
		t.Run(name, func(t *testing.T) {
			key := keyOf(name)
			require.NoError(t, tc.put(t.Context(), agentKitKey(key)))
			before := client.Dump(t.Context(), agentKitKey(key)).Val()

			_, _, readErr := store.Read(t.Context(), key)
			_, createErr := store.Write(t.Context(), key, []byte("x"), "")
			_, writeErr := store.Write(t.Context(), key, []byte("x"), "v")
			deleteErr, guessErr := store.Delete(t.Context(), key, ""), store.Delete(t.Context(), key, "v")
			for _, err := range []error{readErr, createErr, writeErr, deleteErr, guessErr} {
				var shape *redisstore.ShapeError
				require.ErrorAs(t, err, &shape)
				require.ErrorIs(t, err, redisstore.ErrShape)
				require.ErrorIs(t, err, state.ErrShape, "a sweep goes on past it")
				require.NotErrorIs(t, err, fs.ErrNotExist)
				require.Equal(t, key, shape.Key)
				require.Equal(t, tc.found, shape.Found)
				require.True(t, strings.HasPrefix(err.Error(), "redisstore: "), err.Error())
			}
			require.Equal(t, before, client.Dump(t.Context(), agentKitKey(key)).Val(), "it was changed")
		})
	}
}

// TestRedisUnknownFieldsStay guards that a field that a later version of the layout may add is neither refused nor removed.
func TestRedisUnknownFieldsStay(t *testing.T) {
	t.Parallel()
	client := redisClient(t, server.StartRedis(t).Address)
	store := openRedis(t, client)
	key := keyOf("later")
	version := create(t, store, key, []byte("a"))
	require.NoError(t, client.HSet(t.Context(), agentKitKey(key), "later", "kept").Err())
	require.Equal(t, version, requireContent(t, store, key, []byte("a")))
	_, err := store.Write(t.Context(), key, []byte("b"), version)
	require.NoError(t, err)
	require.Equal(t, "kept", client.HGet(t.Context(), agentKitKey(key), "later").Val())
}
