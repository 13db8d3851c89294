package integration_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/integration/server"
)

// documentBytes is the size of a document in the benchmarks: about what 50 memories take.
const documentBytes = 4096

// BenchmarkRedis measures each call beside its floor, the bare command or script that does the same through the same
// client. The bar is 1.15 times the floor.
//
// The client does not notice that a context is cancelled, and the store does. So the comparison is made three times: with
// a context that cannot end, where both promise the same; with one that can, where the floor is made to return as well, in
// the plainest way; and with one that can beside the bare command, which shows what the promise costs. A single caller on
// an idle machine pays most for it, since a second processor has to wake up.
func BenchmarkRedis(b *testing.B) {
	client := redisClient(b, server.StartRedis(b, "appendonly no").Address)
	for _, callers := range []int{8, 1} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			b.Run("endless", func(b *testing.B) {
				benchmarkRedis(b, context.WithoutCancel(b.Context()), client, callers, bare)
			})
			b.Run("cancellable", func(b *testing.B) { benchmarkRedis(b, b.Context(), client, callers, prompt) })
			b.Run("cancellable beside bare", func(b *testing.B) { benchmarkRedis(b, b.Context(), client, callers, bare) })
		})
	}
}

// benchmarkRedis compares the calls of a store with commands that floor makes.
func benchmarkRedis(
	b *testing.B, ctx context.Context, client *redis.Client, callers int, floor func(context.Context, func() error) error,
) {
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
			require.NoError(b, floor(ctx, func() error {
				return bareWrite.Run(ctx, client, []string{d.key}, content, d.version, next).Err()
			}))
			d.version = next
		})
	})
	b.Run("Read", func(b *testing.B) {
		beside(b, callers, func(caller int) {
			_, _, err := store.Read(ctx, subjects[caller].key)
			require.NoError(b, err)
		}, func(caller int) {
			require.NoError(b, floor(ctx, func() error {
				return client.HMGet(ctx, floors[caller].key, "content", "version").Err()
			}))
		})
	})
	b.Run("ReadAbsent", func(b *testing.B) {
		absent := keyOf("absent")
		beside(b, callers, func(int) {
			_, _, err := store.Read(ctx, absent)
			require.ErrorIs(b, err, fs.ErrNotExist)
		}, func(int) {
			require.NoError(b, floor(ctx, func() error {
				return client.HMGet(ctx, agentKitKey(absent), "content", "version").Err()
			}))
		})
	})
}

// bare returns what command returns, when it returns.
func bare(_ context.Context, command func() error) error { return command() }

// prompt returns at the end of ctx as well.
func prompt(ctx context.Context, command func() error) error {
	done := make(chan error, 1)
	go func() { done <- command() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// benchDocument is a document that one caller writes again and again.
type benchDocument struct{ key, version string }

// bareWrite is the least that a conditional write takes.
var bareWrite = redis.NewScript(`
	if (redis.call('HGET', KEYS[1], 'version') or '') ~= ARGV[2] then return redis.error_reply('conflict') end
	redis.call('HSET', KEYS[1], 'content', ARGV[1], 'version', ARGV[3])
	return 1`)
