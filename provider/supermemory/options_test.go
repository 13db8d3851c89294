package supermemory_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/supermemory"
)

func TestNewListsEveryProblem(t *testing.T) {
	t.Parallel()
	_, err := supermemory.New(nil, &supermemory.Options{
		ContainerTagPrefix: "a b", MaxRecallCharacters: 1, EntityContext: strings.Repeat("x", 1101), TaskType: "x", Dreaming: "x",
		Metadata: map[string]any{"m": struct{}{}, "n": math.NaN(), "f\xff": "x", "l": []string{"\xc3", "\xa4"}}, BaseURL: "https://user:pass@x", Timeout: -1, Retry: supermemory.Retry{Attempts: -1},
	})
	for _, part := range []string{"API key", "ContainerTagPrefix", "MaxRecallCharacters", "EntityContext", "TaskType", "Dreaming", `"m"`, `"n"`, `"f`, `"l"`, "address", "limit", "attempts"} {
		assert.ErrorContains(t, err, part)
	}
	assert.NotContains(t, err.Error(), "pass@")
	secret, err := supermemory.APIKey(apiKey)
	require.NoError(t, err)
	for _, prefix := range []string{"a_extraction", "_extraction", strings.Repeat("a", 36), "ä"} {
		_, err = supermemory.New(secret, &supermemory.Options{ContainerTagPrefix: prefix})
		require.Error(t, err, prefix)
	}
	p, err := supermemory.New(secret, nil)
	require.NoError(t, err)
	_, err = p.Attach(memory.SlotInfo{Name: strings.Repeat("a", 50)})
	require.ErrorContains(t, err, "tool")
}

func TestTheEnvironmentNamesTheAccount(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	env := map[string]string{}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	_, err := supermemory.NewFromEnvironment(lookup, nil)
	require.ErrorContains(t, err, "SUPERMEMORY_API_KEY")
	env = map[string]string{"SUPERMEMORY_API_KEY": " " + apiKey + "\n", "SUPERMEMORY_BASE_URL": " " + s.URL + "/ "}
	p, err := supermemory.NewFromEnvironment(lookup, &supermemory.Options{HTTPClient: s.Client()})
	require.NoError(t, err)
	assert.Empty(t, recall(t, handlers(t, p), ""))
	_, err = supermemory.APIKey("a b")
	require.Error(t, err)
}
