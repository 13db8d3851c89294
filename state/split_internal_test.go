package state

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzSplitObject: an object is split as the decoder of encoding/json splits it.
func FuzzSplitObject(f *testing.F) {
	for _, seed := range []string{
		`{}`, " \t{ }\r\n", `{"a":1}`, `{ "a" : -1.5e+3 , "b" : "x\"}\\" , "c":[{"d":"]"},[ ],{}] ,"":null}`, `{"a":true,"\u0061":false}`,
		`{"\ud800":"\ud800","é\n":{"a":{"a":{"a":[1,2]}}}}`, `[]`, `"{"`, `1`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		want, twice, ok := splitByDecoder(t, raw)
		got, err := splitObject(raw)
		if !ok || twice {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.Equal(t, want, got.members)
	})
}

func splitByDecoder(t *testing.T, raw []byte) (members []member, twice, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	start, err := decoder.Token()
	require.NoError(t, err)
	if start != json.Delim('{') {
		return nil, false, false
	}
	seen := map[string]bool{}
	for decoder.More() {
		name, err := decoder.Token()
		require.NoError(t, err)
		m := member{name: name.(string)}
		require.NoError(t, decoder.Decode(&m.raw))
		twice = twice || seen[m.name]
		seen[m.name] = true
		members = append(members, m)
	}
	return members, twice, true
}
