package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// object is a JSON object whose known members are taken out one by one; what is left is kept for the next write.
type object struct{ members []member }

// splitObject returns the members of a JSON object in their order, as copies. A name that comes twice is an error: nobody
// knows which one counts. raw is known to be valid JSON, so it is not parsed a second time at each level.
func splitObject(raw []byte) (*object, error) {
	at := skipSpace(raw, 0)
	if raw[at] != '{' {
		return nil, errors.New("not a JSON object")
	}
	o := &object{}
	seen := map[string]bool{}
	for at = skipSpace(raw, at+1); raw[at] != '}'; {
		var m member
		end := endOfText(raw, at)
		if err := json.Unmarshal(raw[at:end], &m.name); err != nil {
			return nil, err
		}
		if seen[m.name] {
			return nil, fmt.Errorf("the member %q comes twice", m.name)
		}
		seen[m.name] = true
		at = skipSpace(raw, skipSpace(raw, end)+1) // past the colon
		end = endOfValue(raw, at)
		m.raw = bytes.Clone(raw[at:end])
		o.members = append(o.members, m)
		if at = skipSpace(raw, end); raw[at] == ',' {
			at = skipSpace(raw, at+1)
		}
	}
	return o, nil
}

// skipSpace returns the index of the first character from at on that is no space.
func skipSpace(raw []byte, at int) int {
	for bytes.IndexByte([]byte(" \t\r\n"), raw[at]) >= 0 {
		at++
	}
	return at
}

// endOfText returns the index behind the JSON text that begins at at.
func endOfText(raw []byte, at int) int {
	for at++; raw[at] != '"'; at++ {
		if raw[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// endOfValue returns the index behind the JSON value that begins at at.
func endOfValue(raw []byte, at int) int {
	for depth := 0; ; {
		switch raw[at] {
		case '"':
			at = endOfText(raw, at)
		case '[', '{':
			depth++
			at++
		case ']', '}':
			depth--
			at++
		case ',', ':', ' ', '\t', '\r', '\n':
			at++
		default:
			at = endOfLiteral(raw, at)
		}
		if depth == 0 {
			return at
		}
	}
}

// endOfLiteral returns the index behind the number, true, false or null that begins at at.
func endOfLiteral(raw []byte, at int) int {
	for at < len(raw) && bytes.IndexByte([]byte(",:]} \t\r\n"), raw[at]) < 0 {
		at++
	}
	return at
}
