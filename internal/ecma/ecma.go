// Package ecma holds the text rules of ECMAScript that stored bytes depend on: which characters count as white space,
// how JSON.stringify escapes a string, and how long a string is in UTF-16 code units. Go's own rules differ in each
// of the three, and a difference would give one memory two keys.
package ecma

import (
	"errors"
	"unicode/utf8"
)

// ErrInvalidUTF8 reports text that is not valid UTF-8. Nothing here replaces such text by U+FFFD.
var ErrInvalidUTF8 = errors.New("text is not valid UTF-8")

// IsSpace reports whether r is white space or a line terminator in ECMAScript. It differs from unicode.IsSpace: U+FEFF
// is a space, U+0085 is not.
func IsSpace(r rune) bool {
	switch {
	case r >= 0x09 && r <= 0x0D, r == ' ', r == 0xA0, r == 0x1680, r >= 0x2000 && r <= 0x200A:
		return true
	case r == 0x2028, r == 0x2029, r == 0x202F, r == 0x205F, r == 0x3000, r == 0xFEFF:
		return true
	}
	return false
}

// IsBlank reports whether nothing is left of s after removing spaces.
func IsBlank(s string) bool {
	for _, r := range s {
		if !IsSpace(r) {
			return false
		}
	}
	return true
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

const hex = "0123456789abcdef"

// AppendQuote appends s as JSON.stringify writes it: no HTML escaping, U+2028 and U+2029 left alone. s must be valid
// UTF-8.
func AppendQuote(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// Valid returns ErrInvalidUTF8 unless s is valid UTF-8.
func Valid(s string) error {
	if utf8.ValidString(s) {
		return nil
	}
	return ErrInvalidUTF8
}
