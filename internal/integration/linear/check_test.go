package linear_test

import (
	"testing"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/integration/linear"
	"github.com/recollect-go/recollect/internal/leak"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { leak.Main(m) }

// plan is small enough to be quick and large enough to catch every broken store below in one run.
var plan = linear.Plan{Clients: 8, Keys: 2, Operations: 4000}

func TestACorrectStoreIsLinearizable(t *testing.T) {
	t.Parallel()
	history := linear.Record(t.Context(), []docstore.Store{newStore()}, plan)
	require.Empty(t, history.Failures())
	require.Equal(t, plan.Operations, history.Operations())
	require.NoError(t, history.Check())
}

func TestALostReplyIsLinearizable(t *testing.T) {
	t.Parallel()
	store := newStore()
	store.loseEvery = 50
	history := linear.Record(t.Context(), []docstore.Store{store}, plan)
	_, _, unknowns := history.Count()
	require.NotZero(t, unknowns)
	require.NoError(t, history.Check())
}

func TestABrokenStoreIsCaught(t *testing.T) {
	t.Parallel()
	for name, breakStore := range map[string]func(*store){
		"last writer wins":                    func(s *store) { s.blind = true },
		"a conflict reported after the write": func(s *store) { s.lateConflict = true },
		"a read of an earlier value":          func(s *store) { s.staleReads = true },
		"an unknown outcome told as conflict": func(s *store) { s.loseEvery, s.lostIsConflict = 20, true },
		"an acknowledged write that is lost":  func(s *store) { s.dropEvery = 20 },
		"a lost write applied twice":          func(s *store) { s.loseEvery, s.repeat = 20, true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := newStore()
			breakStore(broken)
			history := linear.Record(t.Context(), []docstore.Store{broken}, plan)
			require.Error(t, history.Check(), "%v", history)
		})
	}
}
