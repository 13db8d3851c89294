package analysis

import "unicode/utf8"

// Text is an analysed text.
type Text struct {
	// Words are the terms in their order, so that a position in it is a position in the text.
	Words []Term
	// Extra are more terms by which the text is found: characters of which Words has the pairs, words of which it has the
	// first letters, and what is known about the text besides its words.
	Extra []Term
}

// Of returns the terms of a text that is stored.
func Of(text string) Text {
	r := reader{}
	r.read(text)
	r.out.Extra = append(r.out.Extra, r.told.marks(text)...)
	return r.out
}

// NameTerms returns the terms by which a note is found by a name that belongs to it. They count twice: who said something is
// surer to be meant by a name than who is spoken to.
func NameTerms(name string) []Term {
	r := reader{}
	r.read(name)
	terms := append(r.out.Words, r.out.Extra...)
	return append(terms, terms...)
}

// reader takes a text apart.
type reader struct {
	out  Text
	told told

	word      []byte // letters since the last separator, folded
	first     rune   // the first of them
	ascii     bool   // all of them are a to z
	tail      bool   // the word follows an apostrophe
	pair      []byte // the character before and the current one, of an unspaced script, with their marks
	before    int    // how much of pair is the one before
	run       int    // characters of the run so far
	queryOnly bool   // leave out what only stored texts need
	stop      func(word []byte) bool
	buffer    [4]rune
}

func (r *reader) read(text string) {
	r.ascii = true
	for _, c := range compose(text) {
		if c < utf8.RuneSelf {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			r.take(c)
			continue
		}
		for _, c := range fold(r.buffer[:0], c) {
			r.take(c)
		}
	}
	r.endRun()
	r.endWord(false)
}

func (r *reader) take(c rune) {
	switch classOf(c) {
	case letter:
		r.endRun()
		if len(r.word) == 0 {
			r.first = c
		}
		r.ascii = r.ascii && c >= 'a' && c <= 'z'
		r.word = utf8.AppendRune(r.word, c)
	case unspaced:
		r.endWord(false)
		r.nextInRun(c)
	case mark:
		if r.run > 0 {
			r.pair = utf8.AppendRune(r.pair, c)
		} else if len(r.word) > 0 {
			r.ascii = false
			r.word = utf8.AppendRune(r.word, c)
		}
	case symbol:
		r.endRun()
		r.endWord(false)
		r.word = utf8.AppendRune(r.word, c)
		r.ascii, r.first = false, c
		r.endWord(false)
	default:
		r.endRun()
		r.endWord(c == '\'' || c == '’' || c == 'ʼ')
	}
}

// endings are what English puts behind an apostrophe; they are no words.
var endings = map[string]bool{"s": true, "t": true, "d": true, "m": true, "ll": true, "re": true, "ve": true}

// endWord emits the word, if there is one. apostrophe says what ended it.
func (r *reader) endWord(apostrophe bool) {
	if len(r.word) == 0 {
		r.tail = false
		return
	}
	if !(r.tail && endings[string(r.word)]) && (r.stop == nil || !r.stop(r.word)) {
		r.emit()
	}
	r.word, r.ascii, r.tail = r.word[:0], true, apostrophe
}

func (r *reader) emit() {
	r.told.notice(r.word)
	switch {
	case r.ascii:
		if base, ok := baseForms[string(r.word)]; ok {
			r.word = append(r.word[:0], base...)
		}
		r.out.Words = append(r.out.Words, termOf(stem(r.word)))
	case truncated(r.first):
		cut := firstLetters(r.word)
		r.out.Words = append(r.out.Words, termOf(r.word[:cut]))
		if cut < len(r.word) {
			r.out.Extra = append(r.out.Extra, termOf(r.word))
		}
	case r.first >= 0x0600 && r.first <= 0x06FF:
		r.out.Words = append(r.out.Words, termOf(withoutArticle(r.word)))
	default:
		r.out.Words = append(r.out.Words, termOf(r.word))
	}
}

// nextInRun takes the next character of an unspaced script. A run of one character is a word; a longer one is its pairs.
func (r *reader) nextInRun(c rune) {
	if r.run > 0 {
		r.endPair()
	}
	r.pair = utf8.AppendRune(r.pair, c)
	r.run++
}

// endPair emits the pair, once the marks of its second character are there, and makes that one the first of the next.
func (r *reader) endPair() {
	if r.run > 1 {
		r.out.Words = append(r.out.Words, termOf(r.pair))
	}
	if !r.queryOnly {
		r.out.Extra = append(r.out.Extra, termOf(r.pair[r.before:]))
	}
	r.pair = append(r.pair[:0], r.pair[r.before:]...)
	r.before = len(r.pair)
}

func (r *reader) endRun() {
	switch {
	case r.run == 1:
		r.out.Words = append(r.out.Words, termOf(r.pair))
	case r.run > 1:
		r.endPair()
	}
	r.pair, r.before, r.run = r.pair[:0], 0, 0
}

// inflected is how many letters of a Cyrillic or Greek word stay: five is what does best for languages that inflect at the
// end (F. Can et al., "Information retrieval on Turkish texts", JASIST 59(3), 2008).
const inflected = 5

// firstLetters returns how many bytes the first letters have.
func firstLetters(word []byte) int {
	n := 0
	for range inflected {
		if n >= len(word) {
			break
		}
		_, size := utf8.DecodeRune(word[n:])
		n += size
	}
	return n
}

// articles are the Arabic article, alone and behind the particles that are written with it.
var articles = []string{"وال", "بال", "كال", "فال", "ال", "لل"}

// withoutArticle returns an Arabic word without its article, if at least two letters are left.
func withoutArticle(word []byte) []byte {
	for _, article := range articles {
		if len(word) >= len(article)+4 && string(word[:len(article)]) == article {
			return word[len(article):]
		}
	}
	return word
}
