package state

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHoldersAreReadFromTheStackInnermostFirst(t *testing.T) {
	t.Parallel()
	require.Empty(t, holdersOnStack())
	for _, h := range []holder{1, 0x012345, 0x6789AB, 0xCDEF10, 0xFFFFFF, 0x100000, newHolder()} {
		ran := false
		h.run(func() {
			ran = true
			require.Equal(t, []holder{h}, holdersOnStack())
			deep(300, func() { require.Equal(t, []holder{h}, holdersOnStack()) })
			holder(0x42).run(func() { require.Equal(t, []holder{0x42, h}, holdersOnStack()) })
			other := make(chan []holder)
			go func() { other <- holdersOnStack() }()
			require.Empty(t, <-other, "another goroutine")
		})
		require.True(t, ran)
		require.Empty(t, holdersOnStack())
	}
}

func TestEveryDigitHasASpellerOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[uintptr]bool{}
	for _, entry := range entries {
		require.NotZero(t, entry)
		seen[entry] = true
	}
	require.Len(t, seen, 1<<digitBits)
}

func TestHoldersAreReadAtAnyDepthAndFromManyGoroutines(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			var nested func(outer []holder)
			nested = func(outer []holder) {
				assert.Equal(t, outer, holdersOnStack())
				if len(outer) == 12 {
					return
				}
				h := newHolder()
				deep(200, func() { h.run(func() { nested(append([]holder{h}, outer...)) }) })
			}
			nested(nil)
		})
	}
	wg.Wait()
}

// deep calls fn below n more frames.
func deep(n int, fn func()) {
	if n == 0 {
		fn()
		return
	}
	deep(n-1, fn)
}

func TestAHolderIsReadInADeferredCallWhileAPanicUnwinds(t *testing.T) {
	t.Parallel()
	h := newHolder()
	require.PanicsWithValue(t, "boom", func() {
		h.run(func() {
			defer func() { require.Equal(t, []holder{h}, holdersOnStack()) }()
			panic("boom")
		})
	})
	require.Empty(t, holdersOnStack())
}

func TestLiveHoldersDiffer(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[holder]bool{0: true}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				h := newHolder()
				mu.Lock()
				assert.False(t, seen[h])
				seen[h] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func BenchmarkHolder(b *testing.B) {
	b.Run("run", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			newHolder().run(func() {})
		}
	})
	b.Run("read", func(b *testing.B) {
		newHolder().run(func() {
			b.ReportAllocs()
			for b.Loop() {
				if len(holdersOnStack()) != 1 {
					b.Fatal("not read")
				}
			}
		})
	})
}
