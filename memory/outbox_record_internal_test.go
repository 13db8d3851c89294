package memory

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func outboxSample(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/outbox_v1.json")
	require.NoError(t, err)
	return text
}

func TestOutboxRecordOfVersion1IsRead(t *testing.T) {
	t.Parallel()
	r, err := decodeOutboxRecord(outboxSample(t))
	require.NoError(t, err)
	require.Equal(t, "memout1_HWLzO14l5YLmeY23q3-AC88J-HNB_8xElZNM2u64ILk", r.key())
	require.Equal(t, "u_42", r.session.Current.ID)
	require.Nil(t, r.session.Initiator.Issuer)
	require.Equal(t, "2026-11-30T06:00:00.123456789Z", r.recordedAt.Format("2006-01-02T15:04:05.999999999Z07:00"))
	require.Len(t, r.messages, 2)
	require.Equal(t, []Message{r.messages[0]}, r.turn.Input)
	require.Len(t, r.captures, 2)
	require.EqualValues(t, 2, r.captures[0].attempts)
	require.Equal(t, "memscope1_", r.captures[0].lock.keys.Key[:10])
}

func TestOutboxRecordKeepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	r, err := decodeOutboxRecord(outboxSample(t))
	require.NoError(t, err)
	r.captures[0].claim(r.recordedAt)
	r.drop(func(c *pendingCapture) bool { return c.lock.slot == "gone" })
	text := string(r.append(nil))
	require.Contains(t, text, `"later":{"kept":[1.50,"\u00e9"]}`)
	require.Contains(t, text, `"initiator":{"principalType":"user","authenticator":"app","principalId":"u_1","attributes":{}},"later":1}`)
	require.Contains(t, text, `"captures":[{"slot":"p","namespace":"app","scope":["acme","u_42"],"later":true,"attempts":3,"due":"2026-11-30T06:00:00.123456789Z"}]}`)
}

func TestOutboxRecordRefusesWhatItCannotKeep(t *testing.T) {
	t.Parallel()
	sample := string(outboxSample(t))
	for name, c := range map[string]struct {
		old, new string
		want     error
	}{
		"newer version":    {`"version": 1`, `"version": 2`, ErrVersion},
		"another format":   {`recollect-outbox`, `recollect-session`, ErrMalformed},
		"no session":       {`"session": {`, `"other": {`, ErrMalformed},
		"no turn":          {`"id": "turn_1"`, `"id": ""`, ErrMalformed},
		"ambiguous turn":   {`"id": "turn_1"`, `"id": "a:b"`, ErrMalformed},
		"no time":          {`"recordedAt"`, `"other"`, ErrMalformed},
		"year":             {`"2026-11-30T06:01:00Z"`, `"0000-01-01T00:00:00+01:00"`, ErrMalformed},
		"words":            {`"2026-11-30T06:00:00.123456789Z"`, `"acme at six"`, ErrMalformed},
		"no due":           {`, "due": "2026-11-30T06:01:00Z"`, ``, ErrMalformed},
		"no input":         {`"input": [0]`, `"other": [0]`, ErrMalformed},
		"input elsewhere":  {`"input": [0]`, `"input": [2]`, ErrMalformed},
		"slot twice":       {`"slot": "gone"`, `"slot": "p"`, ErrMalformed},
		"slot name":        {`"slot": "gone"`, `"slot": "eve"`, ErrMalformed},
		"no scope":         {`"scope": "shared"`, `"scope": null`, ErrMalformed},
		"attribution":      {`"id": 7`, `"metadata": {"eve.memory": {}}`, ErrMalformed},
		"attempts":         {`"attempts": 2`, `"attempts": -1`, ErrMalformed},
		"member twice":     {`"later": 1`, `"id": "x"`, ErrMalformed},
		"more than JSON":   {`"format"`, `} {"format"`, ErrMalformed},
		"no captures list": {`"captures": [`, `"captures": 1, "other": [`, ErrMalformed},
	} {
		require.Contains(t, sample, c.old, name)
		_, err := decodeOutboxRecord([]byte(strings.Replace(sample, c.old, c.new, 1)))
		require.ErrorIs(t, err, c.want, name)
		require.NotContains(t, err.Error(), "acme", name)
	}
}

func FuzzOutboxRecord(f *testing.F) {
	f.Add(outboxSample(f))
	f.Add([]byte(`{"format":"recollect-outbox","version":1}`))
	f.Add([]byte(`{"format":"recollect-outbox","version":1,"recordedAt":"2026-11-30T06:00:00+14:00","session":{"id":"s","node":"n"},` +
		`"turn":{"id":"t","sequence":0},"messages":[],"input":[],"captures":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeOutboxRecord(data)
		if err != nil {
			require.Nil(t, r)
			return
		}
		text := r.append(nil)
		again, err := decodeOutboxRecord(text)
		require.NoError(t, err)
		require.Equal(t, r.key(), again.key())
		require.True(t, bytes.Equal(text, again.append(nil)))
	})
}
