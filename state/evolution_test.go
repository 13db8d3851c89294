package state_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/state"
)

// sample returns a checkpoint of a released format.
func sample(t testing.TB, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(content)
}

// idOf returns whose checkpoint it is.
func idOf(t testing.TB, checkpoint string) state.ID {
	t.Helper()
	var head struct{ Session, Node string }
	require.NoError(t, json.Unmarshal([]byte(checkpoint), &head))
	return state.ID(head)
}

// load opens the session of a checkpoint over a store that holds it.
func load(t testing.TB, checkpoint string) (*bundle, error) {
	t.Helper()
	store, id := state.InMemory(), idOf(t, checkpoint)
	_, err := store.Write(t.Context(), key(t, id), []byte(checkpoint), "")
	require.NoError(t, err)
	s, err := state.Open(t.Context(), store, id, nil)
	if err != nil {
		return nil, err
	}
	return &bundle{store: store, session: s, ctx: s.Context(t.Context())}, nil
}

type turnCalls struct{ Calls int }

func TestSamplesOfFormatVersion1AreRead(t *testing.T) {
	t.Parallel()
	samples, err := filepath.Glob("testdata/v1/*.json")
	require.NoError(t, err)
	require.Len(t, samples, 5, "samples stay for good; add the new one here")
	for _, name := range samples {
		_, err := load(t, sample(t, strings.TrimPrefix(name, "testdata/")))
		require.NoError(t, err, name)
	}

	b, err := load(t, sample(t, "v1/full.json"))
	require.NoError(t, err)
	require.Equal(t, "turn_3", b.session.Turn())
	require.NoError(t, b.session.BeginTurn(b.ctx, "turn_3"))
	require.Equal(t, incident{"INC-7", []string{"db", "<api>"}}, get(t, b.ctx, define(t, "opsbot.incident", zero[incident])))
	require.Equal(t, 12, get(t, b.ctx, define(t, "opsbot.visits", zero[int])))
	require.Equal(t, turnCalls{2}, get(t, b.ctx, define(t, "opsbot.turn", zero[turnCalls], state.PerTurn())))

	never := func() { panic("it is completed") }
	first, err := state.Step(b.ctx, "tool", func(context.Context) (incident, error) { never(); return incident{}, nil })
	require.NoError(t, err)
	require.Equal(t, incident{ID: "INC-7"}, first)
	second, err := state.Step(b.ctx, "tool", func(context.Context) (int, error) { never(); return 0, nil })
	require.NoError(t, err)
	require.Equal(t, 3, second)

	raw, err := b.session.Attachment(b.ctx, "memory")
	require.NoError(t, err)
	require.JSONEq(t, `{"history":[{"role":"user","content":"记住 \"x\""}]}`, string(raw))
	raw, err = b.session.Attachment(b.ctx, "notes")
	require.NoError(t, err)
	require.Equal(t, "null", string(raw))

	outside, err := b.session.Child(b.ctx, "writer")
	require.NoError(t, err)
	require.Equal(t, state.ID{Session: "child1_4tAi3fy-VZZpePW9zlcsKZen14OYTlwqoDzIwLsMC1Q", Node: "writer"}, outside.ID(), "ids of children never change")

	b, err = load(t, sample(t, "v1/seeded.json"))
	require.NoError(t, err)
	require.NoError(t, b.session.BeginTurn(b.ctx, "turn_1"))
	outside, err = b.session.Child(b.ctx, "writer")
	require.NoError(t, err)
	require.Equal(t, state.ID{Session: "child1_ncNVg0UK97b1HhWC4SFUuUoUzZgp6kT1sRb0wAw1M50", Node: "writer"}, outside.ID(), "nor do those below a seed")
	update(t, b.ctx, define(t, "opsbot.visits", zero[int]), increment)
	require.Contains(t, b.stored(t), `"seed":"PZ6QF3SJ2KD7WNXB4MTLHA5RVE"`)
}

func TestWhatThisBuildDoesNotKnowSurvivesARewrite(t *testing.T) {
	t.Parallel()
	b, err := load(t, sample(t, "v1/unknown.json"))
	require.NoError(t, err)
	require.NoError(t, b.session.BeginTurn(b.ctx, "turn_3"))
	require.NoError(t, step(b.ctx, "next", func(ctx context.Context) error {
		update(t, ctx, define(t, "opsbot.visits", zero[int]), increment)
		return nil
	}))
	stored := b.stored(t)
	for _, kept := range []string{
		`"other.agent":{"kept":[1.50,"\u00e9",{"deep":true}]}`,
		`{"name":"model","result":"checking","spent":{"tokens":1200}}`,
		`{"node":"writer","index":0,"number":0,"color":"red"}`,
		`"priority":[1]`,
		`"lease":{"until":"2026-01-02T03:05:05Z"}`,
		`"zone":null`,
	} {
		require.Contains(t, stored, kept)
	}
	require.Contains(t, stored, `"opsbot.visits":13`)
}

func TestACheckpointOfANewerFormatIsRefusedAndNotTouched(t *testing.T) {
	t.Parallel()
	newer := strings.Replace(sample(t, "v1/full.json"), `"version":1`, `"version":2`, 1)
	_, err := load(t, newer)
	require.ErrorIs(t, err, state.ErrNewerFormat)
	require.ErrorContains(t, err, "version 2")
	require.ErrorContains(t, err, "up to version 1")
	_, err = load(t, `{"format":"recollect-state","version":3,"session":"s","entirely":"different"}`)
	require.ErrorIs(t, err, state.ErrNewerFormat)
}

func TestAMalformedCheckpointIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	full := sample(t, "v1/full.json")
	for name, c := range map[string]struct{ old, new, reason string }{
		"not JSON":            {`{"format"`, `{"format`, "not a JSON object"},
		"torn":                {`"children":{"reader":5,"writer":1}}`, `"chil`, "not a JSON object"},
		"trailing data":       {`"writer":1}}`, `"writer":1}} {}`, "not a JSON object"},
		"invalid UTF-8":       {"checking", "\xff", "UTF-8"},
		"other format":        {`recollect-state`, `something-else`, "format"},
		"version not integer": {`"version":1`, `"version":1.5`, "version"},
		"version zero":        {`"version":1`, `"version":0`, "version"},
		"version missing":     {`"version":1,`, ``, "version"},
		"node missing":        {`"node":"__root__",`, ``, `"node" is missing`},
		"commit missing":      {`"commit":"2XQ7A4ZLMR3KTW6B5YJHVN2DCF",`, ``, `"commit" is missing`},
		"commit empty":        {`2XQ7A4ZLMR3KTW6B5YJHVN2DCF`, ``, `commit is empty`},
		"commit null":         {`"commit":"2XQ7A4ZLMR3KTW6B5YJHVN2DCF"`, `"commit":null`, `"commit" is of the wrong kind`},
		"time":                {`2026-01-02T`, `2026-13-02T`, "updatedAt"},
		"values not object":   {`"values":{"opsbot.incident"`, `"values":[],"x":{"opsbot.incident"`, "values"},
		"name twice":          {`"opsbot.visits":12`, `"opsbot.incident":12`, "twice"},
		"empty name":          {`"opsbot.visits":12`, `"":12`, "empty"},
		"member twice":        {`"attachments":`, `"values":{},"attachments":`, "twice"},
		"turn without id":     {`"id":"turn_3",`, ``, `"id" is missing`},
		"turn of empty id":    {`"id":"turn_3"`, `"id":""`, "turn id is empty"},
		"step without result": {`{"name":"model","result":"checking"}`, `{"name":"model"}`, "no result"},
		"step without name":   {`{"name":"model","result":"checking"}`, `{"result":"checking"}`, `"name" is missing`},
		"steps not array":     {`"steps":[`, `"steps":{},"x":[`, `"steps"`},
		"seed not text":       {`"children":{"reader"`, `"seed":1,"children":{"reader"`, "seed"},
		"children not counts": {`{"reader":5,`, `{"reader":-5,`, "count"},
		"child index":         {`"index":0,"number":4`, `"index":"0","number":4`, `"index"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := strings.Replace(full, c.old, c.new, 1)
			require.NotEqual(t, full, broken)
			store := state.InMemory()
			id := state.ID{Session: "s_1"}
			_, err := store.Write(t.Context(), key(t, id), []byte(broken), "")
			require.NoError(t, err)
			_, err = state.Open(t.Context(), store, id, nil)
			require.ErrorIs(t, err, state.ErrMalformed)
			require.ErrorContains(t, err, c.reason)
			require.NotContains(t, err.Error(), "INC-7")
		})
	}
}

func TestACheckpointUnderAnotherSessionsKeyIsRefused(t *testing.T) {
	t.Parallel()
	store := state.InMemory()
	_, err := store.Write(t.Context(), key(t, state.ID{Session: "s_2"}), []byte(sample(t, "v1/full.json")), "")
	require.NoError(t, err)
	_, err = state.Open(t.Context(), store, state.ID{Session: "s_2"}, nil)
	require.ErrorIs(t, err, state.ErrMalformed)
}

func TestAValueThatNoLongerDecodesIsAnErrorThatNamesIt(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for name, c := range map[string]struct {
		stored string
		use    func(t *testing.T, ctx context.Context) error
		reason string
	}{
		"other kind":                {`"` + secret + `"`, reader[int](), "a JSON string where the type has int"},
		"number out of range":       {`4242`, reader[int8](), "a JSON number where the type has int8"},
		"other kind below":          {`{"ID":5}`, reader[incident](), "a JSON number at ID where the type has string"},
		"a member that was removed": {`{"ID":"x","Secret":"hunter2"}`, reader[incident](), `the member "Secret"`},
		"a longer array":            {`{"Kids":[{"Last":[1,2,3,4]}]}`, reader[narrow](), "a shorter array"},
		"a number of more digits":   {`{"Load":4242.123456789}`, reader[narrow](), "fewer digits"},
		"a float for an integer":    {`9007199254740993`, reader[float64](), "fewer digits"},
		"any for an integer":        {`{"list":[9007199254740993]}`, reader[any](), "fewer digits"},
		"a float of more digits":    {`[0.10000000000000000001]`, reader[[]float64](), "fewer digits"},
		"custom":                    {`"hunter2"`, reader[failingDecode](), "does not fit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := load(t, strings.Replace(sample(t, "v1/full.json"), `"opsbot.visits":12`, `"test.old":`+c.stored, 1))
			require.NoError(t, err)
			err = c.use(t, b.ctx)
			require.ErrorIs(t, err, state.ErrDecode)
			require.ErrorContains(t, err, `handle "test.old"`)
			require.ErrorContains(t, err, c.reason)
			require.ErrorContains(t, err, "state.Migrated", "it says what helps")
			require.NotContains(t, err.Error(), secret)
			require.NotContains(t, err.Error(), "4242")
			update(t, b.ctx, counter(t), increment)
			require.Contains(t, b.stored(t), `"test.old":`+c.stored, "it stays")
		})
	}
}

// narrow is what encoding/json would decode by leaving something out.
type narrow struct {
	Kids []narrow
	Last [3]int
	Load float32
}

func TestAValueThatAnArrayCanHoldIsRead(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]narrow{
		`{"Last":[1,2]}`:                     {Last: [3]int{1, 2, 0}},
		`{"kids":null,"Last":null}`:          {},
		`{"Load":0.1,"Kids":[{"Load":1e2}]}`: {Load: 0.1, Kids: []narrow{{Load: 100}}},
	} {
		b, err := load(t, strings.Replace(sample(t, "v1/full.json"), `"opsbot.visits":12`, `"test.old":`+stored, 1))
		require.NoError(t, err)
		require.Equal(t, want, get(t, b.ctx, define(t, "test.old", zero[narrow])), stored)
	}
}

func TestANumberThatAFloatCanHoldIsRead(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]float64{
		"9007199254740992": 1 << 53, "1.50": 1.5, "-0": math.Copysign(0, -1), "1E2": 100, "1e21": 1e21, "5e-324": 5e-324,
		"1.7976931348623157e+308": math.MaxFloat64,
	} {
		values := `"test.old":` + stored + `,"test.older":` + stored
		b, err := load(t, strings.Replace(sample(t, "v1/full.json"), `"opsbot.visits":12`, values, 1))
		require.NoError(t, err)
		require.Equal(t, want, get(t, b.ctx, define(t, "test.old", zero[float64])), stored)
		require.Equal(t, any(want), get(t, b.ctx, define(t, "test.older", zero[any])), stored)
	}
}

// wide is narrow with a longer array.
type wide struct {
	Kids []wide
	Last [4]int
}

// TestAResultOfARecursiveTypeIsReadWhole: in a session that knows the type already as a part of another.
func TestAResultOfARecursiveTypeIsReadWhole(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	_, err := state.Step(b.ctx, "one", func(context.Context) (wide, error) { return wide{}, nil })
	require.NoError(t, err)
	_, err = state.Step(b.ctx, "all", func(context.Context) ([]wide, error) { return []wide{{Last: [4]int{1, 2, 3, 4}}}, nil })
	require.NoError(t, err)

	b = reopen(t, b.store, "t1")
	_, err = state.Step(b.ctx, "one", func(context.Context) (narrow, error) { panic("it is completed") })
	require.ErrorIs(t, err, state.ErrDecode)
	_, err = state.Step(b.ctx, "all", func(context.Context) ([]narrow, error) { panic("it is completed") })
	require.ErrorIs(t, err, state.ErrDecode)
}

type failingDecode struct{}

func (*failingDecode) UnmarshalJSON(raw []byte) error {
	return errors.New("cannot read " + string(raw))
}

func reader[T any]() func(t *testing.T, ctx context.Context) error {
	return func(t *testing.T, ctx context.Context) error {
		h := define(t, "test.old", zero[T])
		_, err := h.Get(ctx)
		_, updateErr := h.Update(ctx, func(v T) (T, error) { return v, nil })
		require.Equal(t, err.Error(), updateErr.Error())
		return err
	}
}

func TestAMigrationReadsWhatTheTypeCannot(t *testing.T) {
	t.Parallel()
	old := strings.Replace(sample(t, "v1/full.json"), `"opsbot.visits":12`, `"test.old":"INC-9"`, 1)
	calls := 0
	migrated := state.Migrated(func(raw json.RawMessage) (json.RawMessage, error) {
		calls++
		return json.Marshal(map[string]json.RawMessage{"ID": raw})
	})
	h := define(t, "test.old", zero[incident], migrated)
	b, err := load(t, old)
	require.NoError(t, err)
	for range 3 {
		require.Equal(t, incident{ID: "INC-9"}, get(t, b.ctx, h))
	}
	require.Equal(t, 1, calls)
	require.Equal(t, old, b.stored(t), "a read does not rewrite")

	update(t, b.ctx, h, func(v incident) (incident, error) { v.Checked = []string{"db"}; return v, nil })
	require.Contains(t, b.stored(t), `"test.old":{"ID":"INC-9","Checked":["db"]}`)
	again, err := load(t, b.stored(t))
	require.NoError(t, err)
	require.Equal(t, incident{"INC-9", []string{"db"}}, get(t, again.ctx, h))
	require.Equal(t, 1, calls, "what the type can hold is not migrated")
}

func TestAMigrationThatFailsIsAnErrorThatNamesTheHandle(t *testing.T) {
	t.Parallel()
	old := strings.Replace(sample(t, "v1/full.json"), `"opsbot.visits":12`, `"test.old":"INC-9"`, 1)
	for name, migrate := range map[string]func(json.RawMessage) (json.RawMessage, error){
		"error":       func(json.RawMessage) (json.RawMessage, error) { return nil, errOutage },
		"wrong again": func(json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`[1]`), nil },
		"nothing":     func(json.RawMessage) (json.RawMessage, error) { return nil, nil },
		"two values":  func(json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`{} {}`), nil },
		"vandal":      func(raw json.RawMessage) (json.RawMessage, error) { clear(raw); return raw, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := load(t, old)
			require.NoError(t, err)
			_, err = define(t, "test.old", zero[incident], state.Migrated(migrate)).Get(b.ctx)
			require.ErrorIs(t, err, state.ErrDecode)
			require.ErrorContains(t, err, "migration")
			require.ErrorContains(t, err, `"test.old"`)
			require.Equal(t, "INC-9", get(t, b.ctx, define(t, "test.old", zero[string])), "the stored value is untouched")
		})
	}
}
