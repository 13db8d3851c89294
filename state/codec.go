package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// codec turns values of one Go type into JSON and back, exactly or not at all.
type codec struct {
	shapes *shapes
	shape  *shape
}

func codecFor(s *shapes, t reflect.Type) codec {
	return codec{shapes: s, shape: s.of(t)}
}

// normalize returns the JSON of value and sets restored, the zero value of the same type, to what that JSON decodes to:
// the value as every later reader sees it. Both arguments are addressable. A value that does not come back the same is a
// problem.
func (c codec) normalize(value, restored reflect.Value) ([]byte, *problem) {
	in := inspector{shapes: c.shapes}
	if found := in.inspect(c.shape, value); found != nil {
		return nil, found
	}
	raw, err := encodeJSON(value.Addr().Interface())
	if err != nil || !utf8.Valid(raw) {
		return nil, c.locate(value, err)
	}
	if c.shape.exact { // of no recursive type, so not deep
		clone(c.shape, restored, value)
		return raw, nil
	}
	if isTooDeep(raw) {
		return nil, tooDeep()
	}
	if err := json.Unmarshal(raw, restored.Addr().Interface()); err != nil {
		return nil, &problem{path: fieldOf(err), reason: "JSON cannot restore it", err: err}
	}
	if found := compare(c.shape, value, restored); found != nil {
		return nil, found
	}
	return raw, nil
}

// locate finds the value that failed to encode itself, and why.
func (c codec) locate(value reflect.Value, err error) *problem {
	in := inspector{shapes: c.shapes, probe: true}
	if found := in.inspect(c.shape, value); found != nil {
		return found
	}
	return &problem{reason: "JSON cannot encode it", err: err}
}

// encodeJSON returns the compact JSON of v, without HTML escaping.
func encodeJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// decodeStrictly decodes raw into target, a pointer, and refuses members that the type does not know: the next write
// would drop them.
func decodeStrictly(raw []byte, target any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(target); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}

// explain describes a decoding error without quoting the value.
func explain(err error) string {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		what, _, _ := strings.Cut(kind.Value, " ")
		if kind.Field == "" {
			return fmt.Sprintf("a JSON %s where the type has %s", what, kind.Type)
		}
		return fmt.Sprintf("a JSON %s at %s where the type has %s", what, kind.Field, kind.Type)
	}
	if errors.Is(err, errNarrow) {
		return "the type has " + errNarrow.Error()
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return "the type does not know the member " + name
	}
	return "it does not fit the type"
}

func fieldOf(err error) string {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return kind.Field
	}
	return ""
}
