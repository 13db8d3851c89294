package upstash

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/recollect-go/recollect/internal/rest"
)

// reply is the result of a command, its strings in base64.
type reply struct{ raw json.RawMessage }

func (r reply) isNull() bool { return string(r.raw) == "null" }

// text returns a string, and whether there is one. The status OK is never encoded.
func (r reply) text() (text string, present bool, err error) {
	if r.isNull() {
		return "", false, nil
	}
	var encoded string
	if err := rest.Decode(r.raw, &encoded); err != nil {
		return "", false, err
	}
	if encoded == "OK" {
		return encoded, true, nil
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", false, fmt.Errorf("%w: a string is not in base64, which was asked for", ErrBadReply)
	}
	return string(decoded), true, nil
}

// must returns a string that has to be there.
func (r reply) must() (string, error) {
	text, present, err := r.text()
	if err == nil && !present {
		err = fmt.Errorf("%w: null in place of a string", ErrBadReply)
	}
	return text, err
}

// list returns the elements of an array that has to be there.
func (r reply) list() ([]reply, error) {
	var raw []json.RawMessage
	if err := rest.Decode(r.raw, &raw); err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, fmt.Errorf("%w: null in place of a list", ErrBadReply)
	}
	elements := make([]reply, len(raw))
	for i := range raw {
		elements[i] = reply{raw[i]}
	}
	return elements, nil
}

// number returns a number, which some replies write as a string.
func (r reply) number() (float64, error) {
	var number float64
	if rest.Decode(r.raw, &number) == nil && !r.isNull() {
		return number, nil
	}
	text, err := r.must()
	if err != nil {
		return 0, err
	}
	if number, err = strconv.ParseFloat(text, 64); err != nil || math.IsNaN(number) {
		return 0, fmt.Errorf("%w: text in place of a number", ErrBadReply)
	}
	return number, nil
}
