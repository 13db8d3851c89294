package integration_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/integration/proxy"
	"github.com/recollect-go/recollect/internal/integration/server"
	"github.com/recollect-go/recollect/provider/redisstore"
)

// TestRedis runs stores with pools of their own on one server.
func TestRedis(t *testing.T) {
	t.Parallel()
	exercise(t, engine{
		open: func(t *testing.T, n int) []docstore.Store {
			address := server.StartRedis(t, "appendonly no").Address
			return opened(t, n, func() redis.UniversalClient { return redis.NewClient(&redis.Options{Addr: address}) })
		},
		disturb: func(t *testing.T) *disturbance {
			address := server.StartRedis(t).Address
			shaky := proxy.Start(t, address)
			d := &disturbance{
				calm:  openRedis(t, redisClient(t, address)),
				count: shaky.Cuts,
				stop:  func() { shaky.CutWith(nil) },
			}
			for range processes {
				d.stores = append(d.stores, openRedis(t, redisClient(t, shaky.Address())))
			}
			shaky.CutWith(proxy.Anywhere(8 << 10))
			return d
		},
	})
}

// TestRedisCluster runs stores with clients of their own on a cluster of three masters.
func TestRedisCluster(t *testing.T) {
	t.Parallel()
	exercise(t, engine{open: func(t *testing.T, n int) []docstore.Store {
		addresses := server.StartRedisCluster(t, 3, "appendonly no").Addresses
		return opened(t, n, func() redis.UniversalClient {
			return redis.NewClusterClient(&redis.ClusterOptions{Addrs: addresses})
		})
	}})
}

// opened returns n stores, each on a client of its own.
func opened(t *testing.T, n int, connect func() redis.UniversalClient) []docstore.Store {
	stores := make([]docstore.Store, n)
	for i := range stores {
		stores[i] = openRedis(t, closed(t, connect()))
	}
	return stores
}

func openRedis(t testing.TB, client redis.UniversalClient) *redisstore.Store {
	t.Helper()
	store, err := redisstore.New(client, nil)
	require.NoError(t, err)
	return store
}

func redisClient(t testing.TB, address string) *redis.Client {
	return closed(t, redis.NewClient(&redis.Options{Addr: address}))
}

// closed closes client when the test ends.
func closed[C redis.UniversalClient](t testing.TB, client C) C {
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// requirePoolFull guards that every connection of the pool can be borrowed and works.
func requirePoolFull(t *testing.T, client *redis.Client) {
	t.Helper()
	var conns []*redis.Conn
	for range client.Options().PoolSize {
		conn := client.Conn()
		conns = append(conns, conn)
		require.NoError(t, conn.Ping(context.Background()).Err())
	}
	require.EqualValues(t, client.Options().PoolSize, client.PoolStats().TotalConns)
	for _, conn := range conns {
		require.NoError(t, conn.Close())
	}
}
