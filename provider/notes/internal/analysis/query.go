package analysis

// Query is an analysed question.
type Query struct {
	// Words are the distinct terms of its words, in their order. Stop words are not among them, unless there is nothing
	// else.
	Words []Term
	// Hints are terms for dates that it names, and for what it asks for.
	Hints []Term
}

// MaxTerms is how many terms of a query are looked up. Of a longer one the first ones and the last ones are.
const MaxTerms = 64

// Question returns the terms of a query.
func Question(text string) Query {
	words := terms(text, isStopWord)
	if len(words) == 0 {
		words = terms(text, nil)
	}
	words = distinct(words)
	if len(words) > MaxTerms {
		words = append(words[:MaxTerms/2], words[len(words)-MaxTerms/2:]...)
	}
	if len(text) > maxMarked {
		return Query{Words: words}
	}
	return Query{words, distinct(append(dateTerms(text), expected(text)...))}
}

func terms(text string, stop func([]byte) bool) []Term {
	r := reader{queryOnly: true, stop: stop}
	r.read(text)
	return append(r.out.Words, r.out.Extra...)
}

func distinct(terms []Term) []Term {
	seen := make(map[Term]bool, len(terms))
	kept := terms[:0]
	for _, t := range terms {
		if !seen[t] {
			seen[t] = true
			kept = append(kept, t)
		}
	}
	return kept
}
