package memory

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rawjson"
)

// The stored form of a session:
//
//	{"format":"recollect-session","version":1,"id":…,"node":…,"initiator":{…},"sequence":…,"compactions":…,"excess":…,
//	 "history":[message,…],"bookkeeping":{…},
//	 "turn":{"id":…,"sequence":…,"current":{…},"input":[…],"held":[…],"foreign":[…],"first":…,"step":…,"stuck":…,"enough":…}}
//
// Members that are zero are left out. A message of the turn that is also in the history is its index there; in foreign the
// count goes on into held. first, an index too, is left out where it is the first of the input that is in the history.
// Members that this build does not know are kept, in the object, its bookkeeping and its turn.
const (
	snapshotFormat  = "recollect-session"
	snapshotVersion = 1
)

// Snapshot returns the session as JSON, at any time, also while a turn is open. Store it where the history would be stored,
// after each of Begin, Append, Deliver, Compact, Complete, Clear and Forget that must survive the process. Package state can
// attach it to a checkpoint, so that it commits with the step that made it. When storing fails because another process was
// first, drop the Session and restore what is stored: the two have gone different ways.
//
// A snapshot holds the conversation, every recalled record and the identities of its callers. It is sensitive and belongs
// into server-side storage; whoever can change it can choose whose memory a turn works on.
//
// An error says that an attribute of a principal cannot be JSON, or matches ErrSessionEnded.
func (s *Session) Snapshot() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return nil, err
	}
	encoded, err := s.state.append(nil, s.memory.node)
	if err != nil {
		return nil, fmt.Errorf("memory: session snapshot: %w", err)
	}
	return encoded, nil
}

func (s *sessionState) append(dst []byte, node string) ([]byte, error) {
	dst = appendFormat(dst, snapshotFormat, snapshotVersion)
	dst = append(dst, `,"id":`...)
	dst = ecma.AppendQuote(dst, s.id)
	dst = append(dst, `,"node":`...)
	dst = ecma.AppendQuote(dst, node)
	dst, err := appendPrincipal(dst, "initiator", s.initiator)
	if err != nil {
		return nil, err
	}
	dst = appendNumber(dst, "sequence", s.sequence)
	dst = appendNumber(dst, "compactions", int64(s.compactions))
	dst = appendNumber(dst, "excess", s.excess)
	dst = append(dst, `,"history":`...)
	if dst, err = appendMessages(dst, s.history, nil); err != nil {
		return nil, err
	}
	bookkeeping, err := s.bookkeeping.MarshalJSON()
	if err != nil {
		return nil, err
	}
	dst = append(dst, `,"bookkeeping":`...)
	dst = append(dst, bookkeeping...)
	if s.turn != nil {
		dst = append(dst, `,"turn":`...)
		if dst, err = s.turn.append(dst, s.history); err != nil {
			return nil, err
		}
	}
	dst = appendUnknown(dst, s.unknown)
	return append(dst, '}'), nil
}

func (t *turnState) append(dst []byte, history []Message) ([]byte, error) {
	dst = append(dst, `{"id":`...)
	dst = ecma.AppendQuote(dst, t.ID)
	dst = append(dst, `,"sequence":`...)
	dst = strconv.AppendInt(dst, t.Sequence, 10)
	dst, err := appendPrincipal(dst, "current", t.current)
	if err != nil {
		return nil, err
	}
	lists := []struct {
		name            string
		messages, known []Message
	}{{"input", t.Input, history}, {"held", t.held, nil}, {"foreign", t.foreign, slices.Concat(history, t.held)}}
	for _, list := range lists {
		if len(list.messages) == 0 {
			continue
		}
		dst = append(dst, `,"`+list.name+`":`...)
		if dst, err = appendMessages(dst, list.messages, list.known); err != nil {
			return nil, err
		}
	}
	if t.first.m != nil && t.first != firstOf(t.Input, history) {
		dst = append(dst, `,"first":`...)
		dst = strconv.AppendInt(dst, int64(slices.Index(history, t.first)), 10)
	}
	dst = appendNumber(dst, "step", int64(t.step))
	if t.stuck {
		dst = append(dst, `,"stuck":true`...)
	}
	dst = appendNumber(dst, "enough", t.enough)
	dst = appendUnknown(dst, t.unknown)
	return append(dst, '}'), nil
}

func appendNumber(dst []byte, name string, n int64) []byte {
	if n == 0 {
		return dst
	}
	dst = append(dst, `,"`+name+`":`...)
	return strconv.AppendInt(dst, n, 10)
}

// appendMessages writes an array of messages, where one that is known is its index there.
func appendMessages(dst []byte, messages, known []Message) ([]byte, error) {
	dst = append(dst, '[')
	for i, m := range messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		if at := slices.Index(known, m); at >= 0 {
			dst = strconv.AppendInt(dst, int64(at), 10)
			continue
		}
		if err := m.Validate(); err != nil {
			return nil, err
		}
		if m.m.raw != nil {
			dst = append(dst, m.m.raw...)
			continue
		}
		dst = m.m.append(dst)
	}
	return append(dst, ']'), nil
}

// decodeSnapshot returns the state of a session and its node.
func decodeSnapshot(data []byte) (*sessionState, string, error) {
	raw, err := rawjson.Compact(data)
	if err != nil {
		return nil, "", malformed(err)
	}
	members, err := versioned(raw, snapshotFormat, snapshotVersion)
	if err != nil {
		return nil, "", err
	}
	s := &sessionState{}
	for _, member := range members {
		if err := s.read(member); err != nil {
			return nil, "", fmt.Errorf("%.40q: %w", member.Name, malformed(err))
		}
	}
	// The turn refers to the history, wherever it stands.
	if turn := rawjson.Find(members, "turn"); turn != nil {
		if s.turn, err = decodeTurnState(turn, s.history); err != nil {
			return nil, "", fmt.Errorf("\"turn\": %w", malformed(err))
		}
	}
	return s, stringMember(members, "node"), s.check()
}

func (s *sessionState) read(member rawjson.Member) (err error) {
	switch member.Name {
	case "id":
		s.id, err = rawjson.String(member.Value)
	case "node":
		_, err = rawjson.String(member.Value)
	case "initiator":
		s.initiator, err = decodePrincipal(member.Value)
	case "sequence":
		s.sequence, err = number(member.Value)
	case "compactions":
		s.compactions, err = count(member.Value)
	case "excess":
		s.excess, err = number(member.Value)
	case "history":
		s.history, err = decodeEach(member.Value, decodeOneMessage)
	case "bookkeeping":
		s.bookkeeping.b, err = decodeBookkeeping(member.Value)
	case "turn":
	default:
		s.unknown = append(s.unknown, member)
	}
	return err
}

// check looks at what no member shows alone.
func (s *sessionState) check() error {
	if err := checkID("session", s.id); err != nil {
		return malformed(err)
	}
	if err := usableHistory(s.history); err != nil {
		return err
	}
	mark := s.bookkeeping.state().turn
	if s.turn != nil && (mark.id != s.turn.ID || mark.sequence != s.turn.Sequence || mark.complete || s.turn.Sequence >= s.sequence) {
		return malformed(fmt.Errorf("turn %.40q is not the one of the bookkeeping", s.turn.ID))
	}
	return nil
}

func decodeTurnState(value json.RawMessage, history []Message) (*turnState, error) {
	members, err := rawjson.Members(value)
	if err != nil {
		return nil, err
	}
	t := &turnState{}
	for _, member := range members {
		if err := t.read(member, history); err != nil {
			return nil, fmt.Errorf("%.40q: %w", member.Name, err)
		}
	}
	if t.first.m == nil {
		t.first = firstOf(t.Input, history)
	}
	if foreign := rawjson.Find(members, "foreign"); foreign != nil {
		if t.foreign, err = decodeReferences(foreign, slices.Concat(history, t.held)); err != nil {
			return nil, fmt.Errorf("\"foreign\": %w", err)
		}
	}
	return t, t.check()
}

func (t *turnState) read(member rawjson.Member, history []Message) (err error) {
	switch member.Name {
	case "id":
		t.ID, err = rawjson.String(member.Value)
	case "sequence":
		t.Sequence, err = number(member.Value)
	case "current":
		t.current, err = decodePrincipal(member.Value)
	case "input":
		t.Input, err = decodeReferences(member.Value, history)
	case "held":
		t.held, err = decodeEach(member.Value, decodeOneMessage)
	case "foreign": // refers to held, wherever that stands
	case "first":
		t.first, err = decodeReference(member.Value, history)
	case "step":
		t.step, err = count(member.Value)
	case "stuck":
		t.stuck, err = flag(member.Value)
	case "enough":
		t.enough, err = number(member.Value)
	default:
		t.unknown = append(t.unknown, member)
	}
	return err
}

// check refuses what Begin and Deliver would have refused.
func (t *turnState) check() error {
	if err := t.Turn.check(); err != nil {
		return err
	}
	own := [][]Message{t.Input, t.held, t.foreign}
	if t.first.m != nil {
		own = append(own, []Message{t.first})
	}
	for _, messages := range own {
		if err := ownMessages(messages); err != nil {
			return err
		}
	}
	return nil
}

func decodeOneMessage(value json.RawMessage) (m Message, err error) {
	return m, m.UnmarshalJSON(value)
}

// decodeReferences reads an array of messages, or indexes of known ones.
func decodeReferences(array json.RawMessage, known []Message) ([]Message, error) {
	return decodeEach(array, func(value json.RawMessage) (Message, error) {
		if rawjson.Kind(value) == '{' {
			return decodeOneMessage(value)
		}
		return decodeReference(value, known)
	})
}

// decodeReference reads the index of a known message.
func decodeReference(value json.RawMessage, known []Message) (Message, error) {
	at, err := count(value)
	if err != nil {
		return Message{}, err
	}
	if at >= len(known) {
		return Message{}, fmt.Errorf("there is no message %d", at)
	}
	return known[at], nil
}

// number reads an integer from 0 on.
func number(value json.RawMessage) (int64, error) {
	return integer([]rawjson.Member{{Name: "the value", Value: value}}, "the value")
}

// count reads an integer from 0 on that is small enough for an index.
func count(value json.RawMessage) (int, error) {
	n, err := number(value)
	if err == nil && n > math.MaxInt32 {
		return 0, fmt.Errorf("%d is too large", n)
	}
	return int(n), err
}
