package redisstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Risks asks every master how it keeps data and returns a sentence for each setting or event that can lose, or has lost,
// acknowledged documents; none is the answer of a server that syncs each write and evicts nothing. It needs the command
// INFO, and CONFIG GET to tell how often the append-only file is synced. Call it when a service starts and log what it
// says, or from a monitor.
func (s *Store) Risks(ctx context.Context) ([]string, error) {
	nodes, _, err := s.masters(ctx)
	if err != nil {
		return nil, failed("risks", err)
	}
	var risks []string
	for i, node := range nodes {
		found, err := s.nodeRisks(ctx, node)
		if err != nil {
			return nil, failed("risks", err)
		}
		for _, risk := range found {
			risks = append(risks, nodeName(node, i)+": "+risk)
		}
	}
	return risks, nil
}

func nodeName(node pipeliner, index int) string {
	if client, ok := node.(*redis.Client); ok {
		return client.Options().Addr
	}
	return fmt.Sprintf("server %d", index)
}

func (s *Store) nodeRisks(ctx context.Context, node pipeliner) ([]string, error) {
	var info *redis.StringCmd
	var config *redis.MapStringStringCmd
	err := s.workers.prompt(ctx, func() error {
		// The pipeline's own error may be that of CONFIG GET, which many services refuse.
		_, err := node.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			info = pipe.Info(ctx)
			config = pipe.ConfigGet(ctx, "appendfsync")
			return nil
		})
		if refused(err) {
			return info.Err()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	fields := parseInfo(info.Val())
	return append(s.evictionRisks(fields), persistenceRisks(fields, config.Val()["appendfsync"])...), nil
}

func (s *Store) evictionRisks(info map[string]string) []string {
	var risks []string
	policy := info["maxmemory_policy"]
	volatile := strings.HasPrefix(policy, "volatile-")
	if policy != "noeviction" && info["maxmemory"] != "0" && (!volatile || s.ttl > 0) {
		risks = append(risks, fmt.Sprintf("maxmemory-policy is %q: documents are removed when memory is full", policy))
	}
	if evicted := info["evicted_keys"]; evicted != "0" && evicted != "" {
		risks = append(risks, fmt.Sprintf("%s keys were evicted since it started", evicted))
	}
	return risks
}

func persistenceRisks(info map[string]string, appendfsync string) []string {
	var risks []string
	switch {
	case info["aof_enabled"] != "1":
		risks = append(risks, "appendonly is off: a restart loses what was written since the last snapshot")
	case appendfsync == "":
		risks = append(risks, "it does not tell appendfsync: unless that is always, a loss of power loses the last writes")
	case appendfsync != "always":
		risks = append(risks, fmt.Sprintf("appendfsync is %q: a loss of power loses the last writes", appendfsync))
	}
	for _, field := range []string{"aof_last_write_status", "aof_last_bgrewrite_status", "rdb_last_bgsave_status"} {
		if status := info[field]; status != "ok" && status != "" {
			risks = append(risks, fmt.Sprintf("%s is %q", field, status))
		}
	}
	return risks
}
