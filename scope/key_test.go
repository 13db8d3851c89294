package scope

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/ecma"
)

// naiveKeys is the definition of the keys, written once more without regard to cost.
func naiveKeys(n Namespace, s Scope) Keys {
	lp := func(text string) string {
		return string(binary.BigEndian.AppendUint32(nil, uint32(len(text)))) + text
	}
	digest := func(prefix, text string) string {
		sum := sha256.Sum256([]byte(text))
		return prefix + strings.TrimRight(base64.URLEncoding.EncodeToString(sum[:]), "=")
	}
	encoded := "scope-scalar-v1\x00"
	if s.form == formTuple {
		encoded = "scope-tuple-v1\x00" + string(binary.BigEndian.AppendUint32(nil, uint32(len(s.parts))))
	}
	for _, part := range s.Parts() {
		encoded += lp(part)
	}
	k := Keys{Namespace: digest("memns1_", "namespace-v1\x00"+lp(string(n))), Scope: digest("memscope1_", encoded)}
	k.Key = digest("memscope1_", "eve-memory-composite-v1\x00"+lp(k.Namespace)+lp(k.Scope))
	return k
}

func TestPublishedKeys(t *testing.T) {
	t.Parallel()
	keys, err := Derive("acme-support-v1", Tuple("acme", "u_42"))
	require.NoError(t, err)
	assert.Equal(t, Keys{
		Key:       "memscope1_b0FC72WbYodyaFzGo_6VTLZTtB1HxUfyEYZrEdbxVZA",
		Namespace: "memns1_a2hva0uqqn0aEpppD1u9h_lkTR9jqXxRSbzsyku_MrY",
		Scope:     "memscope1_MBQMCzlBUs3rqUZAkKAFE8U5TvalJdCXTNHZKu-3EaE",
	}, keys)
}

func TestKeysTellDifferentScopesApart(t *testing.T) {
	t.Parallel()
	scopes := []Scope{
		String("a"), Tuple("a"), Tuple("a", "b"), Tuple("b", "a"), Tuple("ab"), String("ab"), String(`["a","b"]`), Tuple("a", "b", "c"),
		Tuple("a", "bc"), Tuple("ab", "c"), String("A"), String("a "), String(" a"), String("a\x00"), Tuple("a\x00\x00\x00\x01b"),
		String("e\u0301"), String("\u00e9"),
	}
	seen := map[string]int{}
	for _, n := range []Namespace{"n", "N", "n ", "na"} {
		for _, s := range scopes {
			keys, err := Derive(n, s)
			require.NoError(t, err)
			assert.Equal(t, naiveKeys(n, s), keys)
			seen[keys.Key]++
		}
	}
	assert.Len(t, seen, 4*len(scopes))
}

func TestLimits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1025)
	most := slices.Repeat([]string{"c"}, 16)
	for _, c := range []struct {
		rule      string
		namespace Namespace
		scope     Scope
		want      LimitError
		text      string
	}{
		{"the zero namespace has no key", "", String("s"), LimitError{ErrNamespaceBlank, -1, 0, 0}, "scope: namespace is blank"},
		{"a namespace of spaces is blank", "\ufeff\u2028 ", String("s"), LimitError{ErrNamespaceBlank, -1, 7, 0}, ""},
		{"blank goes before too long", Namespace(strings.Repeat(" ", 2000)), String("s"), LimitError{ErrNamespaceBlank, -1, 2000, 0}, ""},
		{
			"a namespace has 1024 bytes", Namespace(long), String(""), LimitError{ErrNamespaceTooLong, -1, 1025, 1024},
			"scope: namespace is too long: 1025, at most 1024",
		},
		{"bytes count, not characters", Namespace(strings.Repeat("租", 342)), String("s"), LimitError{ErrNamespaceTooLong, -1, 1026, 1024}, ""},
		{"a namespace is UTF-8", "n\xff", String("s"), LimitError{ErrInvalidUTF8, -1, 2, 0}, ""},
		{"the zero scope has no key", "n", Scope{}, LimitError{ErrZeroScope, -1, 0, 0}, "scope: the zero scope has no key"},
		{"a tuple has a component", "n", Tuple(), LimitError{ErrTupleEmpty, -1, 0, 0}, ""},
		{
			"a tuple has 16 components", "n", Tuple(append(most, long)...), LimitError{ErrTupleTooLong, -1, 17, 16},
			"scope: tuple has too many components: 17, at most 16",
		},
		{"a string is not blank", "n", String("\t"), LimitError{ErrComponentBlank, 0, 1, 0}, ""},
		{"a component is not blank", "n", Tuple("a", " ", long), LimitError{ErrComponentBlank, 1, 1, 0}, "scope: component is blank (component 1)"},
		{
			"a component has 1024 bytes", "n", Tuple("a", long, " "), LimitError{ErrComponentTooLong, 1, 1025, 1024},
			"scope: component is too long (component 1): 1025, at most 1024",
		},
		{"a component is UTF-8", "n", Tuple("a", "\xed\xa0\x80"), LimitError{ErrInvalidUTF8, 1, 3, 0}, ""},
		{
			"encodings have 4096 bytes", Namespace(long[:1024]), Tuple(long[:1000], long[:1000], long[:1000], long[:21]),
			LimitError{ErrKeyTooLarge, -1, 4097, 4096}, "scope: namespace and scope together are too large: 4097, at most 4096",
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			keys, err := Derive(c.namespace, c.scope)
			assert.Equal(t, Keys{}, keys)
			require.ErrorIs(t, err, c.want.Limit)
			var limit *LimitError
			require.ErrorAs(t, err, &limit)
			assert.Equal(t, c.want, *limit)
			if c.text != "" {
				assert.EqualError(t, err, c.text)
			}
		})
	}
}

func TestLimitsAreInclusive(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("x", 1024)
	for _, c := range []struct {
		rule      string
		namespace Namespace
		scope     Scope
	}{
		{"a namespace of 1024 bytes", Namespace(longest), String("s")},
		{"a component of 1024 bytes", "n", Tuple("a", longest)},
		{"16 components", "n", Tuple(slices.Repeat([]string{"c"}, 16)...)},
		{"encodings of 4096 bytes", Namespace(longest), Tuple(longest[:1000], longest[:1000], longest[:1000], longest[:20])},
		{"characters that are no spaces", "\u0085", Tuple("\u200b", "\u180e", "\x00")},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			keys, err := Derive(c.namespace, c.scope)
			require.NoError(t, err)
			assert.Equal(t, naiveKeys(c.namespace, c.scope), keys)
		})
	}
}

func TestErrorsKeepValuesSecret(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t"
	for _, s := range []Scope{String(secret + "\xff"), Tuple(secret, " "), String(strings.Repeat(secret, 400))} {
		_, err := Derive(secret, s)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), secret)
	}
}

func TestDeriveAllocatesOneText(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	small, large := Tuple("acme", "u_42"), Tuple(strings.Repeat("s", 1024), strings.Repeat("s", 1024))
	for _, s := range []Scope{small, large} {
		assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
			if _, err := Derive("acme-support-v1", s); err != nil {
				t.Fatal(err)
			}
		}), 1.0)
	}
}

func FuzzDerive(f *testing.F) {
	f.Add("acme-support-v1", "acme\x00u_42", false)
	f.Add("acme-support-v1", "u_42", true)
	f.Add("租", "\ufeff", true)
	f.Add("", "", false)
	f.Add("n", strings.Repeat("x", 5000), false)
	f.Add("n", strings.Repeat("x\x00", 16), false)
	f.Add("\xff", "\xed\xa0\x80", true)
	f.Fuzz(func(t *testing.T, namespace, text string, isString bool) {
		n, s := Namespace(namespace), String(text)
		if !isString {
			s = Tuple(strings.Split(text, "\x00")...)
		}
		keys, err := Derive(n, s)
		if err != nil {
			var limit *LimitError
			require.ErrorAs(t, err, &limit)
			return
		}
		require.NoError(t, ecma.Valid(namespace+text))
		require.Equal(t, naiveKeys(n, s), keys)
		other := Tuple(text)
		if !isString {
			other = String(text)
		}
		if apart, err := Derive(n, other); err == nil {
			require.NotEqual(t, keys.Key, apart.Key, "a string and a tuple share a key")
		}
	})
}

// FuzzEncodingIsInjective compares the encodings themselves, since digests would hide a collision.
func FuzzEncodingIsInjective(f *testing.F) {
	f.Add("a\x00b", "ab", false, false)
	f.Add("a", "a", true, false)
	f.Add("\x00\x00\x00\x01", "\x00", false, false)
	f.Fuzz(func(t *testing.T, a, b string, aIsString, bIsString bool) {
		build := func(text string, isString bool) Scope {
			if isString {
				return String(text)
			}
			return Tuple(strings.Split(text, "\x01")...)
		}
		s, u := build(a, aIsString), build(b, bIsString)
		same := bytes.Equal(appendScope(nil, s), appendScope(nil, u))
		require.Equal(t, s.Equal(u), same)
		require.Len(t, appendScope(nil, s), scopeSize(s))
	})
}
