package supermemory

import "strings"

// shown remembers which texts of a recall the model sees already, so that it sees none twice.
type shown struct {
	texts      map[string]bool
	byDocument map[string][]string
}

func newShown() *shown {
	return &shown{texts: make(map[string]bool), byDocument: make(map[string][]string)}
}

func canonical(text string) string { return strings.ToLower(plain(text)) }

// isNew reports whether text says something and is not shown.
func (s *shown) isNew(text string) bool {
	text = canonical(text)
	return text != "" && !s.texts[text]
}

func (s *shown) add(text string, documents ...string) {
	text = canonical(text)
	s.texts[text] = true
	for _, id := range documents {
		s.byDocument[id] = append(s.byDocument[id], text)
	}
}

func (s *shown) addResult(r *result) {
	ids := make([]string, len(r.Documents))
	for i, d := range r.Documents {
		ids[i] = d.ID
	}
	s.add(r.text(), ids...)
}

// covers reports whether a result is shown: the same text, or, from the same document, a memory and the piece that it comes
// from.
func (s *shown) covers(r *result) bool {
	text := canonical(r.text())
	if s.texts[text] {
		return true
	}
	for _, d := range r.Documents {
		for _, other := range s.byDocument[d.ID] {
			if strings.Contains(text, other) || strings.Contains(other, text) {
				return true
			}
		}
	}
	return false
}
