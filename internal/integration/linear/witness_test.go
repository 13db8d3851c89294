package linear

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// TestAWitnessIsFoundExactlyWhereThereIsOne guards that the search misses no order and invents none.
func TestAWitnessIsFoundExactlyWhereThereIsOne(t *testing.T) {
	t.Parallel()
	verdicts := map[bool]int{}
	for seed := range uint64(4000) {
		history := invented(rand.New(rand.NewPCG(seed, 1)))
		want := porcupine.CheckOperations(model, history)
		sequence, got := witness(history)
		require.Equal(t, want, got, "seed %d: %+v", seed, history)
		if got {
			require.True(t, porcupine.CheckOperations(model, sequence), "seed %d: %+v", seed, sequence)
		}
		verdicts[want]++
	}
	require.Greater(t, verdicts[true], 200)
	require.Greater(t, verdicts[false], 200)
}

// invented returns a short history of one document. Its answers are those of one order; in most histories the times of
// some operations are then moved, so that no order may be left.
func invented(random *rand.Rand) []porcupine.Operation {
	var history []porcupine.Operation
	state, made := absent, []call{{}}
	for i := range 14 {
		c := call{key: "k", kind: kind(random.IntN(3)), expected: made[max(0, len(made)-1-random.IntN(3))].content}
		told := done
		applies := state == c.expected || c.kind == remove && state == absent
		switch {
		case c.kind == read:
			c.expected, c.content = "", state
		case c.kind == write:
			c.content = fmt.Sprint("content ", i)
		}
		switch {
		case c.kind == read:
		case !applies:
			told = conflicted
		default:
			state = c.content
			made = append(made, c)
		}
		at, end := int64(100*i), int64(1<<40)
		if c.kind == read || random.IntN(10) > 0 {
			end = at + random.Int64N(300)
		} else {
			told = unknown
		}
		history = append(history, porcupine.Operation{
			ClientId: i, Input: c, Output: told, Call: at - random.Int64N(300), Return: end,
		})
	}
	for range random.IntN(4) {
		op := &history[random.IntN(len(history))]
		if shift := random.Int64N(1000) - 500; op.Output != unknown {
			op.Call, op.Return = op.Call+shift, op.Return+shift
		}
	}
	return history
}
