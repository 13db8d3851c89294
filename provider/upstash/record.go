package upstash

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rest"
)

// record is the stored form of a fact or a captured message, as Upstash AgentKit defines it.
type record struct {
	Text      string `json:"text"`
	UserID    string `json:"userId"` // the key that it is stored under
	CreatedAt int64  `json:"createdAt"`
	SessionID string `json:"sessionId"`
	Source    source `json:"source"`
	Deleted   bool   `json:"deleted"`
	Sequence  int64  `json:"sequence"` // of the turn
	SubIndex  int    `json:"subIndex"` // in the turn, for each source from 0
}

type source string

const (
	sourceFact  source = "agent"
	sourceUser  source = "userMessage"
	sourceModel source = "agentMessage"
)

// order is that of a turn: somebody speaks, the model saves what it wants to keep, then it answers.
var order = []source{sourceUser, sourceFact, sourceModel}

func (s source) rank() int { return slices.Index(order, s) }

// encode returns the record's JSON.
func (r *record) encode() (string, error) {
	text, err := rest.Encode(r)
	return string(text), err
}

// parseStored reads the answer to JSON.GET, nil when there is no such record. A record of another key is an error.
func parseStored(key string, r reply) (*record, error) {
	text, present, err := r.text()
	if err != nil || !present {
		return nil, err
	}
	var records []record
	if err := rest.Decode([]byte(text), &records); err != nil {
		return nil, err
	}
	if len(records) != 1 || records[0].UserID != key {
		return nil, fmt.Errorf("%w: a record of another key", ErrBadReply)
	}
	return &records[0], nil
}

// factID returns the id of a fact, which depends on its text alone: the same fact is one record.
func factID(text string) string { return digest(text) }

// messageID returns the id of a captured message, which depends on its place as well: captured again, it is the same record;
// said again, it is another one.
func messageID(r *record) string {
	return digest(fmt.Sprintf("%s|%d|%s|%d|%s", r.SessionID, r.Sequence, r.Source, r.SubIndex, r.Text))
}

// digest returns the beginning of the SHA-256 of the JSON text of a string, as AgentKit makes ids.
func digest(text string) string {
	sum := sha256.Sum256(ecma.AppendQuote(nil, text))
	return hex.EncodeToString(sum[:])[:12]
}

// idGrammar keeps a colon out of an id, with which it could name a record of another key.
var idGrammar = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// recordPrefix returns what the keys of all records under key begin with.
func (p *Provider) recordPrefix(key string) string { return p.opts.Prefix + ":" + key + ":" }

// normalize returns text with its ends trimmed and each run of spaces replaced by one space.
func normalize(text string) string {
	return strings.Join(strings.FieldsFunc(text, ecma.IsSpace), " ")
}
