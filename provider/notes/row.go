package notes

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/recollect-go/recollect/provider/notes/internal/analysis"
)

// row is a note as it is stored.
type row struct {
	scope, seq                int64
	kind                      Kind
	created, updated, expires int64 // milliseconds, 0 for never
	version                   int
	body                      []byte
	details                   details
	terms                     []byte
}

// details is the JSON of a note's provenance.
type details struct {
	V       int        `json:"v"`
	Source  Source     `json:"source,omitempty"`
	Author  string     `json:"author,omitempty"`
	Role    string     `json:"role,omitempty"`
	Session string     `json:"session,omitempty"`
	Turn    string     `json:"turn,omitempty"`
	Said    *time.Time `json:"said,omitempty"`
}

const detailsVersion = 1

func encodeDetails(p *Provenance) (string, error) {
	d := details{V: detailsVersion, Source: p.Source, Author: p.Author, Role: p.Role, Session: p.Session, Turn: p.Turn}
	if !p.Said.IsZero() {
		d.Said = &p.Said
	}
	out, err := json.Marshal(d)
	return string(out), err
}

func (d *details) provenance() Provenance {
	p := Provenance{Source: d.Source, Author: d.Author, Role: d.Role, Session: d.Session, Turn: d.Turn}
	if d.Said != nil {
		p.Said = *d.Said
	}
	return p
}

// id returns the id of the note, by which it can be forgotten whatever else is wrong with it.
func (r *row) id() string { return noteID(r.scope, r.seq) }

// kindOf returns the kind that is stored as n, 0 when there is no such kind.
func kindOf(n int64) Kind {
	if n == int64(Fact) || n == int64(Utterance) {
		return Kind(n)
	}
	return 0
}

// scanRow reads noteColumns and terms.
func scanRow(scan scanner) (row, error) {
	var r row
	var kind int64
	var text string
	if err := scan(&r.scope, &r.seq, &kind, &r.created, &r.updated, &r.expires, &r.version, &r.body, &text, &r.terms); err != nil {
		return row{}, err
	}
	if r.kind = kindOf(kind); r.kind == 0 {
		return row{}, malformedKind(r.id())
	}
	if err := json.Unmarshal([]byte(text), &r.details); err != nil || r.details.V != detailsVersion {
		return row{}, fmt.Errorf("%w: details of note %s", ErrMalformed, r.id())
	}
	return r, nil
}

func malformedKind(id string) error { return fmt.Errorf("%w: kind of note %s", ErrMalformed, id) }

func (r *row) note() Note {
	return Note{
		ID:         r.id(),
		Kind:       r.kind,
		Text:       string(r.body),
		Provenance: r.details.provenance(),
		Created:    moment(r.created),
		Updated:    moment(r.updated),
		Expires:    moment(r.expires),
		Version:    r.version,
	}
}

func (r *row) text() (analysis.Text, error) { return decodeTerms(r.id(), r.terms) }

func decodeTerms(id string, data []byte) (analysis.Text, error) {
	t, err := analysis.Decode(data)
	if err != nil {
		return t, fmt.Errorf("%w: terms of note %s", ErrMalformed, id)
	}
	return t, nil
}

func moment(milliseconds int64) time.Time {
	if milliseconds == 0 {
		return time.Time{}
	}
	return time.UnixMilli(milliseconds).UTC()
}
