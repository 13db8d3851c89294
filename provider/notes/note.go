package notes

import (
	"fmt"
	"time"
)

// Kind says how a note is ranked and kept. The two kinds are never ranked together: what somebody merely said would push
// what was meant to be remembered out of the answer.
type Kind uint8

const (
	// Fact is something that was meant to be remembered: saved by the model, by the host, or extracted.
	Fact Kind = iota + 1
	// Utterance is something that was said and kept as it was.
	Utterance
)

// String returns fact or utterance.
func (k Kind) String() string {
	if k == Utterance {
		return "utterance"
	}
	return "fact"
}

// MarshalText returns what String returns.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (k *Kind) UnmarshalText(text []byte) error {
	switch string(text) {
	case "fact":
		*k = Fact
	case "utterance":
		*k = Utterance
	default:
		return fmt.Errorf("notes: %.40q is no kind of note", text)
	}
	return nil
}

// Note is one thing that is remembered.
type Note struct {
	// ID is stable: a changed note keeps it. It means nothing under another key, nor after an erasure.
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// Text is exactly what was stored.
	Text string `json:"text"`
	Provenance
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`          // of the text; equal to Created until it is replaced
	Expires time.Time `json:"expires,omitzero"` // when it is deleted; the zero time: never
	Version int       `json:"version"`          // 1, and 1 more with every replacement
}

// Provenance says where a note comes from. All of it is optional, and the host's or the library's to say, never the model's.
type Provenance struct {
	Source Source `json:"source,omitempty"`
	// Author is a name under which the note is found, besides the words in its text: who said it.
	Author string `json:"author,omitempty"`
	// Role is user or assistant, for a message of a conversation.
	Role string `json:"role,omitempty"`
	// Session and Turn are the conversation that the note comes from. Notes of one session that were stored one after
	// another help each other to be found.
	Session string `json:"session,omitempty"`
	Turn    string `json:"turn,omitempty"`
	// Said is when it was said. The note is found by the date on the calendar of the time's location; of that only the
	// offset is kept.
	Said time.Time `json:"said,omitzero"`
}

// Source says by which way a note came.
type Source string

// Sources of notes.
const (
	SourceHost      Source = "host"      // Store.Add
	SourceSaved     Source = "saved"     // the save tool
	SourceCaptured  Source = "captured"  // a message of a completed turn
	SourceExtracted Source = "extracted" // the Extractor
)

// Draft is a note that is to be stored.
type Draft struct {
	Kind Kind // 0 is Fact
	Text string
	Provenance
	// Expires is when the note is deleted. The zero time: as Options say.
	Expires time.Time
}

// Added tells what became of a draft.
type Added struct {
	ID    string // of the note that has the text
	Added bool   // false when it was there already
}
