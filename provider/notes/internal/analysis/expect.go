package analysis

import (
	"regexp"
	"strings"
)

// What a question asks for is often told by its first words, and whether a note has such a thing by a few others. Such notes
// are marked with a term of their own, so that among notes with the words of the question those go first. This is done for
// English, and for digits in any language.
var (
	timeTerm   = termOf([]byte("has time"))
	numberTerm = termOf([]byte("has number"))
)

// Asks marks a text that is a question itself. It is not looked up: a question has the words of its repetition, but not the
// answer.
var Asks = termOf([]byte("is question"))

var (
	asksTime   = regexp.MustCompile(`\b(when|what (date|day|month|year|time)|which (date|day|month|year)|how long ago|since when)\b`)
	asksNumber = regexp.MustCompile(`\bhow (many|much|old|long|often|far|tall|big|large)\b`)
)

var timeWords = wordSet(`yesterday today tonight tomorrow ago last next recently weekend weekends week weeks month months year years morning evening
	birthday monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays january february march
	april june july august september october november december`)

var numberWords = wordSet(`one two three four five six seven eight nine ten eleven twelve dozen twenty thirty forty fifty hundred thousand million half once
	twice couple several`)

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// told is what was noticed about a text while it was read.
type told struct{ time, number bool }

// notice looks at a word before it is stemmed.
func (t *told) notice(word []byte) {
	if word[0] >= '0' && word[0] <= '9' {
		t.number = true
		t.time = t.time || isYear(word)
		return
	}
	t.time = t.time || timeWords[string(word)]
	t.number = t.number || numberWords[string(word)]
}

func isYear(word []byte) bool {
	return len(word) == 4 && (string(word[:2]) == "19" || string(word[:2]) == "20")
}

// maxMarked is how much of a text is looked at for what it tells and asks: in a long one there is everything.
const maxMarked = 4 << 10

// marks returns the terms for what a text tells.
func (t told) marks(text string) (terms []Term) {
	if len(text) > maxMarked {
		return nil
	}
	if asks(text) {
		terms = append(terms, Asks)
	}
	if t.time {
		terms = append(terms, timeTerm)
	}
	if t.number {
		terms = append(terms, numberTerm)
	}
	return terms
}

// asks reports whether a text ends in a question mark of Latin, East Asian or Arabic writing.
func asks(text string) bool {
	text = strings.TrimRight(text, " \t\r\n\"')”’」")
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") || strings.HasSuffix(text, "؟")
}

// expected returns the terms for what a question asks for.
func expected(question string) (terms []Term) {
	question = strings.ToLower(question)
	if asksTime.MatchString(question) {
		terms = append(terms, timeTerm)
	}
	if asksNumber.MatchString(question) {
		terms = append(terms, numberTerm)
	}
	return terms
}
