package analysis

import "unicode"

// class says how a character is read.
type class uint8

const (
	separator class = iota
	letter          // of a script with spaces between words; digits too
	unspaced        // of a script that is read in pairs
	symbol          // a word by itself: emoji
	mark            // belongs to the character before it
)

var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// classOf returns how r is read, for a character that is folded already.
func classOf(r rune) class {
	if r < 0x80 {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return letter
		}
		return separator
	}
	switch {
	case r == 'ー': // lengthens a Japanese vowel; Unicode gives it to two scripts
		return unspaced
	case unicode.Is(unicode.M, r):
		return mark
	case unicode.IsLetter(r), unicode.Is(unicode.Nd, r):
		if r >= 0x0E00 && unicode.In(r, unspacedScripts...) {
			return unspaced
		}
		return letter
	case unicode.Is(unicode.So, r):
		return symbol
	}
	return separator
}

// truncated reports whether words of r's script are cut to their first letters.
func truncated(r rune) bool { return r >= 0x370 && r < 0x530 }
