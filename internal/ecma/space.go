package ecma

import "strings"

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

// Trim returns s without the spaces at its ends.
func Trim(s string) string { return strings.TrimFunc(s, IsSpace) }
