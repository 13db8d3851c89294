package analysis

import "strings"

// stopWords are English words that say nothing about what is asked for. They are indexed, since a note may consist of them,
// and left out of queries. Words of other languages that say as little are in most notes of a scope, and weigh little for
// that.
var stopWords = func() map[string]bool {
	words := make(map[string]bool)
	for _, word := range strings.Fields(`
		a about after again all also am an and any anyone anything are as at be because been before being but by can could did do does doing
		don done each ever every few for from get gets getting give given go goes going got had has have having he her here hers herself him himself
		his how i if in into is isn it its itself just know let like ll made make many may me might more most much must my myself no nor not now of
		off on once one only or other our ours out over own please re same say says she should so some someone something such tell than that the
		their theirs them themselves then there these they thing things this those through to too under until up us use used ve very want was we went
		were what whats when where whether which while who whom whose why will with would you your yours yourself
		aren couldn didn doesn hadn hasn shouldn wasn weren wouldn`) {
		words[word] = true
	}
	return words
}()

func isStopWord(word []byte) bool { return stopWords[string(word)] }
