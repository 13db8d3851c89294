package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/recollect-go/recollect/internal/ecma"
)

// Encode returns v as JSON without HTML escaping, or an error matching ErrNotUTF8 when a text in v is not valid UTF-8.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	if ecma.Replaced(b.Bytes()) {
		return nil, ErrNotUTF8
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Decode reads a service's JSON into v. Members that v does not know are ignored, since a service may add some; a wrong
// type, text that is not Unicode and anything after the value are errors matching ErrBadReply. No error quotes the text.
func Decode(data []byte, v any) error {
	if err := ecma.ValidJSON(data); err != nil {
		return fmt.Errorf("%w: %w", ErrBadReply, err)
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
