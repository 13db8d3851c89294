package state_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/state"
)

func TestReservedNamesAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "eve.", "eve.channel", "eve.budget", "eve:mount.", "eve:mount.v1:extensions%2Fcrm:requests", "bad\xff"} {
		_, err := state.DefineIn(new(state.Registry), name, zero[int])
		require.ErrorIs(t, err, state.ErrName, "%q", name)
		require.Panics(t, func() { state.Define(name, zero[int]) }, "%q", name)
	}
	for _, name := range []string{"eve", "eve:other", "Eve.x", " ", "名前", "a/b", "constructor", "__proto__"} {
		_, err := state.DefineIn(new(state.Registry), name, zero[int])
		require.NoError(t, err, "%q", name)
	}
}

func TestTwoHandlesOfOneNameAndTypeAreOneSlot(t *testing.T) {
	t.Parallel()
	var registry state.Registry
	one, err := state.DefineIn(&registry, "test.shared", zero[int])
	require.NoError(t, err)
	two, err := state.DefineIn(&registry, "test.shared", zero[int])
	require.NoError(t, err)
	b := setUp(t, nil)
	update(t, b.ctx, one, increment)
	require.Equal(t, 1, get(t, b.ctx, two))
	require.Len(t, registry.Definitions(), 1)
}

func TestANameTakenByAnotherDefinitionIsRefused(t *testing.T) {
	t.Parallel()
	var registry state.Registry
	_, err := state.DefineIn(&registry, "test.taken", zero[int])
	require.NoError(t, err)
	_, err = state.DefineIn(&registry, "test.taken", zero[string])
	require.ErrorIs(t, err, state.ErrName)
	_, err = state.DefineIn(&registry, "test.taken", zero[int], state.PerTurn())
	require.ErrorIs(t, err, state.ErrName)
}

func TestDefineUsesTheDefaultRegistryAndPanicsWhenTheNameIsTaken(t *testing.T) {
	t.Parallel()
	state.Define("test.default", zero[int])
	require.Contains(t, state.DefaultRegistry().Definitions(), state.Definition{Name: "test.default", Type: reflect.TypeFor[int]()})
	require.Panics(t, func() { state.Define("test.default", zero[string]) })
}

func TestARegistryListsWhatIsDefinedByName(t *testing.T) {
	t.Parallel()
	var registry state.Registry
	require.Empty(t, registry.Definitions())
	for _, name := range []string{"b", "a"} {
		_, err := state.DefineIn(&registry, name, zero[incident], state.PerTurn())
		require.NoError(t, err)
	}
	require.Equal(t, []state.Definition{
		{Name: "a", Type: reflect.TypeFor[incident](), PerTurn: true},
		{Name: "b", Type: reflect.TypeFor[incident](), PerTurn: true},
	}, registry.Definitions())
}

func TestADefinitionNeedsARegistryAndAnInitialValue(t *testing.T) {
	t.Parallel()
	_, err := state.DefineIn(nil, "test.x", zero[int])
	require.Error(t, err)
	_, err = state.DefineIn[int](new(state.Registry), "test.x", nil)
	require.Error(t, err)
}
