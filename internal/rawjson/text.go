package rawjson

import (
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// String returns the text of a compact JSON string, or ErrSurrogate.
func String(value []byte) (string, error) {
	if Kind(value) != '"' {
		return "", errors.New("not a JSON string")
	}
	text, whole := unquote(value)
	if !whole {
		return "", ErrSurrogate
	}
	return text, nil
}

// Text returns the text of a compact JSON string. A surrogate without its partner, which Go text cannot hold, stays the six
// characters of its escape, such as \ud83d: visible and not lost.
func Text(value []byte) string {
	text, _ := unquote(value)
	return text
}

// unquote returns the text of a valid JSON string, and whether every surrogate in it has its partner.
func unquote(value []byte) (text string, whole bool) {
	value = value[1 : len(value)-1]
	plain := 0
	for plain < len(value) && value[plain] != '\\' {
		plain++
	}
	if plain == len(value) {
		return string(value), true
	}
	out := make([]byte, 0, len(value))
	whole = true
	for i := 0; i < len(value); {
		if value[i] != '\\' {
			out = append(out, value[i])
			i++
			continue
		}
		if value[i+1] != 'u' {
			out = append(out, unescaped(value[i+1]))
			i += 2
			continue
		}
		r, size := rune16(value[i:])
		if r == utf8.RuneError && size == 0 {
			whole = false
			out = append(out, value[i:i+6]...)
			i += 6
			continue
		}
		out = utf8.AppendRune(out, r)
		i += size
	}
	return string(out), whole
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c // a quote, a backslash or a slash
}

// rune16 reads the one or two \u escapes at the beginning of s. Its size is 0 for a surrogate without its partner.
func rune16(s []byte) (r rune, size int) {
	first := unit(s)
	if !utf16.IsSurrogate(first) {
		return first, 6
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if r := utf16.DecodeRune(first, unit(s[6:])); r != utf8.RuneError {
			return r, 12
		}
	}
	return utf8.RuneError, 0
}

// unit reads one \u escape of valid JSON.
func unit(s []byte) rune {
	n, _ := strconv.ParseUint(string(s[2:6]), 16, 16)
	return rune(n)
}
