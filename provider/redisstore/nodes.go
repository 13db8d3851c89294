package redisstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// pipeliner is a client of one server.
type pipeliner interface {
	Pipelined(ctx context.Context, fn func(redis.Pipeliner) error) ([]redis.Cmder, error)
}

// masters returns a client of every server that holds keys, in a stable order, and a digest of which server holds which
// keys; "" without a cluster.
func (s *Store) masters(ctx context.Context) (nodes []pipeliner, layout string, err error) {
	cluster, ok := s.client.(*redis.ClusterClient)
	if !ok {
		return []pipeliner{s.client}, "", nil
	}
	slots := redis.NewClusterSlotsCmd(ctx, "cluster", "slots") // CLUSTER SHARDS, which replaces it, needs Redis 7
	var clients []*redis.Client
	err = s.workers.prompt(ctx, func() (err error) {
		if err = cluster.Process(ctx, slots); err == nil {
			clients, err = clusterMasters(ctx, cluster)
		}
		return err
	})
	if err != nil {
		return nil, "", err
	}
	for _, client := range clients {
		nodes = append(nodes, client)
	}
	return nodes, digestLayout(slots.Val(), clients), nil
}

func clusterMasters(ctx context.Context, cluster *redis.ClusterClient) ([]*redis.Client, error) {
	var mu sync.Mutex
	var clients []*redis.Client
	err := cluster.ForEachMaster(ctx, func(_ context.Context, client *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		clients = append(clients, client)
		return nil
	})
	slices.SortFunc(clients, func(a, b *redis.Client) int { return cmp.Compare(a.Options().Addr, b.Options().Addr) })
	return clients, err
}

func digestLayout(slots []redis.ClusterSlot, clients []*redis.Client) string {
	var lines []string
	for _, slot := range slots {
		if len(slot.Nodes) > 0 {
			lines = append(lines, fmt.Sprintf("%d-%d %s", slot.Start, slot.End, slot.Nodes[0].ID))
		}
	}
	slices.Sort(lines)
	for _, client := range clients {
		lines = append(lines, client.Options().Addr)
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// parseInfo returns the fields of an INFO reply.
func parseInfo(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}
