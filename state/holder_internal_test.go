package state

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHoldersAreReadFromTheStackInnermostFirst(t *testing.T) {
	t.Parallel()
	require.Empty(t, holdersOnStack())
	for _, h := range []holder{1, 0x01234567, 0x89ABCDEF, 0xFFFFFFFF, 0x10000000, newHolder()} {
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

func deep(n int, fn func()) {
	if n == 0 {
		fn()
		return
	}
	deep(n-1, fn)
	_ = context.Background()
}

func TestAPanicPassesThroughAHolder(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "boom", func() { newHolder().run(func() { panic("boom") }) })
	require.Empty(t, holdersOnStack())
}
