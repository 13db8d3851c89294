package analysis

import "strings"

// compose returns text with those characters in one piece that may be written in several: voiced kana, of which the
// half-width ones are always two characters, and Korean syllables. Some systems take them apart, macOS in the names of files.
// Accents need no such thing, since fold leaves them out.
func compose(text string) string {
	if !strings.ContainsFunc(text, continues) {
		return text
	}
	out := make([]rune, 0, len(text)/3)
	for _, r := range text {
		if last := len(out) - 1; last >= 0 && continues(r) {
			if whole, ok := joined(out[last], r); ok {
				out[last] = whole
				continue
			}
		}
		out = append(out, r)
	}
	return string(out)
}

// continues reports whether r may be the second or third piece of a character.
func continues(r rune) bool {
	switch r {
	case voicing, plosion, halfVoicing, halfPlosion:
		return true
	}
	return r >= firstVowel && r <= lastFinal
}

const (
	voicing, plosion         = 0x3099, 0x309A
	halfVoicing, halfPlosion = 0xFF9E, 0xFF9F
)

// joined returns the character that two pieces are.
func joined(first, second rune) (rune, bool) {
	switch second {
	case voicing, halfVoicing:
		return voiced(widened(first))
	case plosion, halfPlosion:
		first = widened(first)
		return first + 2, strings.ContainsRune("はひふへほハヒフヘホ", first)
	}
	return syllable(first, second)
}

func voiced(kana rune) (rune, bool) {
	switch kana {
	case 'う':
		return 'ゔ', true
	case 'ウ':
		return 'ヴ', true
	}
	return kana + 1, strings.ContainsRune("かきくけこさしすせそたちつてとはひふへほカキクケコサシスセソタチツテトハヒフヘホ", kana)
}

// Korean syllables are numbered by their three pieces (The Unicode Standard, 3.12).
const (
	firstInitial, lastInitial   = 0x1100, 0x1112
	firstVowel, lastVowel       = 0x1161, 0x1175
	firstFinal, lastFinal       = 0x11A8, 0x11C2
	firstSyllable, lastSyllable = 0xAC00, 0xD7A3

	vowels = lastVowel - firstVowel + 1
	finals = lastFinal - firstFinal + 2 // none is one
)

func syllable(first, second rune) (rune, bool) {
	switch {
	case first >= firstInitial && first <= lastInitial && second <= lastVowel:
		return firstSyllable + ((first-firstInitial)*vowels+second-firstVowel)*finals, true
	case first >= firstSyllable && first <= lastSyllable && (first-firstSyllable)%finals == 0 && second >= firstFinal:
		return first + second - firstFinal + 1, true
	}
	return 0, false
}
