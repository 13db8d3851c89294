package redisstore

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRisksNameWhatLosesDocuments guards each setting and event that a server tells, one at a time. The real ones are in
// internal/integration; that a disk fails cannot be had from one.
func TestRisksNameWhatLosesDocuments(t *testing.T) {
	t.Parallel()
	safe := map[string]string{
		"maxmemory": "100", "maxmemory_policy": "noeviction", "evicted_keys": "0",
		"aof_enabled": "1", "aof_last_write_status": "ok", "aof_last_bgrewrite_status": "ok", "rdb_last_bgsave_status": "ok",
	}
	for _, tc := range []struct {
		field, value string
		ttl          int64
		says         string // "" when it is no risk
	}{
		{"maxmemory", "100", 0, ""},
		{"maxmemory_policy", "allkeys-lru", 0, "removed when memory is full"},
		{"maxmemory_policy", "volatile-ttl", 0, ""},
		{"maxmemory_policy", "volatile-ttl", 1, "removed when memory is full"},
		{"evicted_keys", "7", 0, "7 keys were evicted"},
		{"aof_enabled", "0", 0, "appendonly is off"},
		{"aof_last_write_status", "err", 0, `aof_last_write_status is "err"`},
		{"aof_last_bgrewrite_status", "err", 0, `aof_last_bgrewrite_status is "err"`},
		{"rdb_last_bgsave_status", "err", 0, `rdb_last_bgsave_status is "err"`},
	} {
		info := map[string]string{tc.field: tc.value}
		for field, value := range safe {
			if field != tc.field {
				info[field] = value
			}
		}
		found := append((&Store{ttl: tc.ttl}).evictionRisks(info), persistenceRisks(info, "always")...)
		if tc.says == "" {
			require.Empty(t, found, "%s %s", tc.field, tc.value)
			continue
		}
		require.Len(t, found, 1, "%s %s", tc.field, tc.value)
		require.Contains(t, found[0], tc.says)
	}
	require.Contains(t, strings.Join(persistenceRisks(safe, "everysec"), "\n"), `appendfsync is "everysec"`)
	require.Contains(t, strings.Join(persistenceRisks(safe, ""), "\n"), "does not tell appendfsync")
}
