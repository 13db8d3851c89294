package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// slotCount is how many slots a Redis cluster has.
const slotCount = 16384

// RedisCluster is a running Redis cluster of masters without replicas.
type RedisCluster struct {
	// Addresses are the loopback hosts and ports of the masters.
	Addresses []string
}

// StartRedisCluster starts a cluster of n masters with equal shares of the slots. Settings are those of StartRedis.
func StartRedisCluster(t testing.TB, n int, settings ...string) *RedisCluster {
	t.Helper()
	cluster := &RedisCluster{}
	for range n {
		own := []string{"cluster-enabled yes", "cluster-node-timeout 2000", fmt.Sprintf("cluster-port %d", freePort(t))}
		node := StartRedis(t, append(own, settings...)...)
		cluster.Addresses = append(cluster.Addresses, node.Address)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	if err := cluster.join(ctx); err != nil {
		t.Fatal(err)
	}
	return cluster
}

// join gives each node its slots, introduces all to the first, and waits until every node finds the cluster complete.
func (c *RedisCluster) join(ctx context.Context) error {
	share := slotCount / len(c.Addresses)
	for i, address := range c.Addresses {
		last := (i+1)*share - 1
		if i == len(c.Addresses)-1 {
			last = slotCount - 1
		}
		if err := c.introduce(ctx, address, i*share, last); err != nil {
			return fmt.Errorf("joining %s: %w", address, err)
		}
	}
	for _, address := range c.Addresses {
		if err := c.awaitComplete(ctx, address); err != nil {
			return fmt.Errorf("awaiting %s: %w", address, err)
		}
	}
	return nil
}

func (c *RedisCluster) introduce(ctx context.Context, address string, first, last int) error {
	node := redis.NewClient(&redis.Options{Addr: address})
	defer node.Close()
	host, port, err := net.SplitHostPort(c.Addresses[0])
	if err != nil {
		return err
	}
	bus, err := c.busPort(ctx, c.Addresses[0])
	if err != nil {
		return err
	}
	return errors.Join(
		node.ClusterAddSlotsRange(ctx, first, last).Err(),
		node.Do(ctx, "cluster", "meet", host, port, bus).Err(),
	)
}

// busPort asks a node for the port at which the others reach it.
func (c *RedisCluster) busPort(ctx context.Context, address string) (string, error) {
	node := redis.NewClient(&redis.Options{Addr: address})
	defer node.Close()
	config, err := node.ConfigGet(ctx, "cluster-port").Result()
	return config["cluster-port"], err
}

func (c *RedisCluster) awaitComplete(ctx context.Context, address string) error {
	node := redis.NewClient(&redis.Options{Addr: address})
	defer node.Close()
	for {
		info, err := node.ClusterInfo(ctx).Result()
		if err != nil {
			return err
		}
		if strings.Contains(info, "cluster_state:ok") &&
			strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d", len(c.Addresses))) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %s", ctx.Err(), info)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
