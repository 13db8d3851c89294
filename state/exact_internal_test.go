package state

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"testing"
	"testing/quick"
	"time"

	"github.com/stretchr/testify/require"
)

type leaf struct {
	Text  string
	Other int32 `json:"other"`
}

type everything struct {
	Bool    bool
	Ints    [3]int64
	Uint    uint8
	Float   float64
	Text    string
	Bytes   []byte
	Leaves  []leaf
	Pointer *leaf
	Deep    *[2]*string
	Map     map[string][]leaf
	ByInt   map[int8]*leaf
	Matrix  [][]float32
	Out     *int `json:"-"`
}

// TestExactTypesCloneAsJSONWouldCopyThem checks the claim behind the fast path: where a shape says exact, encoding and
// decoding gives what clone gives.
func TestExactTypesCloneAsJSONWouldCopyThem(t *testing.T) {
	t.Parallel()
	var known shapes
	s := known.of(reflect.TypeFor[everything]())
	require.True(t, s.exact)
	property := func(v everything) bool {
		v.Out = nil
		source := reflect.ValueOf(&v).Elem()
		in := inspector{shapes: &known}
		require.Nil(t, in.inspect(s, source))
		var cloned, decoded everything
		clone(s, reflect.ValueOf(&cloned).Elem(), source)
		raw, err := encodeJSON(&v)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &decoded))
		require.Equal(t, decoded, cloned)
		return true
	}
	require.NoError(t, quick.Check(property, &quick.Config{MaxCount: 500, Rand: rand.New(rand.NewSource(1))}))
}

func TestOnlyTypesThatJSONKeepsAreExact(t *testing.T) {
	t.Parallel()
	type recursive struct{ Next *recursive }
	type embedding struct{ leaf }
	type options struct {
		N int `json:"n,omitempty"`
	}
	type twins struct {
		A int `json:"B"`
		B int
	}
	type odd struct {
		A int `json:"a.b"`
	}
	for _, c := range []struct {
		typ          reflect.Type
		plain, exact bool
	}{
		{reflect.TypeFor[int](), true, true},
		{reflect.TypeFor[leaf](), true, true},
		{reflect.TypeFor[[4]leaf](), true, true},
		{reflect.TypeFor[time.Duration](), true, true},
		{reflect.TypeFor[[]leaf](), false, true},
		{reflect.TypeFor[map[leaf]int](), false, false},
		{reflect.TypeFor[time.Time](), true, false},
		{reflect.TypeFor[struct{ At time.Time }](), true, false},
		{reflect.TypeFor[any](), false, false},
		{reflect.TypeFor[json.Number](), true, false},
		{reflect.TypeFor[json.RawMessage](), false, false},
		{reflect.TypeFor[recursive](), false, false},
		{reflect.TypeFor[embedding](), true, false},
		{reflect.TypeFor[options](), true, false},
		{reflect.TypeFor[twins](), true, false},
		{reflect.TypeFor[odd](), true, false},
		{reflect.TypeFor[**int](), false, false},
		{reflect.TypeFor[*[]int](), false, false},
		{reflect.TypeFor[chan int](), false, false},
		{reflect.TypeFor[func()](), false, false},
		{reflect.TypeFor[complex64](), true, false},
	} {
		var known shapes
		s := known.of(c.typ)
		require.Equal(t, c.plain, s.plain, "%s is plain", c.typ)
		require.Equal(t, c.exact, s.exact, "%s is exact", c.typ)
	}
}
