package integration_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/integration/server"
	"github.com/stretchr/testify/require"
)

// BenchmarkUpdate measures what saving a memory costs in each engine with its durable settings: a read and a conditional
// write of a document of the caller's own, by some callers at once. docs/from-one-machine-to-many.md reports it.
func BenchmarkUpdate(b *testing.B) {
	for _, engine := range []struct {
		name string
		open func(testing.TB) docstore.Store
	}{
		{"Dir", func(t testing.TB) docstore.Store {
			store, err := openDir(t.TempDir())
			require.NoError(t, err)
			return store
		}},
		{"SQLite", func(t testing.TB) docstore.Store {
			store, _ := sqliteDatabase(t).store(t)
			return store
		}},
		{"PostgreSQL", func(t testing.TB) docstore.Store {
			pg := server.StartPostgres(t)
			store, _ := postgresDatabase(t, pg, pg.Address).store(t)
			return store
		}},
		{"Redis", func(t testing.TB) docstore.Store {
			return openRedis(t, redisClient(t, server.StartRedis(t).Address))
		}},
	} {
		b.Run(engine.name, func(b *testing.B) {
			store := engine.open(b)
			for _, callers := range []int{1, 8, 64} {
				b.Run(fmt.Sprint(callers, " at once"), func(b *testing.B) { benchmarkUpdate(b, store, callers) })
			}
		})
	}
}

func benchmarkUpdate(b *testing.B, store docstore.Store, callers int) {
	content := noise(documentSize)
	times := make([][]time.Duration, callers)
	var running sync.WaitGroup
	b.ResetTimer()
	for caller := range callers {
		share := b.N / callers
		if caller < b.N%callers {
			share++
		}
		running.Go(func() {
			key := keyOf(fmt.Sprint(b.Name(), caller))
			for range share {
				began := time.Now()
				if err := update(store, key, content); err != nil {
					b.Error(err)
					return
				}
				times[caller] = append(times[caller], time.Since(began))
			}
		})
	}
	running.Wait()
	all := slices.Sorted(slices.Values(slices.Concat(times...)))
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "updates/s")
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "median-µs")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
}

// update replaces the document whatever it holds.
func update(store docstore.Store, key string, content []byte) error {
	_, version, err := store.Read(context.Background(), key)
	if err != nil {
		version = ""
	}
	_, err = store.Write(context.Background(), key, content, version)
	return err
}
