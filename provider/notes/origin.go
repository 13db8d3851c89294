package notes

import "strconv"

// originOf names where a note comes from: two notes of one origin are one. A fact is its text. An utterance is a text of one
// turn, or of one moment, since the same words said twice are two utterances; occurrence tells apart those of one turn.
func originOf(d *Draft, occurrence int) string {
	if d.Kind == Fact {
		return digest("fact-v1", d.Text)
	}
	moment := ""
	if !d.Said.IsZero() && d.Turn == "" {
		moment = strconv.FormatInt(d.Said.UnixMilli(), 10)
	}
	return digest("utterance-v1", d.Session, d.Turn, moment, d.Author, strconv.Itoa(occurrence), d.Text)
}

// origins returns the origin of each draft.
func origins(drafts []Draft) []string {
	seen := make(map[string]int)
	out := make([]string, len(drafts))
	for i := range drafts {
		first := originOf(&drafts[i], 0)
		out[i] = first
		if n := seen[first]; n > 0 && drafts[i].Kind == Utterance {
			out[i] = originOf(&drafts[i], n)
		}
		seen[first]++
	}
	return out
}
