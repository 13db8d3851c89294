package analysis

// Query is an analysed question.
type Query struct {
	// Terms are distinct, in the order of the text. Stop words are not among them, unless there is nothing else.
	Terms []Term
}

// MaxTerms is how many terms of a query are looked up. Of a longer one the first ones and the last ones are.
const MaxTerms = 64

// Question returns the terms of a query.
func Question(text string) Query {
	words := terms(text, isStopWord)
	if len(words) == 0 {
		words = terms(text, nil)
	}
	q := Query{Terms: distinct(append(words, dateTerms(text)...))}
	if len(q.Terms) > MaxTerms {
		q.Terms = append(q.Terms[:MaxTerms/2], q.Terms[len(q.Terms)-MaxTerms/2:]...)
	}
	return q
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
