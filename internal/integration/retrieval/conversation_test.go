package retrieval

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEvidenceIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	there := map[string]bool{"D8:6": true, "D9:17": true, "D11:26": true, "D30:5": true}
	require.Equal(t, []string{"D8:6", "D9:17", "D11:26", "D30:5"}, evidenceIn(there, []string{"D8:6; D9:17", "D:11:26", "D30:05", "D8:6", "D"}))
	require.Empty(t, evidenceIn(there, []string{"D1:1"}), "a turn that is not there")
}

func TestTheShippedSetIsRead(t *testing.T) {
	t.Parallel()
	conversations, err := Load("testdata/shipped.json")
	require.NoError(t, err)
	require.Len(t, conversations, 2)
	c := conversations[0]
	require.Len(t, c.Turns, 73)
	require.Equal(t, "D1:4", c.Turns[3].ID)
	require.Equal(t, "Tobias", c.Turns[3].Speaker)
	require.Equal(t, "2024-03-04 10:12", c.Turns[3].Said.Format("2006-01-02 15:04"))
	require.Contains(t, c.Turns[3].Caption, "gnarled")
	require.Equal(t, []string{"D1:4"}, c.Questions[0].Evidence)
}

func TestMeasures(t *testing.T) {
	t.Parallel()
	var s Scores
	s.Add([]string{"a", "b", "c"}, []string{"b", "z"})
	s.Add([]string{"a"}, []string{"a"})
	require.Equal(t, []float64{0.5, 1}, []float64{s.Any(1), s.Any(5)})
	require.Equal(t, []float64{0.5, 0.75}, []float64{s.Recall(1), s.Recall(5)})
	require.Equal(t, []float64{0.5, 0.5}, []float64{s.All(1), s.All(5)})
}
