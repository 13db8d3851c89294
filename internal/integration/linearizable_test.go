package integration_test

import (
	"testing"

	"github.com/recollect-go/recollect/internal/integration/linear"
	"github.com/stretchr/testify/require"
)

// processes is how many stores share a storage in the concurrent tests.
const processes = 4

// testLinearizable guards that the answers of concurrent clients in several processes are those of one client after another.
func testLinearizable(t *testing.T, e engine) {
	plan := linear.Full
	if testing.Short() {
		plan.Operations /= 10
	}
	history := linear.Record(t.Context(), e.open(t, processes), plan)
	t.Log(history)
	require.Empty(t, history.Failures())
	require.GreaterOrEqual(t, history.Operations(), plan.Operations)
	done, conflicts, unknowns := history.Count()
	require.NotZero(t, done)
	require.NotZero(t, conflicts, "the clients never met, so the run proves nothing")
	require.Zero(t, unknowns, "nothing was cut, so no outcome is unknown")
	require.NoError(t, history.Check())
}

// testDisturbed guards what a lost connection or a killed process may do: an acknowledged write stays, a conflict changed
// nothing, an unknown outcome is reported as one and happened once or not at all.
func testDisturbed(t *testing.T, e engine) {
	d := e.disturb(t)
	cuts := 25
	if testing.Short() {
		cuts = 10
	}
	plan := linear.Plan{Clients: 8, Keys: 4, Operations: 10_000, Enough: func() bool { return d.count() >= cuts }}
	history := linear.Record(t.Context(), d.stores, plan)
	d.stop()
	history.ReadAll(t.Context(), d.calm, plan)
	t.Logf("%v; %d cuts or kills", history, d.count())
	require.GreaterOrEqual(t, d.count(), cuts, "too few cuts to prove anything")
	done, _, _ := history.Count()
	require.Greater(t, done, plan.Keys, "nothing but the reads of what is left came through, so the run proves nothing")
	require.NoError(t, history.Check())
}
