package integration_test

import (
	"context"
	"crypto/rand"
	"sync"
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
	address := server.StartRedis(t, "appendonly no").Address
	stores := &redisStores{connect: func(thief *replyThief) redis.UniversalClient {
		return redis.NewClient(&redis.Options{Addr: address, Dialer: thief.dial, MaxRetries: neverRepeats})
	}}
	exercise(t, engine{open: stores.open, again: stores.again, loseReply: stores.loseReply, disturb: disturbedRedis})
}

// TestRedisCluster runs stores with clients of their own on a cluster of three masters.
func TestRedisCluster(t *testing.T) {
	t.Parallel()
	addresses := server.StartRedisCluster(t, 3, "appendonly no").Addresses
	stores := &redisStores{connect: func(thief *replyThief) redis.UniversalClient {
		return redis.NewClusterClient(&redis.ClusterOptions{
			Addrs: addresses, Dialer: thief.dial, MaxRetries: neverRepeats, MaxRedirects: neverRepeats,
		})
	}}
	exercise(t, engine{open: stores.open, again: stores.again, loseReply: stores.loseReply})
}

// redisStores opens stores, each on a client and on a prefix of its own, and remembers where they are.
type redisStores struct {
	connect func(*replyThief) redis.UniversalClient
	places  sync.Map // docstore.Store to redisPlace
}

type redisPlace struct {
	prefix string
	thief  *replyThief
}

func (s *redisStores) openAt(t *testing.T, prefix string) docstore.Store {
	t.Helper()
	thief := &replyThief{}
	store, err := redisstore.New(closed(t, s.connect(thief)), &redisstore.Options{Prefix: prefix})
	require.NoError(t, err)
	s.places.Store(store, redisPlace{prefix, thief})
	return store
}

func (s *redisStores) placeOf(store docstore.Store) redisPlace {
	found, _ := s.places.Load(store)
	return found.(redisPlace)
}

func (s *redisStores) open(t *testing.T, n int) []docstore.Store {
	prefix := "test:" + rand.Text()
	stores := make([]docstore.Store, n)
	for i := range stores {
		stores[i] = s.openAt(t, prefix)
	}
	return stores
}

func (s *redisStores) again(t *testing.T, store docstore.Store) docstore.Store {
	return s.openAt(t, s.placeOf(store).prefix)
}

// loseReply loses the reply to the write, and to the question that would tell what became of it.
func (s *redisStores) loseReply(_ *testing.T, store docstore.Store, applied bool) {
	s.placeOf(store).thief.takeWrite(applied)
}

// disturbedRedis is a server of its own behind a proxy that cuts connections. The clients repeat commands, as they do by
// default.
func disturbedRedis(t *testing.T) *disturbance {
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
