package state_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/state"
)

type node struct {
	Name string
	Next *node
}

type list []any

type hidden struct {
	Shown  int
	secret int
}

type excluded struct {
	Shown int
	Out   string `json:"-"`
}

type (
	left     struct{ X int }
	right    struct{ X int }
	clashing struct {
		left
		right
	}
)

type omitting struct {
	Emptied *[]int   `json:",omitempty"`
	When    whenever `json:",omitzero"`
}

// whenever has zero values that are not all the same.
type whenever struct{ N int }

func (whenever) IsZero() bool { return true }

// oneWay encodes itself and cannot be decoded.
type oneWay struct{ N int }

func (o oneWay) MarshalJSON() ([]byte, error) { return json.Marshal([]int{o.N}) }

// lossy keeps half of itself: a type with its own encoding decides what it is.
type lossy struct{ Kept, Forgotten int }

func (l *lossy) UnmarshalText(text []byte) error { return json.Unmarshal(text, &l.Kept) }
func (l lossy) MarshalText() ([]byte, error)     { return json.Marshal(l.Kept) }

// failing refuses to be encoded.
type failing struct{ Fail bool }

func (f failing) MarshalJSON() ([]byte, error) {
	if f.Fail {
		return nil, errors.New("the secret is hunter2")
	}
	return []byte(`{}`), nil
}

// latin1 encodes itself as what is not UTF-8.
type latin1 string

func (l latin1) MarshalText() ([]byte, error)     { return []byte(l), nil }
func (l *latin1) UnmarshalText(text []byte) error { *l = latin1(text); return nil }

type rawLatin1 string

func (l rawLatin1) MarshalJSON() ([]byte, error) { return []byte(`"` + l + `"`), nil }

// Chain embeds itself.
type Chain struct {
	*Chain
	Link int
}

// tagging has an embedded unexported type with an encoding of its own as a field, which encoding/json cannot call. With
// two embedded encodings it has none itself.
type tagging struct {
	failing `json:"failing"`
	oneWay
}

func nested(levels int) any {
	var v any = "innermost"
	for range levels {
		v = []any{v}
	}
	return v
}

func linked(length int) *node {
	var first *node
	for range length {
		first = &node{Name: "n", Next: first}
	}
	return first
}

type shape interface{ Area() float64 }

type square struct{ Side float64 }

func (s square) Area() float64 { return s.Side * s.Side }

type stringer struct{ hidden }

func refused[T any](value T, path string) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		b := setUp(t, nil)
		h := define(t, "test.refused", zero[*T])
		_, err := h.Update(b.ctx, func(*T) (*T, error) { return &value, nil })
		requireRefused(t, err, path)
		require.ErrorContains(t, err, `handle "test.refused"`)
		require.Nil(t, get(t, b.ctx, h), "the old value stays")

		_, err = state.Step(b.ctx, "result", func(context.Context) (T, error) { return value, nil })
		requireRefused(t, err, path)
		require.ErrorContains(t, err, `step "result"`)

		_, err = define(t, "test.initial", func() T { return value }).Get(b.ctx)
		requireRefused(t, err, path)

		require.NoError(t, step(b.ctx, "after", func(ctx context.Context) error {
			_, err := h.Update(ctx, func(*T) (*T, error) { return &value, nil })
			require.ErrorIs(t, err, state.ErrValue)
			return nil
		}), "the session stays usable")
	}
}

func requireRefused(t *testing.T, err error, path string) {
	t.Helper()
	require.ErrorIs(t, err, state.ErrValue)
	var refused *state.ValueError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, path, refused.Path)
	require.NotContains(t, err.Error(), "hunter2", "an error never shows what the application keeps")
}

func TestAValueThatJSONWouldLoseIsRefusedWithItsPath(t *testing.T) {
	t.Parallel()
	cycle := &node{Name: "a"}
	cycle.Next = &node{Name: "b", Next: cycle}
	selfish := list{1, nil}
	selfish[1] = selfish
	loop := map[string]any{}
	loop["loop"] = map[string]any{"again": loop}
	far := linked(50)
	end := far
	for end.Next != nil {
		end = end.Next
	}
	end.Next = far.Next
	round := &Chain{Link: 1}
	round.Chain = round
	for name, run := range map[string]func(*testing.T){
		"NaN":                           refused(math.NaN(), ""),
		"cycle far below":               refused(far, strings.TrimSuffix(strings.Repeat("Next.", 50), ".")),
		"embedded cycle":                refused(round, "Chain"),
		"embedded own encoding":         refused(tagging{}, "failing"),
		"deep value":                    refused(nested(9001), strings.Repeat("[0]", 333)+"[…"),
		"deep encoding":                 refused(json.RawMessage(strings.Repeat("[", 9001)+strings.Repeat("]", 9001)), ""),
		"long list":                     refused(linked(20_000), strings.Repeat("Next.", 200)[:999]+"…"),
		"nil pointer as a map key":      refused(map[*latin1]int{nil: 1}, ""),
		"infinity in a struct":          refused(struct{ Load []float64 }{[]float64{1, math.Inf(1)}}, "Load[1]"),
		"float32 NaN in a map":          refused(map[string]float32{"ok": 1, "bad": float32(math.NaN())}, `["bad"]`),
		"NaN in an interface":           refused(map[string]any{"list": []any{1.5, math.NaN()}}, `["list"][1]`),
		"channel":                       refused(struct{ C chan int }{make(chan int)}, "C"),
		"nil channel":                   refused(struct{ C chan int }{}, "C"),
		"function":                      refused(struct{ Do func() }{func() {}}, "Do"),
		"function in an interface":      refused([]any{func() {}}, "[0]"),
		"complex number":                refused(struct{ Z complex128 }{1i}, "Z"),
		"pointer cycle":                 refused(cycle, "Next.Next"),
		"slice cycle":                   refused(selfish, "[1]"),
		"map cycle":                     refused(loop, `["loop"]["again"]`),
		"unexported field":              refused(hidden{1, 2}, "secret"),
		"unexported field below":        refused(struct{ List []hidden }{[]hidden{{}, {1, 2}}}, "List[1].secret"),
		"unexported field in interface": refused(map[string]any{"k": hidden{1, 2}}, `["k"].secret`),
		"embedded unexported field":     refused(stringer{hidden{1, 2}}, "hidden.secret"),
		"excluded field":                refused(excluded{1, "out"}, "Out"),
		"two fields of one name":        refused(clashing{left{1}, right{2}}, "left.X"),
		"omitted though not zero":       refused(omitting{When: whenever{1}}, "When.N"),
		"pointer to nil":                refused(struct{ P **int }{new(*int)}, "P"),
		"invalid UTF-8":                 refused(struct{ Text string }{"a\xffb"}, "Text"),
		"invalid UTF-8 in a key":        refused(map[string]int{"a\xff": 1}, `["a\xff"]`),
		"invalid UTF-8 from text":       refused([]latin1{"ok", "a\xff"}, "[1]"),
		"invalid UTF-8 from JSON":       refused([]rawLatin1{"ok", "a\xff"}, "[1]"),
		"invalid raw JSON":              refused(struct{ Raw json.RawMessage }{json.RawMessage("{")}, "Raw"),
		"invalid UTF-8 in raw JSON":     refused(struct{ Raw json.RawMessage }{json.RawMessage("\"\xff\"")}, "Raw"),
		"NaN under an integer key":      refused(map[int]float64{-7: math.NaN()}, "[-7]"),
		"NaN behind embedded pointer":   refused(pointing{&Deep{math.NaN()}}, "Deep.Load"),
		"bool as map key":               refused(struct{ M map[bool]int }{}, "M"),
		"struct as map key":             refused(map[struct{ A int }]int{{1}: 1}, ""),
		"integer beyond 2^53 in any":    refused([]any{int64(1)<<60 + 1}, "[0]"),
		"interface with methods":        refused(struct{ S shape }{square{2}}, "S"),
		"encodes itself one way":        refused(struct{ O oneWay }{oneWay{1}}, "O"),
		"fails to encode":               refused(struct{ F []failing }{[]failing{{}, {true}}}, "F[1]"),
		"time beyond its format":        refused(struct{ T time.Time }{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, "T"),
		"long map key in the path":      refused(map[string]float64{string(make([]byte, 100)): math.NaN()}, `["`+strings.Repeat(`\x00`, 64)+`"…]`),
	} {
		t.Run(name, run)
	}
}

func TestAnErrorKeepsItsCauseOutOfItsTextAndInItsChain(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	_, err := define(t, "test.failing", zero[failing]).Update(b.ctx, func(failing) (failing, error) { return failing{true}, nil })
	require.NotContains(t, err.Error(), "hunter2")
	var cause *json.MarshalerError
	require.ErrorAs(t, err, &cause)
	require.ErrorContains(t, cause, "hunter2")

	loaded, err := load(t, strings.Replace(sample(t, "v1/full.json"), `"opsbot.visits":12`, `"test.old":"hunter2"`, 1))
	require.NoError(t, err)
	_, err = define(t, "test.old", zero[failingDecode]).Get(loaded.ctx)
	require.NotContains(t, err.Error(), "hunter2")
	require.ErrorContains(t, errors.Unwrap(err), "hunter2")
}

func kept[T any](value T) func(t *testing.T) { return normalized(value, value) }

// normalized: value is stored, and everybody who reads it, the Update included, sees want.
func normalized[T any](value, want T) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		b := setUp(t, nil)
		h := define(t, "test.kept", zero[T])
		equal := func(got T, where string) {
			t.Helper()
			require.Equal(t, want, got, where)
		}
		equal(update(t, b.ctx, h, func(T) (T, error) { return value, nil }), "returned by Update")
		equal(get(t, b.ctx, h), "in this process")
		result, err := state.Step(b.ctx, "result", func(context.Context) (T, error) { return value, nil })
		require.NoError(t, err)
		equal(result, "result of a step")

		b = reopen(t, b.store, "t1")
		equal(get(t, b.ctx, h), "in a later process")
		equal(get(t, b.ctx, h), "the second time")
		result, err = state.Step(b.ctx, "result", func(context.Context) (T, error) { panic("completed") })
		require.NoError(t, err)
		equal(result, "recorded result")
	}
}

// Deep is exported, so that a pointer to it can be embedded and restored.
type Deep struct{ Load float64 }

type pointing struct{ *Deep }

type embedded struct {
	incident
	Extra int
}

type tagged struct {
	Renamed  int               `json:"other name"`
	Quoted   int64             `json:",string"`
	Optional []int             `json:"optional,omitempty"`
	Zeroed   time.Time         `json:",omitzero"`
	Func     func()            `json:",omitzero"`
	Nothing  struct{}          `json:"nothing"`
	Raw      json.RawMessage   `json:"raw,omitempty"`
	Byte     []byte            `json:"byte"`
	Hash     [4]byte           `json:"hash"`
	Inner    map[int16]*string `json:"inner"`
}

func TestAValueThatJSONKeepsIsStored(t *testing.T) {
	t.Parallel()
	text := "<b>&\u2028\x00\"\\\U0010FFFF"
	when := time.Date(2026, 2, 3, 4, 5, 6, 789, time.FixedZone("", 3600))
	for name, run := range map[string]func(*testing.T){
		"zero":               kept(incident{}),
		"text":               kept(text),
		"numbers":            kept([]float64{0, math.Copysign(0, -1), math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1}),
		"float32":            kept([]float32{0.1, math.MaxFloat32}),
		"large integers":     kept([]uint64{math.MaxUint64, 1<<53 + 1}),
		"maps in slices":     kept(map[string][]map[string]*incident{"a": {{"b": {ID: "c"}}, nil}, "n": nil}),
		"nil slice":          kept(incident{ID: "x"}),
		"empty slice":        kept(incident{Checked: []string{}}),
		"recursive":          kept(&node{"a", &node{"b", nil}}),
		"any":                kept[any](map[string]any{"list": []any{"x", 1.5, nil, true}, "o": map[string]any{}}),
		"any nil":            kept[any](nil),
		"embedded pointer":   kept(pointing{&Deep{1}}),
		"embedded nil":       kept(pointing{}),
		"map of any":         kept(map[string]any{"a": nil, "b": "c"}),
		"embedded":           kept(embedded{incident{ID: "i", Checked: []string{"x"}}, 1}),
		"tags":               kept(tagged{Renamed: 1, Quoted: 1 << 60, Optional: []int{1}, Raw: json.RawMessage(`{"a":1}`), Byte: []byte("x"), Hash: [4]byte{1}, Inner: map[int16]*string{-1: &text}}),
		"address":            kept(map[netip.Addr]string{netip.MustParseAddr("::1"): "lo"}),
		"big number":         kept(big.NewInt(0).Exp(big.NewInt(10), big.NewInt(40), nil)),
		"JSON number":        kept([]json.Number{"1e400", "12345678901234567890"}),
		"duration":           kept(time.Hour),
		"struct{}":           kept(struct{}{}),
		"integer in any":     normalized[any](42, float64(42)),
		"struct in any":      normalized[any](incident{ID: "i"}, map[string]any{"ID": "i", "Checked": nil}),
		"time in any":        normalized[any](when.UTC(), when.UTC().Format(time.RFC3339Nano)),
		"omitted empty":      normalized(tagged{Optional: []int{}}, tagged{}),
		"spaced raw JSON":    normalized(json.RawMessage("{ \"a\" :\n1}"), json.RawMessage(`{"a":1}`)),
		"zero hidden field":  kept(hidden{Shown: 1}),
		"zero exclusion":     kept(excluded{Shown: 1}),
		"own encoding":       normalized(lossy{1, 2}, lossy{1, 0}),
		"two ways to shared": kept([]*string{&text, &text}),
		"nested":             kept(nested(9000)),
		"long list":          kept(linked(2000)),
	} {
		t.Run(name, run)
	}
}

func TestATimeIsStoredAsAnInstantAndAnOffset(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	type timed struct {
		At    time.Time
		Count int
	}
	h := define(t, "test.timed", zero[timed])
	now := time.Now() // has a monotonic clock reading, and a location by name
	update(t, b.ctx, h, func(timed) (timed, error) { return timed{now, 1}, nil })
	require.True(t, now.Equal(get(t, b.ctx, h).At))
	require.True(t, now.Equal(get(t, reopen(t, b.store, "t1").ctx, h).At))
}

func TestHTMLIsNotEscapedInStoredText(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	update(t, b.ctx, define(t, "test.html", zero[string]), func(string) (string, error) { return "<a & b>", nil })
	require.Contains(t, b.stored(t), `"test.html":"<a & b>"`)
}
