package memory

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rawjson"
	"github.com/recollect-go/recollect/scope"
)

// The stored form of a record, under the key
// "memout1_" + base64url(sha256("outbox-v1\0" + lp(session) + lp(node) + lp(sequence in decimal) + lp(turn))):
//
//	{"format":"recollect-outbox","version":1,"recordedAt":…,"session":{"id":…,"node":…,"current":…,"initiator":…},
//	 "turn":{"id":…,"sequence":…},"messages":[message,…],"input":[message or its index in messages,…],
//	 "captures":[{"slot":…,"namespace":…,"scope":…,"attempts":…,"due":…},…]}
//
// Times are RFC 3339. Only captures, attempts and due ever change; every other member is kept as it was read, known or not.
const (
	outboxFormat  = "recollect-outbox"
	outboxVersion = 1
	outboxPrefix  = "memout1_"
	outboxTag     = "outbox-v1\x00"
)

// outboxRecord is a turn whose captures are not all done.
type outboxRecord struct {
	version    string // in the store; "" when it is not there yet
	recordedAt time.Time
	session    SessionInfo
	turn       Turn
	messages   []Message
	captures   []pendingCapture
	members    []rawjson.Member // all but format, version and captures
}

// pendingCapture is what is left to do of a record.
type pendingCapture struct {
	lock     lock
	attempts int64            // that have begun
	due      time.Time        // of the next one
	members  []rawjson.Member // all but attempts and due
}

// outboxKey returns the key of the record of a turn. Two turns that differ in one of their operation ids' parts have two.
func outboxKey(session, node string, sequence int64, turn string) string {
	text := []byte(outboxTag)
	for _, part := range []string{session, node, strconv.FormatInt(sequence, 10), turn} {
		text = binary.BigEndian.AppendUint32(text, uint32(len(part)))
		text = append(text, part...)
	}
	return digest(outboxPrefix, text)
}

func isOutboxKey(key string) bool { return strings.HasPrefix(key, outboxPrefix) }

func (r *outboxRecord) key() string {
	return outboxKey(r.session.ID, r.session.Node, r.turn.Sequence, r.turn.ID)
}

// operationID returns the id of a slot's capture.
func (r *outboxRecord) operationID(slot string) string {
	o := operation{session: r.session.ID, sequence: r.turn.Sequence, turn: r.turn.ID, phase: PhaseTurnCompleted}
	return o.id(slot)
}

// newOutboxRecord returns the record of a turn's captures, as it will be read again.
func newOutboxRecord(now, due time.Time, session *SessionInfo, turn *Turn, own []Message, locks []*lock) (*outboxRecord, error) {
	text := appendFormat(nil, outboxFormat, outboxVersion)
	text = append(text, `,"recordedAt":`...)
	text = appendTime(text, now)
	text = append(text, `,"session":`...)
	text, err := appendSession(text, session)
	if err != nil {
		return nil, err
	}
	text = append(text, `,"turn":`...)
	text = turnMark{id: turn.ID, sequence: turn.Sequence}.append(text)
	text = append(text, `,"messages":`...)
	if text, err = appendMessages(text, own, nil); err != nil {
		return nil, err
	}
	text = append(text, `,"input":`...)
	if text, err = appendMessages(text, turn.Input, own); err != nil {
		return nil, err
	}
	text = append(text, `,"captures":[`...)
	for i, l := range locks {
		if i > 0 {
			text = append(text, ',')
		}
		if text, err = appendCapture(text, l, due); err != nil {
			return nil, err
		}
	}
	return decodeOutboxRecord(append(text, ']', '}'))
}

// appendCapture writes a capture whose first attempt is about to begin.
func appendCapture(dst []byte, l *lock, due time.Time) ([]byte, error) {
	owner, err := l.scope.MarshalJSON()
	if err != nil {
		return nil, err
	}
	dst = append(dst, `{"slot":`...)
	dst = ecma.AppendQuote(dst, l.slot)
	dst = append(dst, `,"namespace":`...)
	dst = ecma.AppendQuote(dst, string(l.namespace))
	dst = append(dst, `,"scope":`...)
	dst = append(dst, owner...)
	dst = append(dst, `,"attempts":1,"due":`...)
	dst = appendTime(dst, due)
	return append(dst, '}'), nil
}

// append writes the record.
func (r *outboxRecord) append(dst []byte) []byte {
	dst = appendFormat(dst, outboxFormat, outboxVersion)
	dst = appendUnknown(dst, r.members)
	dst = append(dst, `,"captures":[`...)
	for i := range r.captures {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = r.captures[i].append(dst)
	}
	return append(dst, ']', '}')
}

func (c *pendingCapture) append(dst []byte) []byte {
	dst = append(dst, '{')
	for _, m := range c.members {
		dst = rawjson.AppendMember(dst, m)
		dst = append(dst, ',')
	}
	dst = append(dst, `"attempts":`...)
	dst = strconv.AppendInt(dst, c.attempts, 10)
	dst = append(dst, `,"due":`...)
	dst = appendTime(dst, c.due)
	return append(dst, '}')
}

func appendTime(dst []byte, t time.Time) []byte {
	dst = append(dst, '"')
	dst = t.UTC().AppendFormat(dst, time.RFC3339Nano)
	return append(dst, '"')
}

// decodeOutboxRecord reads a record. One of a newer version is an error matching ErrVersion, a damaged one matches
// ErrMalformed.
func decodeOutboxRecord(data []byte) (*outboxRecord, error) {
	raw, err := rawjson.Compact(data)
	if err != nil {
		return nil, malformed(err)
	}
	members, err := versioned(raw, outboxFormat, outboxVersion)
	if err != nil {
		return nil, err
	}
	r := new(outboxRecord)
	for _, member := range members {
		if err := r.read(member); err != nil {
			return nil, malformed(fmt.Errorf("%.40q: %w", member.Name, err))
		}
	}
	// The input refers to the messages, wherever it stands.
	if r.turn.Input, err = decodeReferences(rawjson.Find(members, "input"), r.messages); err != nil {
		return nil, malformed(fmt.Errorf("\"input\": %w", err))
	}
	if err := r.check(); err != nil {
		return nil, malformed(err)
	}
	return r, nil
}

func (r *outboxRecord) read(member rawjson.Member) (err error) {
	switch member.Name {
	case "captures":
		r.captures, err = decodeEach(member.Value, decodeCapture)
		return err
	case "recordedAt":
		r.recordedAt, err = decodeTime(member.Value)
	case "session":
		r.session, err = decodeSession(member.Value)
	case "turn":
		var mark turnMark
		mark, err = decodeTurnMark(member.Value)
		r.turn.ID, r.turn.Sequence = mark.id, mark.sequence
	case "messages":
		r.messages, err = decodeEach(member.Value, decodeOneMessage)
	}
	r.members = append(r.members, member)
	return err
}

// check looks at what no member shows alone.
func (r *outboxRecord) check() error {
	if r.recordedAt.IsZero() {
		return errors.New("no time")
	}
	if err := checkID("session", r.session.ID); err != nil {
		return err
	}
	if err := r.turn.check(); err != nil {
		return err
	}
	for _, m := range r.messages {
		if m.IsRecord() {
			return ErrForgedRecord
		}
	}
	for i := range r.captures {
		if r.capture(r.captures[i].lock.slot) != &r.captures[i] {
			return fmt.Errorf("two captures of slot %q", r.captures[i].lock.slot)
		}
	}
	return nil
}

func decodeCapture(value json.RawMessage) (c pendingCapture, err error) {
	members, err := rawjson.Members(value)
	if err != nil {
		return c, err
	}
	for _, member := range members {
		if err := c.read(member); err != nil {
			return c, fmt.Errorf("%.40q: %w", member.Name, err)
		}
	}
	if !validSlotName(c.lock.slot) || c.due.IsZero() {
		return c, errors.New("no valid slot or time")
	}
	c.lock.keys, err = scope.Derive(c.lock.namespace, c.lock.scope)
	return c, err
}

func (c *pendingCapture) read(member rawjson.Member) (err error) {
	switch member.Name {
	case "attempts":
		c.attempts, err = number(member.Value)
		return err
	case "due":
		c.due, err = decodeTime(member.Value)
		return err
	case "slot", "namespace", "scope":
		err = c.lock.read(member)
	}
	c.members = append(c.members, member)
	return err
}

func decodeTime(value json.RawMessage) (time.Time, error) {
	text, err := rawjson.String(value)
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if t = t.UTC(); err != nil || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, errors.New("not a time that can be written again") // err would quote the text
	}
	return t, nil
}

// sameCaller reports whether a record that was made again for a turn is of the caller and the memories of the first one.
func (r *outboxRecord) sameCaller(again *outboxRecord) bool {
	for i := range r.captures {
		first := &r.captures[i].lock
		if c := again.capture(first.slot); c != nil && c.lock.keys != first.keys {
			return false
		}
	}
	return samePrincipal(r.session.Current, again.session.Current)
}

// capture returns the capture of a slot, or nil.
func (r *outboxRecord) capture(slot string) *pendingCapture {
	for i := range r.captures {
		if r.captures[i].lock.slot == slot {
			return &r.captures[i]
		}
	}
	return nil
}

// has reports whether there is such a capture.
func (r *outboxRecord) has(which func(*pendingCapture) bool) bool {
	for i := range r.captures {
		if which(&r.captures[i]) {
			return true
		}
	}
	return false
}

// drop removes captures from the record and returns them.
func (r *outboxRecord) drop(which func(*pendingCapture) bool) (dropped []pendingCapture) {
	var kept []pendingCapture
	for _, c := range r.captures {
		if which(&c) {
			dropped = append(dropped, c)
		} else {
			kept = append(kept, c)
		}
	}
	r.captures = kept
	return dropped
}
