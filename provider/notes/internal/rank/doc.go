// Package rank says how well a note answers a query.
//
// The score is BM25 (S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework", 2009) with the statistics of the
// scope at hand, plus what terms of the query that stand near each other in the note add, plus a part of what the notes said
// just before and after it score: an answer often has none of the words of its question.
package rank
