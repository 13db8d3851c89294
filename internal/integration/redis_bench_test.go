package integration_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/integration/server"
)

// documentBytes is the size of a document in the benchmarks: about what 50 memories take.
const documentBytes = 4096

// BenchmarkRedis measures each call beside its floor, the bare command or script that does the same through the same
// client. The bar is 1.15 times the floor. The contexts can end, which the client ignores and the store honours with a
// switch between goroutines: eight callers keep the processors busy and hardly notice it; a single caller waits for the
// other processor to wake up, which takes about 10 µs.
func BenchmarkRedis(b *testing.B) {
	client := redisClient(b, server.StartRedis(b, "appendonly no").Address)
	for _, callers := range []int{8, 1} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) { benchmarkRedis(b, client, callers) })
	}
}

func benchmarkRedis(b *testing.B, client *redis.Client, callers int) {
	ctx := b.Context()
	require.NoError(b, client.FlushAll(ctx).Err())
	store := openRedis(b, client)
	content := bytes.Repeat([]byte("x"), documentBytes)
	subjects := make([]benchDocument, callers)
	floors := make([]benchDocument, callers)
	for i := range callers {
		subjects[i].key, floors[i].key = keyOf(fmt.Sprint("subject ", i)), agentKitKey(keyOf(fmt.Sprint("floor ", i)))
		subjects[i].version = create(b, store, subjects[i].key, content)
	}
	b.Run("Write", func(b *testing.B) {
		beside(b, callers, func(caller int) {
			d := &subjects[caller]
			var err error
			d.version, err = store.Write(ctx, d.key, content, d.version)
			require.NoError(b, err)
		}, func(caller int) {
			d := &floors[caller]
			next := "r" + rand.Text()
			reply, err := bareWrite.Run(ctx, client, []string{d.key}, content, d.version, next).Int()
			require.NoError(b, err)
			require.Equal(b, 1, reply)
			d.version = next
		})
	})
	b.Run("Read", func(b *testing.B) {
		beside(b, callers, func(caller int) {
			_, _, err := store.Read(ctx, subjects[caller].key)
			require.NoError(b, err)
		}, func(caller int) {
			require.NoError(b, client.HMGet(ctx, floors[caller].key, "content", "version").Err())
		})
	})
	b.Run("ReadAbsent", func(b *testing.B) {
		absent := keyOf("absent")
		beside(b, callers, func(int) {
			_, _, err := store.Read(ctx, absent)
			require.Error(b, err)
		}, func(int) {
			require.NoError(b, client.HMGet(ctx, agentKitKey(absent), "content", "version").Err())
		})
	})
}

// benchDocument is a document that one caller writes again and again.
type benchDocument struct{ key, version string }

// bareWrite is the least that a conditional write takes.
var bareWrite = redis.NewScript(`
	if (redis.call('HGET', KEYS[1], 'version') or '') ~= ARGV[2] then return 0 end
	redis.call('HSET', KEYS[1], 'content', ARGV[1], 'version', ARGV[3])
	return 1`)
