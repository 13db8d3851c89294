package redisstore

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/state"
)

var (
	_ filememory.Backend = (*Store)(nil)
	_ filememory.Lister  = (*Store)(nil)
	_ state.Store        = (*Store)(nil)
	_ state.Lister       = (*Store)(nil)
)

// unconnected returns a client that was never used and so has no connection.
func unconnected[C redis.UniversalClient](t *testing.T, client C) C {
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

func TestNewListsEveryProblem(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		opts Options
		want []string
	}{
		{Options{TTL: -time.Second}, []string{"client is missing", "is negative"}},
		{Options{TTL: 1500 * time.Millisecond, Prefix: "\xff"}, []string{"client is missing", "whole seconds", "UTF-8"}},
	} {
		for _, client := range []redis.UniversalClient{nil, (*redis.Client)(nil), (*redis.ClusterClient)(nil), (*redis.Ring)(nil)} {
			_, err := New(client, &tc.opts)
			for _, want := range tc.want {
				require.ErrorContains(t, err, want)
			}
		}
	}
}

// TestNewRefusesClientsThatLoseDocuments guards clients that answer from somewhere else than the master of a key.
func TestNewRefusesClientsThatLoseDocuments(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		client redis.UniversalClient
		want   string
	}{
		"ring":       {unconnected(t, redis.NewRing(&redis.RingOptions{})), "Ring"},
		"replicas":   {unconnected(t, redis.NewClusterClient(&redis.ClusterOptions{ReadOnly: true})), "replicas"},
		"by latency": {unconnected(t, redis.NewClusterClient(&redis.ClusterOptions{RouteByLatency: true})), "replicas"},
		"randomly":   {unconnected(t, redis.NewClusterClient(&redis.ClusterOptions{RouteRandomly: true})), "replicas"},
		"caching": {unconnected(t, redis.NewClient(&redis.Options{
			Addr: "unused:1", ClientSideCacheConfig: &redis.ClientSideCacheConfig{},
		})), "client-side caching"},
	} {
		_, err := New(tc.client, nil)
		require.ErrorContains(t, err, tc.want, name)
	}
}

func TestNewDefaultsAndCopiesItsOptions(t *testing.T) {
	t.Parallel()
	client := unconnected(t, redis.NewClient(&redis.Options{Addr: "unused:1"}))
	store, err := New(client, nil)
	require.NoError(t, err)
	require.Equal(t, "agentkit:memoryFile:", store.prefix)
	require.Zero(t, store.ttl)

	opts := &Options{Prefix: CheckpointPrefix, TTL: time.Hour}
	store, err = New(client, opts)
	require.NoError(t, err)
	opts.Prefix = "changed"
	require.Equal(t, "recollect:state:", store.prefix)
	require.EqualValues(t, 3600, store.ttl)
}

// TestCallsRefuseInvalidKeys guards that a key outside the grammar reaches no server: this client has none.
func TestCallsRefuseInvalidKeys(t *testing.T) {
	t.Parallel()
	store, err := New(unconnected(t, redis.NewClient(&redis.Options{Addr: "unused:1"})), nil)
	require.NoError(t, err)
	digest := "0123456789012345678901234567890123456789012"
	for _, key := range []string{
		"", "_" + digest, "memscope1" + digest, "Mem_" + digest, "m_" + digest + "x", "m_" + digest[1:], "m_" + digest[1:] + "*",
		"m_" + digest + "\n", "a:m_" + digest,
	} {
		_, _, readErr := store.Read(t.Context(), key)
		_, writeErr := store.Write(t.Context(), key, nil, "")
		for _, err := range []error{readErr, writeErr, store.Delete(t.Context(), key, "")} {
			require.ErrorIs(t, err, filememory.ErrInvalidKey, "%q", key)
		}
	}
}

func TestWriteRefusesWhatAServerWouldNotTake(t *testing.T) {
	t.Parallel()
	store, err := New(unconnected(t, redis.NewClient(&redis.Options{Addr: "unused:1"})), nil)
	require.NoError(t, err)
	_, err = store.Write(t.Context(), "m_0123456789012345678901234567890123456789012", make([]byte, maxBytes+1), "")
	require.ErrorIs(t, err, ErrTooLarge)
}
