// Package analysis turns text into terms that can be looked up: the same for every database, so that all of them find and
// rank alike.
//
// Words are folded (upper and lower case, accents, width, the German ß, the Turkish dotless i) and English words are
// stemmed; what the stemmer does to words of other languages it does to the query as well. Scripts without spaces between
// words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), and Korean, whose particles stick to the words, become pairs of
// neighbouring characters. Cyrillic and Greek words, which are inflected at their end, are cut to their first letters.
// Nothing here changes what is stored: the terms are an index beside the text.
//
// A change to this package changes the terms, so it needs a new Version, and an index written under another one has to be
// built again.
package analysis

// Version is the version of the rules, stored with every index.
const Version = 1
