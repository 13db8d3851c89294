package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rawjson"
	"github.com/recollect-go/recollect/scope"
)

// The stored form of bookkeeping:
//
//	{"format":"recollect-bookkeeping","version":1,"turn":{"id":…,"sequence":…,"complete":…},
//	 "locks":[{"slot":…,"namespace":…,"scope":…,"visibility":…,"failed":…},…],"digests":[[operation,digest],…]}
//
// Members that this build does not know are kept, in the object and in its locks. Keys are derived again, never stored.
const (
	bookkeepingFormat  = "recollect-bookkeeping"
	bookkeepingVersion = 1
)

// MarshalJSON writes the bookkeeping, or null for the zero value.
func (b Bookkeeping) MarshalJSON() ([]byte, error) {
	if b.b == nil {
		return []byte("null"), nil
	}
	return b.b.append(nil)
}

func (b *bookkeeping) append(dst []byte) ([]byte, error) {
	dst = appendFormat(dst, bookkeepingFormat, bookkeepingVersion)
	if b.turn.id != "" {
		dst = append(dst, `,"turn":`...)
		dst = b.turn.append(dst)
	}
	dst = append(dst, `,"locks":[`...)
	var err error
	for i := range b.locks {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = b.locks[i].append(dst); err != nil {
			return nil, err
		}
	}
	dst = append(dst, `],"digests":[`...)
	for i, d := range b.digests {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '[')
		dst = ecma.AppendQuote(dst, d.operation)
		dst = append(dst, ',')
		dst = ecma.AppendQuote(dst, d.digest)
		dst = append(dst, ']')
	}
	dst = append(dst, ']')
	dst = appendUnknown(dst, b.unknown)
	return append(dst, '}'), nil
}

// appendFormat opens an object with its format and version.
func appendFormat(dst []byte, format string, version int64) []byte {
	dst = append(dst, `{"format":"`...)
	dst = append(dst, format...)
	dst = append(dst, `","version":`...)
	return strconv.AppendInt(dst, version, 10)
}

func appendUnknown(dst []byte, members []rawjson.Member) []byte {
	for _, m := range members {
		dst = append(dst, ',')
		dst = rawjson.AppendMember(dst, m)
	}
	return dst
}

func (t turnMark) append(dst []byte) []byte {
	dst = append(dst, `{"id":`...)
	dst = ecma.AppendQuote(dst, t.id)
	dst = append(dst, `,"sequence":`...)
	dst = strconv.AppendInt(dst, t.sequence, 10)
	if t.complete {
		dst = append(dst, `,"complete":true`...)
	}
	return append(dst, '}')
}

func (l *lock) append(dst []byte) ([]byte, error) {
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
	dst = append(dst, `,"visibility":`...)
	dst = ecma.AppendQuote(dst, string(l.visibility))
	if l.failed {
		dst = append(dst, `,"failed":true`...)
	}
	dst = appendUnknown(dst, l.unknown)
	return append(dst, '}'), nil
}

// UnmarshalJSON reads bookkeeping. One of a newer version is an error matching ErrVersion, a damaged one matches
// ErrMalformed.
func (b *Bookkeeping) UnmarshalJSON(data []byte) error {
	decoded, err := decodeBookkeeping(data)
	if err != nil {
		return fmt.Errorf("bookkeeping: %w", err)
	}
	b.b = decoded
	return nil
}

func decodeBookkeeping(data []byte) (*bookkeeping, error) {
	raw, err := rawjson.Compact(data)
	if err != nil {
		return nil, malformed(err)
	}
	if string(raw) == "null" {
		return nil, nil
	}
	members, err := versioned(raw, bookkeepingFormat, bookkeepingVersion)
	if err != nil {
		return nil, err
	}
	b := new(bookkeeping)
	for _, member := range members {
		if err := b.read(member); err != nil {
			return nil, malformed(fmt.Errorf("%.40q: %w", member.Name, err))
		}
	}
	return b, nil
}

func malformed(err error) error { return fmt.Errorf("%w: %w", ErrMalformed, err) }

// versioned returns the members of an object that has the given format and version, without those two.
func versioned(raw []byte, format string, version int64) ([]rawjson.Member, error) {
	members, err := rawjson.Members(raw)
	if err != nil {
		return nil, malformed(err)
	}
	if stringMember(members, "format") != format {
		return nil, malformed(errors.New("another format"))
	}
	found, err := integer(members, "version")
	if err != nil || found < 1 {
		return nil, malformed(errors.New("no version"))
	}
	if found > version {
		return nil, fmt.Errorf("%w: version %d, known is %d", ErrVersion, found, version)
	}
	kept := members[:0]
	for _, m := range members {
		if m.Name != "format" && m.Name != "version" {
			kept = append(kept, m)
		}
	}
	return kept, nil
}

func (b *bookkeeping) read(member rawjson.Member) (err error) {
	switch member.Name {
	case "turn":
		b.turn, err = decodeTurnMark(member.Value)
	case "locks":
		b.locks, err = decodeLocks(member.Value)
	case "digests":
		b.digests, err = decodeEach(member.Value, decodeDigest)
	default:
		b.unknown = append(b.unknown, member)
	}
	return err
}

func decodeEach[T any](array json.RawMessage, decode func(json.RawMessage) (T, error)) ([]T, error) {
	elements, err := rawjson.Elements(array)
	if err != nil {
		return nil, err
	}
	decoded := make([]T, len(elements))
	for i, element := range elements {
		if decoded[i], err = decode(element); err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return decoded, nil
}

func decodeTurnMark(value json.RawMessage) (t turnMark, err error) {
	members, err := rawjson.Members(value)
	if err != nil {
		return t, err
	}
	if t.id, err = required(members, "id"); err != nil {
		return t, err
	}
	if t.sequence, err = integer(members, "sequence"); err != nil {
		return t, err
	}
	t.complete, err = flag(rawjson.Find(members, "complete"))
	return t, err
}

// decodeLocks reads at most one lock of a slot.
func decodeLocks(array json.RawMessage) ([]lock, error) {
	locks, err := decodeEach(array, decodeLock)
	if err != nil {
		return nil, err
	}
	for i := range locks {
		for j := range i {
			if locks[i].slot == locks[j].slot {
				return nil, fmt.Errorf("two locks of slot %q", locks[i].slot)
			}
		}
	}
	return locks, nil
}

func decodeLock(value json.RawMessage) (l lock, err error) {
	members, err := rawjson.Members(value)
	if err != nil {
		return l, err
	}
	for _, member := range members {
		if err := l.read(member); err != nil {
			return l, fmt.Errorf("%.40q: %w", member.Name, err)
		}
	}
	if !validSlotName(l.slot) || !l.visibility.known() {
		return l, errors.New("no valid slot or visibility")
	}
	l.keys, err = scope.Derive(l.namespace, l.scope)
	return l, err
}

func (l *lock) read(member rawjson.Member) (err error) {
	switch member.Name {
	case "slot":
		l.slot, err = rawjson.String(member.Value)
	case "namespace":
		var namespace string
		namespace, err = rawjson.String(member.Value)
		l.namespace = scope.Namespace(namespace)
	case "scope":
		err = l.scope.UnmarshalJSON(member.Value)
	case "visibility":
		var visibility string
		visibility, err = rawjson.String(member.Value)
		l.visibility = Visibility(visibility)
	case "failed":
		l.failed, err = flag(member.Value)
	default:
		l.unknown = append(l.unknown, member)
	}
	return err
}

// flag reads a boolean that is false when absent.
func flag(value json.RawMessage) (bool, error) {
	switch string(value) {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	}
	return false, errors.New("neither true nor false")
}

func decodeDigest(value json.RawMessage) (d operationDigest, err error) {
	pair, err := rawjson.Elements(value)
	if err != nil || len(pair) != 2 {
		return d, errors.New("not a pair")
	}
	if d.operation, err = rawjson.String(pair[0]); err != nil {
		return d, err
	}
	d.digest, err = rawjson.String(pair[1])
	return d, err
}
