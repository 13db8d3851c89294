package analysis

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStemsArePublishedOnes(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/english_stems.txt")
	require.NoError(t, err)
	defer file.Close()
	words := 0
	for lines := bufio.NewScanner(file); lines.Scan(); words++ {
		word, want, ok := strings.Cut(lines.Text(), " ")
		require.True(t, ok, lines.Text())
		require.Equal(t, want, string(stem([]byte(word))), word)
	}
	require.Greater(t, words, 1000)
}

// TestExceptionsHavePublishedStems has what the vocabulary of the sample leaves out.
func TestExceptionsHavePublishedStems(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"skis": "ski", "skies": "sky", "dying": "die", "early": "earli", "news": "news", "bias": "bias", // whole words
		"herring": "herring", "earrings": "earring", "exceeds": "exceed", "succeeded": "succeed", "inning": "inning",
	} {
		require.Equal(t, want, string(stem([]byte(word))), word)
	}
}
