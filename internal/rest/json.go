package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Encode returns v as JSON without HTML escaping.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Decode reads a service's JSON into v. Members that v does not know are ignored, since a service may add some; a wrong
// type, invalid UTF-8 and anything after the value are errors matching ErrBadReply. No error quotes the text.
func Decode(data []byte, v any) error {
	if !utf8.Valid(data) {
		return fmt.Errorf("%w: not valid UTF-8", ErrBadReply)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(v); err != nil {
		return fmt.Errorf("%w: %s", ErrBadReply, jsonProblem(err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: text after the JSON value", ErrBadReply)
	}
	return nil
}

func jsonProblem(err error) string {
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return fmt.Sprintf("member %q has another type than %s", mistyped.Field, mistyped.Type)
	}
	return "not JSON"
}
