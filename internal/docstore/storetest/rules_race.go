package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
)

var raceRules = []Rule{
	{
		Name: "race-one-create-wins",
		Text: "Of several concurrent creates of one document exactly one succeeds; the others are conflicts.",
		check: func(p *probe) {
			for round := range 5 {
				p.checkOneWins(key(round), "")
			}
		},
	},
	{
		Name: "race-one-write-wins",
		Text: "Of several concurrent writes with one expected version exactly one succeeds; the others are conflicts.",
		check: func(p *probe) {
			version := p.create(key(1), "start")
			for range 5 {
				version = p.checkOneWins(key(1), version)
			}
		},
	},
	{
		Name: "race-one-delete-or-write-wins",
		Text: "Of concurrent writes and deletes with one expected version the first decides: a write that follows a delete is a conflict, and so is a " +
			"delete that follows a write.",
		check: checkDeleteOrWrite,
	},
	{
		Name:  "race-counter",
		Text:  "Writers that read, add one, write on condition and start again after a conflict lose no addition.",
		check: checkCounter,
	},
	{
		Name: "race-keys-apart",
		Text: "Writers of different keys do not make each other's writes fail.",
		check: func(p *probe) {
			const writers, writes = 8, 10
			errs := concurrently(writers, func(i int) error {
				version := ""
				for n := range writes {
					var err error
					if version, err = p.store.Write(p.ctx(), key(i), []byte(strconv.Itoa(n)), version); err != nil {
						return err
					}
				}
				return nil
			})
			for i, err := range errs {
				require.NoError(p, err)
				p.requireStored(key(i), strconv.Itoa(writes-1), "")
			}
		},
	},
	{
		Name:  "race-readers",
		Text:  "A reader beside a writer sees the old document or the new one, whole, and never none.",
		check: checkReaders,
	},
}

// contenders is how many goroutines compete.
const contenders = 8

// concurrently calls f in n goroutines and returns what each returned.
func concurrently(n int, f func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	group.Wait()
	return errs
}

// checkOneWins lets contenders write with one expected version, half of them through another opening, and returns the new
// one.
func (p *probe) checkOneWins(k, expected string) string {
	stores := []docstore.Store{p.store, p.other()}
	versions := make([]string, contenders)
	content := func(i int) string { return fmt.Sprintf("after %q by %d", expected, i) }
	errs := concurrently(contenders, func(i int) (err error) {
		versions[i], err = stores[i%len(stores)].Write(p.ctx(), k, []byte(content(i)), expected)
		return err
	})
	winner := -1
	for i, err := range errs {
		if err == nil {
			require.Equal(p, -1, winner, "two writes with one expected version succeeded")
			winner = i
		}
	}
	require.NotEqual(p, -1, winner, "no write succeeded: %v", errs[0])
	for i, err := range errs {
		if i != winner {
			p.requireConflict(err, k, expected, versions[winner])
		}
	}
	p.requireStored(k, content(winner), versions[winner])
	return versions[winner]
}

func checkDeleteOrWrite(p *probe) {
	for round := range 10 {
		k := key(round)
		version := p.create(k, "start")
		errs := concurrently(2, func(i int) error {
			if i == 0 {
				return p.store.Delete(p.ctx(), k, version)
			}
			_, err := p.store.Write(p.ctx(), k, []byte("written"), version)
			return err
		})
		deleted, written := errs[0], errs[1]
		if deleted == nil {
			p.requireConflict(written, k, version, "")
			p.requireAbsent(k)
			continue
		}
		require.NoError(p, written, "after the delete failed with: %v", deleted)
		require.ErrorIs(p, deleted, docstore.ErrConflict)
		p.requireStored(k, "written", "")
	}
}

func checkCounter(p *probe) {
	const additions = 10
	stores := []docstore.Store{p.store, p.other()}
	errs := concurrently(contenders, func(i int) error {
		for range additions {
			if err := increment(p.ctx(), stores[i%len(stores)], key(1)); err != nil {
				return err
			}
		}
		return nil
	})
	for _, err := range errs {
		require.NoError(p, err)
	}
	p.requireStored(key(1), strconv.Itoa(contenders*additions), "")
}

// increment adds one to the number in the document of k, however often it must start again.
func increment(ctx context.Context, store docstore.Store, k string) error {
	for {
		content, version, err := store.Read(ctx, k)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		n := 0
		if err == nil {
			if n, err = strconv.Atoi(string(content)); err != nil {
				return err
			}
		}
		runtime.Gosched() // so that others get in between, also where a call takes no time
		_, err = store.Write(ctx, k, []byte(strconv.Itoa(n+1)), version)
		if !errors.Is(err, docstore.ErrConflict) {
			return err
		}
	}
}

func checkReaders(p *probe) {
	const writes = 20
	size := min(p.opts.MaxBytes, 1<<16)
	contents := []string{text(size), text(size - 1)}
	version := p.create(key(1), contents[0])
	other := p.other()
	stop := make(chan struct{})
	errs := concurrently(3, func(i int) (err error) {
		if i > 0 {
			return watch(p.ctx(), other, contents, stop)
		}
		defer close(stop)
		for n := range writes {
			if version, err = p.store.Write(p.ctx(), key(1), []byte(contents[(n+1)%2]), version); err != nil {
				return err
			}
		}
		return nil
	})
	for _, err := range errs {
		require.NoError(p, err)
	}
}

// watch reads until stop is closed and returns an error when it sees something else than one of contents.
func watch(ctx context.Context, store docstore.Store, contents []string, stop <-chan struct{}) error {
	for {
		content, _, err := store.Read(ctx, key(1))
		if err != nil {
			return err
		}
		if !slices.Contains(contents, string(content)) {
			return fmt.Errorf("read neither the old nor the new document but %s", describe(string(content)))
		}
		select {
		case <-stop:
			return nil
		default:
		}
	}
}
