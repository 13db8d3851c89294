// Package rawjson takes JSON apart without changing it: values stay the bytes that were read, so what a program does not
// know survives a rewrite. It differs from encoding/json where that would lose something in silence: text that is not UTF-8,
// a surrogate without its partner and a member given twice are errors, and names match exactly.
package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/recollect-go/recollect/internal/ecma"
)

// ErrSurrogate reports a JSON string with a surrogate that has no partner. Go text cannot hold it.
var ErrSurrogate = errors.New("text holds half of a surrogate pair")

// Compact returns a copy of the JSON value in data without the space around its tokens. It is an error when data is not
// exactly one JSON value in valid UTF-8.
func Compact(data []byte) ([]byte, error) {
	if !utf8.Valid(data) {
		return nil, ecma.ErrInvalidUTF8
	}
	var out bytes.Buffer
	out.Grow(len(data))
	if err := json.Compact(&out, data); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return out.Bytes(), nil
}

// Kind is the first byte of a compact JSON value: one of { [ " t f n - or a digit.
func Kind(value []byte) byte {
	if len(value) == 0 {
		return 0
	}
	return value[0]
}

// Member is a member of an object. Value is part of the object's bytes.
type Member struct {
	Name   string // as Text returns it
	Value  json.RawMessage
	quoted []byte // the name as it was read
}

// Members returns the members of a compact object in their order. A name that occurs twice is an error.
func Members(object []byte) ([]Member, error) {
	if Kind(object) != '{' {
		return nil, errors.New("not a JSON object")
	}
	var members []Member
	for at := 1; object[at] != '}'; {
		if object[at] == ',' {
			at++
		}
		end := valueEnd(object, at)
		quoted := object[at:end]
		at = end + 1
		end = valueEnd(object, at)
		members = append(members, Member{Text(quoted), json.RawMessage(object[at:end:end]), quoted})
		at = end
	}
	return members, distinct(members)
}

// few is the number of members up to which comparing all pairs is cheaper than a map.
const few = 16

func distinct(members []Member) error {
	if len(members) <= few {
		for i := range members {
			for j := range i {
				if members[i].Name == members[j].Name {
					return twice(members[i].Name)
				}
			}
		}
		return nil
	}
	seen := make(map[string]struct{}, len(members))
	for _, m := range members {
		if _, ok := seen[m.Name]; ok {
			return twice(m.Name)
		}
		seen[m.Name] = struct{}{}
	}
	return nil
}

func twice(name string) error { return fmt.Errorf("member %.40q is given twice", name) }

// Find returns the value of the named member, or nil.
func Find(members []Member, name string) json.RawMessage {
	for _, m := range members {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// Elements returns the elements of a compact array. They are parts of its bytes.
func Elements(array []byte) ([]json.RawMessage, error) {
	if Kind(array) != '[' {
		return nil, errors.New("not a JSON array")
	}
	var elements []json.RawMessage
	for at := 1; array[at] != ']'; {
		if array[at] == ',' {
			at++
		}
		end := valueEnd(array, at)
		elements = append(elements, json.RawMessage(array[at:end:end]))
		at = end
	}
	return elements, nil
}

// AppendObject appends the object of the given members.
func AppendObject(dst []byte, members []Member) []byte {
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendMember(dst, m)
	}
	return append(dst, '}')
}

// AppendMember appends a member, with its name as it was read.
func AppendMember(dst []byte, m Member) []byte {
	if m.quoted != nil {
		dst = append(dst, m.quoted...)
	} else {
		dst = ecma.AppendQuote(dst, m.Name)
	}
	dst = append(dst, ':')
	return append(dst, m.Value...)
}

// valueEnd returns the index after the value that begins at the given index of valid compact JSON.
func valueEnd(data []byte, at int) int {
	switch data[at] {
	case '"':
		return stringEnd(data, at)
	case '{', '[':
		return nestedEnd(data, at)
	}
	for at < len(data) && data[at] != ',' && data[at] != '}' && data[at] != ']' && data[at] != ':' {
		at++
	}
	return at
}

func stringEnd(data []byte, at int) int {
	for at++; data[at] != '"'; at++ {
		if data[at] == '\\' {
			at++
		}
	}
	return at + 1
}

func nestedEnd(data []byte, at int) int {
	depth := 0
	for {
		switch data[at] {
		case '"':
			at = stringEnd(data, at)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		at++
		if depth == 0 {
			return at
		}
	}
}
