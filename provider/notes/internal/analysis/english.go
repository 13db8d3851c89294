package analysis

import (
	"bytes"
	"slices"
)

// stem returns the stem of a lower-case word of ASCII letters. It follows the English stemmer of Snowball, "Porter2"
// (https://snowballstem.org/algorithms/english/stemmer.html), without its rules about apostrophes, at which words are split
// before. It may write into word.
func stem(word []byte) []byte {
	if len(word) <= 2 {
		return word
	}
	if exception, ok := irregular[string(word)]; ok {
		return append(word[:0], exception...)
	}
	s := stemmer{word: word}
	s.markConsonantY()
	s.findRegions()
	s.step1a()
	if !unchanged[string(s.word)] {
		s.step1b()
		s.step1c()
		s.step2()
		s.step3()
		s.step4()
		s.step5()
	}
	for i, c := range s.word {
		if c == 'Y' {
			s.word[i] = 'y'
		}
	}
	return s.word
}

var irregular = map[string]string{
	"skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "idly": "idl", "gently": "gentl", "ugly": "ugli",
	"early": "earli", "only": "onli", "singly": "singl", "sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas",
	"cosmos": "cosmos", "bias": "bias", "andes": "andes",
}

// unchanged words are done after step 1a.
var unchanged = map[string]bool{
	"inning": true, "outing": true, "canning": true, "herring": true, "earring": true, "proceed": true, "exceed": true, "succeed": true,
}

// stemmer is a word on its way. r1 and r2 are where its regions begin; Y is a y that is a consonant.
type stemmer struct {
	word   []byte
	r1, r2 int
}

func vowel(c byte) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u', 'y':
		return true
	}
	return false
}

func (s *stemmer) markConsonantY() {
	for i, c := range s.word {
		if c == 'y' && (i == 0 || vowel(s.word[i-1])) {
			s.word[i] = 'Y'
		}
	}
}

func (s *stemmer) findRegions() {
	s.r1 = s.regionFrom(0)
	for _, prefix := range []string{"gener", "commun", "arsen"} {
		if bytes.HasPrefix(s.word, []byte(prefix)) {
			s.r1 = len(prefix)
		}
	}
	s.r2 = s.regionFrom(s.r1)
}

// regionFrom returns where the region after the first consonant that follows a vowel begins.
func (s *stemmer) regionFrom(start int) int {
	for i := start + 1; i < len(s.word); i++ {
		if !vowel(s.word[i]) && vowel(s.word[i-1]) {
			return i + 1
		}
	}
	return len(s.word)
}

func (s *stemmer) ends(suffix string) bool { return bytes.HasSuffix(s.word, []byte(suffix)) }

// cut returns how long the word is without suffix.
func (s *stemmer) cut(suffix string) int { return len(s.word) - len(suffix) }

// put replaces what follows the first n bytes.
func (s *stemmer) put(n int, replacement string) { s.word = append(s.word[:n], replacement...) }

func (s *stemmer) hasVowel(n int) bool { return slices.ContainsFunc(s.word[:n], vowel) }

func (s *stemmer) step1a() {
	switch {
	case s.ends("sses"):
		s.put(s.cut("es"), "")
	case s.ends("ied"), s.ends("ies"):
		if s.cut("ies") > 1 {
			s.put(s.cut("es"), "")
		} else {
			s.put(s.cut("s"), "")
		}
	case s.ends("us"), s.ends("ss"):
	case s.ends("s"):
		if s.hasVowel(max(len(s.word)-2, 0)) {
			s.put(s.cut("s"), "")
		}
	}
}

func (s *stemmer) step1b() {
	for _, suffix := range []string{"eedly", "eed"} {
		if s.ends(suffix) {
			if s.cut(suffix) >= s.r1 {
				s.put(s.cut(suffix), "ee")
			}
			return
		}
	}
	for _, suffix := range []string{"ingly", "edly", "ing", "ed"} {
		if s.ends(suffix) {
			if s.hasVowel(s.cut(suffix)) {
				s.put(s.cut(suffix), "")
				s.repair()
			}
			return
		}
	}
}

// repair restores the end of a word that lost -ed or -ing.
func (s *stemmer) repair() {
	n := len(s.word)
	switch {
	case s.ends("at"), s.ends("bl"), s.ends("iz"):
		s.put(n, "e")
	case n > 1 && s.word[n-1] == s.word[n-2] && bytes.IndexByte([]byte("bdfgmnprt"), s.word[n-1]) >= 0:
		s.put(n-1, "")
	case s.r1 >= n && s.shortEnd(n):
		s.put(n, "e")
	}
}

// shortEnd reports whether the first n bytes end in a short syllable.
func (s *stemmer) shortEnd(n int) bool {
	if n == 2 {
		return vowel(s.word[0]) && !vowel(s.word[1])
	}
	if n < 3 {
		return false
	}
	last := s.word[n-1]
	return !vowel(last) && last != 'w' && last != 'x' && last != 'Y' && vowel(s.word[n-2]) && !vowel(s.word[n-3])
}

func (s *stemmer) step1c() {
	n := len(s.word)
	if n > 2 && (s.word[n-1] == 'y' || s.word[n-1] == 'Y') && !vowel(s.word[n-2]) {
		s.word[n-1] = 'i'
	}
}

// rule replaces a suffix; a suffix that ends in another one stands before it.
type rule struct{ suffix, replacement string }

var step2Rules = []rule{
	{"ational", "ate"}, {"ization", "ize"}, {"fulness", "ful"}, {"ousness", "ous"}, {"iveness", "ive"}, {"tional", "tion"},
	{"biliti", "ble"}, {"lessli", "less"}, {"entli", "ent"}, {"ation", "ate"}, {"alism", "al"}, {"aliti", "al"}, {"ousli", "ous"},
	{"iviti", "ive"}, {"fulli", "ful"}, {"enci", "ence"}, {"anci", "ance"}, {"abli", "able"}, {"izer", "ize"}, {"ator", "ate"},
	{"alli", "al"}, {"bli", "ble"}, {"ogi", "og"}, {"li", ""},
}

func (s *stemmer) step2() {
	for _, r := range step2Rules {
		if !s.ends(r.suffix) {
			continue
		}
		n := s.cut(r.suffix)
		if n < s.r1 {
			return
		}
		if r.suffix == "ogi" && !bytes.HasSuffix(s.word[:n], []byte("l")) {
			return
		}
		if r.suffix == "li" && (n == 0 || bytes.IndexByte([]byte("cdeghkmnrt"), s.word[n-1]) < 0) {
			return
		}
		s.put(n, r.replacement)
		return
	}
}

var step3Rules = []rule{
	{"ational", "ate"}, {"tional", "tion"}, {"alize", "al"}, {"icate", "ic"}, {"iciti", "ic"}, {"ative", ""}, {"ical", "ic"}, {"ness", ""}, {"ful", ""},
}

func (s *stemmer) step3() {
	for _, r := range step3Rules {
		if !s.ends(r.suffix) {
			continue
		}
		if n := s.cut(r.suffix); n >= s.r1 && (r.suffix != "ative" || n >= s.r2) {
			s.put(n, r.replacement)
		}
		return
	}
}

var step4Suffixes = []string{
	"ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion", "al", "er", "ic",
}

func (s *stemmer) step4() {
	for _, suffix := range step4Suffixes {
		if !s.ends(suffix) {
			continue
		}
		n := s.cut(suffix)
		if n < s.r2 || suffix == "ion" && (n == 0 || s.word[n-1] != 's' && s.word[n-1] != 't') {
			return
		}
		s.put(n, "")
		return
	}
}

func (s *stemmer) step5() {
	n := len(s.word) - 1
	switch {
	case s.ends("e") && (n >= s.r2 || n >= s.r1 && !s.shortEnd(n)):
		s.put(n, "")
	case s.ends("ll") && n >= s.r2:
		s.put(n, "")
	}
}
