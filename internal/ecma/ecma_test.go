package ecma

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// spaces is the set as it is documented.
const spaces = "\u0009\u000a\u000b\u000c\u000d\u0020\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

func TestSpacesAreExactlyTheDocumentedSet(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if IsSpace(r) != strings.ContainsRune(spaces, r) {
			t.Errorf("%U", r)
		}
	}
	assert.False(t, IsSpace('\u0085'), "Go's rule is another one")
}

func TestBlank(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", " ", spaces} {
		assert.True(t, IsBlank(s), "%q", s)
	}
	for _, s := range []string{"a", " a ", "\u0085", "\u200b", "\u180e", "\x00", "\xff", "\xef\xbb"} {
		assert.False(t, IsBlank(s), "%q", s)
	}
}

func TestTrim(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "a b\u0085", Trim(spaces+"a b\u0085"+spaces))
	assert.Empty(t, Trim(spaces))
	assert.Equal(t, "\xff", Trim(" \xff "))
}

func TestUTF16Len(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "abc", "租户", "🙂", "a🙂租", "\U0010ffff"} {
		assert.Equal(t, len(utf16.Encode([]rune(s))), UTF16Len(s), "%q", s)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", `""`},
		{"plain", `"plain"`},
		{`a"b\c/`, `"a\"b\\c/"`},
		{"\b\f\n\r\t", `"\b\f\n\r\t"`},
		{"\x00\x01\x0b\x1f\x7f", `"\u0000\u0001\u000b\u001f` + "\x7f" + `"`},
		{"<script>&", `"<script>&"`},
		{"\u2028\u2029\ufeff\ufffd", "\"\u2028\u2029\ufeff\ufffd\""},
		{"租户🙂", `"租户🙂"`},
		{strings.Repeat("x", 100) + "\n" + strings.Repeat("y", 7) + `"`, `"` + strings.Repeat("x", 100) + `\n` + strings.Repeat("y", 7) + `\""`},
	} {
		assert.Equal(t, "kept"+c.want, string(AppendQuote([]byte("kept"), c.text)))
	}
}

// TestQuoteFindsEveryEscapeAtEveryOffset covers every single-byte and every Latin-1 character.
func TestQuoteFindsEveryEscapeAtEveryOffset(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		for offset := range 18 {
			text := strings.Repeat("x", offset) + string(rune(c)) + strings.Repeat("é", 9)
			assert.Equal(t, string(naiveQuote(text)), string(AppendQuote(nil, text)))
		}
	}
}

// naiveQuote is QuoteJSONString of ECMA-262, step by step.
func naiveQuote(s string) []byte {
	escapes := map[rune]string{'\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`, '"': `\"`, '\\': `\\`}
	var product strings.Builder
	product.WriteByte('"')
	for _, r := range s {
		escape, ok := escapes[r]
		switch {
		case ok:
			product.WriteString(escape)
		case r < 0x20:
			product.WriteString(`\u00` + string("0123456789abcdef"[r>>4]) + string("0123456789abcdef"[r&15]))
		default:
			product.WriteRune(r)
		}
	}
	product.WriteByte('"')
	return []byte(product.String())
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\\b\f\n\r\t\x00\x1f\x7f", "\u2028<>&租🙂", strings.Repeat("0123456\"", 9)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if Valid(s) != nil {
			return
		}
		quoted := AppendQuote(nil, s)
		require.Equal(t, string(naiveQuote(s)), string(quoted))
		var back string
		require.NoError(t, json.Unmarshal(quoted, &back))
		require.Equal(t, s, back)
		require.NoError(t, ValidJSON(quoted))
	})
}

func TestValid(t *testing.T) {
	t.Parallel()
	require.NoError(t, Valid("租户🙂\ufffd"))
	for _, s := range []string{"\xff", "a\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\xaf"} {
		require.ErrorIs(t, Valid(s), ErrInvalidUTF8, "%q", s)
		require.ErrorIs(t, ValidJSON([]byte(`"`+s+`"`)), ErrInvalidUTF8, "%q", s)
	}
}

func TestJSONWithoutUTF8Form(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`""`, `"\ufffd"`, `"\ud83d\ude42"`, `"\uD83D\uDE42"`, `"\\ud800"`, `"\\\\ud800"`, `{"a\n":"\u0041\""}`, `"\`, `"\u12`, `"\uzzzz"`, `"\ud7ff\ue000"`,
	} {
		require.NoError(t, ValidJSON([]byte(text)), text)
	}
	for _, text := range []string{
		`"\ud800"`, `"\udbff"`, `"\udc00"`, `"\udfff"`, `"\uD800x"`, `"\ud800\n"`, `"\ud800\ud800"`, `"\ud83d\ude42\ude42"`, `"\ude42\ud83d"`, `"\\\ud800"`,
		`{"\ud800":1}`, `"\ud800\u0041"`, `"\ud800\u`,
	} {
		require.ErrorIs(t, ValidJSON([]byte(text)), ErrLoneSurrogate, text)
	}
}

func TestReplaced(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"plain": false, "\ufffd": false, `\ufffd`: false, `\\ufffd "`: false, "\xff": true, "\\\xff": true, "a\n\xed\xa0\x80": true} {
		encoded, err := json.Marshal(text)
		require.NoError(t, err)
		assert.Equal(t, want, Replaced(encoded), "%q", text)
	}
	assert.False(t, Replaced([]byte(`\`)))
}

// FuzzValidJSON compares with encoding/json, which replaces what it cannot hold by U+FFFD: of text that is accepted, every
// U+FFFD must come from the text itself.
func FuzzValidJSON(f *testing.F) {
	for _, text := range []string{`""`, `"\ufffd"`, `"\ud83d\ude42"`, `"\ud800"`, `"\\ud800"`, "\"\xff\"", `"\uDC00\ud800"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var text string
		if json.Unmarshal(data, &text) != nil {
			return
		}
		own := strings.Count(string(data), string(utf8.RuneError)) + strings.Count(strings.ToLower(string(data)), `\ufffd`)
		replaced := strings.Count(text, string(utf8.RuneError)) > own
		if ValidJSON(data) == nil {
			require.False(t, replaced, "%s", data)
		} else {
			require.Contains(t, text, string(utf8.RuneError), "%s", data)
		}
	})
}
