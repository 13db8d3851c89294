package analysis

import (
	"regexp"
	"strings"
)

// What a question asks for is often told by its first words, and whether a note has such a thing by a few others. Such notes are marked with a term of their own, so
// that among notes with the words of the question those go first. This is done for English, and for digits in any language.
var (
	timeTerm   = termOf([]byte("has time"))
	numberTerm = termOf([]byte("has number"))
)

// Asks marks a text that is a question itself. It is not looked up: a question has the words of its repetition, but not the answer.
var Asks = termOf([]byte("is question"))

var (
	asksTime   = regexp.MustCompile(`\b(when|what (date|day|month|year|time)|which (date|day|month|year)|how long ago|since when)\b`)
	asksNumber = regexp.MustCompile(`\bhow (many|much|old|long|often|far|tall|big|large)\b`)

	tellsTime = regexp.MustCompile(`\b(yesterday|today|tonight|tomorrow|ago|last|next|recently|weekend|week|month|year|morning|evening|birthday|` +
		`(mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october|november|december|(19|20)\d\d)s?\b`)
	tellsNumber = regexp.MustCompile(`\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty|` +
		`hundred|thousand|million|half|once|twice|couple|several)\b`)
)

// maxMarked is how much of a text is looked through for times and numbers: in a long one there is always one.
const maxMarked = 4 << 10

// marks returns the terms for what a text tells.
func marks(text string) (terms []Term) {
	if len(text) > maxMarked {
		return nil
	}
	text = strings.ToLower(text)
	if trimmed := strings.TrimRight(text, " \t\r\n\"')”’」"); strings.HasSuffix(trimmed, "?") || strings.HasSuffix(trimmed, "？") || strings.HasSuffix(trimmed, "؟") {
		terms = append(terms, Asks)
	}
	if tellsTime.MatchString(text) {
		terms = append(terms, timeTerm)
	}
	if tellsNumber.MatchString(text) {
		terms = append(terms, numberTerm)
	}
	return terms
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
