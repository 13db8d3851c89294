package ecma

import (
	"bytes"
	"errors"
	"unicode/utf8"
)

var (
	// ErrInvalidUTF8 reports text that is not valid UTF-8. Nothing here replaces such text by U+FFFD.
	ErrInvalidUTF8 = errors.New("text is not valid UTF-8")
	// ErrLoneSurrogate reports a JSON escape of half a surrogate pair, which no UTF-8 text can hold.
	ErrLoneSurrogate = errors.New("JSON string has a lone surrogate")
)

// Valid returns ErrInvalidUTF8 unless s is valid UTF-8.
func Valid(s string) error {
	if utf8.ValidString(s) {
		return nil
	}
	return ErrInvalidUTF8
}

// ValidJSON returns ErrInvalidUTF8 or ErrLoneSurrogate when a decoder of encoding/json would silently put U+FFFD into a
// string of data. It says nothing else about data, which need not be valid JSON.
func ValidJSON(data []byte) error {
	if !utf8.Valid(data) {
		return ErrInvalidUTF8
	}
	for {
		i := bytes.IndexByte(data, '\\')
		if i < 0 {
			return nil
		}
		data = data[i:]
		size := escapeSize(data)
		if size == 0 {
			return ErrLoneSurrogate
		}
		data = data[min(size, len(data)):]
	}
}

// escapeSize returns how many bytes the escape at the beginning of data has, both halves of a pair included, or 0 for a lone
// surrogate.
func escapeSize(data []byte) int {
	const single, pair = 6, 12
	unit, ok := codeUnit(data)
	switch {
	case !ok:
		return 2
	case unit < 0xD800 || unit > 0xDFFF:
		return single
	case unit > 0xDBFF:
		return 0
	}
	if low, ok := codeUnit(data[single:]); ok && low >= 0xDC00 && low <= 0xDFFF {
		return pair
	}
	return 0
}

// codeUnit reads an escape of the form \uXXXX.
func codeUnit(data []byte) (unit uint16, ok bool) {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return 0, false
	}
	for _, c := range data[2:6] {
		digit := bytes.IndexByte([]byte(hex), c|0x20)
		if digit < 0 {
			return 0, false
		}
		unit = unit<<4 | uint16(digit)
	}
	return unit, true
}

// Replaced reports whether encoding/json has put the escape of U+FFFD into its output, which it does for bytes that are not
// UTF-8. U+FFFD itself it writes as it is.
func Replaced(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return false
		}
		text = text[i:]
		if bytes.HasPrefix(text, []byte(`\ufffd`)) {
			return true
		}
		text = text[min(2, len(text)):]
	}
}

// UTF16Len returns the length of s in UTF-16 code units.
func UTF16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
