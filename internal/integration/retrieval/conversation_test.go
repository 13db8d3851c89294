package retrieval

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEvidenceIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	there := map[string]bool{"D8:6": true, "D9:17": true, "D11:26": true, "D30:5": true}
	evidence, unknown := evidenceIn(there, []string{"D8:6; D9:17", "D:11:26", "D30:05", "D8:6", "D"})
	require.Equal(t, []string{"D8:6", "D9:17", "D11:26", "D30:5"}, evidence)
	require.Equal(t, 1, unknown)
	evidence, unknown = evidenceIn(there, []string{"D1:1"})
	require.Empty(t, evidence, "a turn that is not there")
	require.Equal(t, 1, unknown)
}

func TestTheShippedSetIsRead(t *testing.T) {
	t.Parallel()
	conversations, skipped, err := Load("testdata/shipped.json")
	require.NoError(t, err)
	require.Zero(t, *skipped)
	require.Len(t, conversations, 2)
	c := conversations[0]
	require.Len(t, c.Turns, 73)
	require.Equal(t, "D1:4", c.Turns[3].ID)
	require.Equal(t, "Tobias", c.Turns[3].Speaker)
	require.Equal(t, "2024-03-04 10:12", c.Turns[3].Said.Format("2006-01-02 15:04"))
	require.Contains(t, c.Turns[3].Caption, "gnarled")
	require.Equal(t, []string{"D1:4"}, c.Questions[0].Evidence)
}

func TestOddEntriesAreSkippedAndCounted(t *testing.T) {
	t.Parallel()
	conversations, skipped, err := Load("testdata/odd.json")
	require.NoError(t, err)
	require.Len(t, conversations, 2)
	c := &conversations[0]
	var ids, sessions []string
	for _, turn := range c.Turns {
		ids, sessions = append(ids, turn.ID), append(sessions, turn.Session)
	}
	require.Equal(t, []string{"D1:1", "D1:2", "D4:1", "D10:1"}, ids, "sessions of which numbers are missing are read, in their order")
	require.Equal(t, []string{"session_1", "session_1", "session_4", "session_10"}, sessions)
	require.Equal(t, "2023-05-08 13:56", c.Turns[0].Said.Format("2006-01-02 15:04"))
	require.True(t, c.Turns[2].Said.IsZero())
	require.Equal(t, []Question{
		{"What did Mirela plant?", 4, []string{"D1:1", "D4:1"}},
		{"When was there fruit?", 2, []string{"D4:1"}},
		{"What was made?", 1, []string{"D10:1"}},
	}, c.Questions)
	require.Equal(t, Skipped{Turns: 3, Dates: 1, Questions: 7, Evidence: 5}, *skipped)

	store := openStore(t)
	for i := range conversations {
		key := keyOf(i, conversations[i].ID)
		require.Len(t, index(t, store, key, &conversations[i]), len(conversations[i].Turns), "samples of one name are apart")
	}
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
