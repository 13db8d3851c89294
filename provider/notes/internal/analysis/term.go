package analysis

// Term stands for a word or a pair of characters. Two different words have the same Term once in 2^64 times, and then a note
// is found that should not be: in its own scope, since scopes are told apart by other means.
type Term uint64

// termOf hashes with FNV-1a and the last step of MurmurHash3, which spreads short words over all bits.
func termOf(word []byte) Term {
	h := uint64(14695981039346656037)
	for _, b := range word {
		h = (h ^ uint64(b)) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return Term(h ^ h>>33)
}
