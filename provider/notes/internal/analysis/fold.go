package analysis

import "unicode"

// fold appends the characters that r is looked up as to dst: none for a mark that only decorates a letter, several for a
// ligature.
func fold(dst []rune, r rune) []rune {
	if r < 0x80 {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return append(dst, r)
	}
	if decoration(r) {
		return dst
	}
	r = widened(r)
	r = unicode.ToLower(r) // U+0130, the dotted capital I of Turkish, becomes i
	if r < 0x80 {
		return append(dst, r)
	}
	if plain, ok := plainForms[r]; ok {
		for _, r := range plain {
			dst = append(dst, r)
		}
		return dst
	}
	return append(dst, r)
}

// decoration reports whether r is left out: accents, the vowel signs of Hebrew and Arabic, the Arabic filler, what is
// invisible.
func decoration(r rune) bool {
	switch {
	case r >= 0x0300 && r <= 0x036F, r >= 0x0483 && r <= 0x0487, r >= 0x0591 && r <= 0x05C7, r >= 0x0610 && r <= 0x061A:
		return true
	case r == 0x0640, r >= 0x064B && r <= 0x065F, r == 0x0670, r >= 0x06D6 && r <= 0x06ED:
		return true
	case r == 0x00AD, r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x2064, r == 0xFEFF, r >= 0xFE00 && r <= 0xFE0F:
		return true
	}
	return false
}

const halfwidthKatakana = "ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン"

var katakana = []rune(halfwidthKatakana)

// widened returns the ordinary form of a character that exists in two widths.
func widened(r rune) rune {
	switch {
	case r >= 0xFF01 && r <= 0xFF5E:
		return r - 0xFF01 + '!'
	case r >= 0xFF66 && r < 0xFF66+rune(len(katakana)):
		return katakana[r-0xFF66]
	}
	return r
}

// plainForms holds lower-case letters and what they are looked up as.
var plainForms = func() map[rune]string {
	forms := make(map[rune]string)
	for _, f := range plainTable {
		for _, r := range f.letters {
			forms[r] = f.plain
		}
	}
	return forms
}()
