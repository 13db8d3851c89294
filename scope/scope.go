package scope

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/recollect-go/recollect/internal/ecma"
)

// Scope says who or what shares a memory: a string, or a tuple of strings. The zero Scope disables the slot. A string and a
// one-tuple of it are different scopes. A Scope is immutable, and a Resolver of itself. Formatting and logging one tells its
// form and not its value.
type Scope struct {
	form  form
	text  string
	parts []string
}

type form uint8

const (
	formNone form = iota
	formString
	formTuple
)

// String returns the scope that is the string s. Whoever resolves to the same string under the same namespace shares the
// memory: a constant is shared by everybody.
func String(s string) Scope { return Scope{form: formString, text: s} }

// Tuple returns the scope that is the tuple of parts, in order.
func Tuple(parts ...string) Scope { return Scope{form: formTuple, parts: slices.Clone(parts)} }

// IsZero reports whether s is the zero Scope, which disables a slot. String("") and Tuple() are not zero; they are invalid.
func (s Scope) IsZero() bool { return s.form == formNone }

// Equal reports whether s and t are the same scope.
func (s Scope) Equal(t Scope) bool {
	return s.form == t.form && s.text == t.text && slices.Equal(s.parts, t.parts)
}

// Parts returns a copy of the components: one for a string, none for the zero Scope.
func (s Scope) Parts() []string {
	if s.form == formString {
		return []string{s.text}
	}
	return slices.Clone(s.parts)
}

// Format writes the form of s, such as "scope of 2 components", for every verb. Scope values identify people and stay out of
// messages.
func (s Scope) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.describe())) }

// LogValue keeps the value out of logs, also of those that write JSON.
func (s Scope) LogValue() slog.Value { return slog.StringValue(s.describe()) }

func (s Scope) describe() string {
	switch s.form {
	case formString:
		return "scope of a string"
	case formTuple:
		return fmt.Sprintf("scope of %d components", len(s.parts))
	}
	return "zero scope"
}

// MarshalJSON writes a string, an array of strings, or null for the zero Scope. Text that is not valid UTF-8 is an error
// matching ErrInvalidUTF8.
func (s Scope) MarshalJSON() ([]byte, error) {
	switch s.form {
	case formString:
		return appendJSON(nil, s.text)
	case formTuple:
		return appendJSONTuple(nil, s.parts)
	}
	return []byte("null"), nil
}

func appendJSONTuple(dst []byte, parts []string) ([]byte, error) {
	dst = append(dst, '[')
	for i, part := range parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendJSON(dst, part); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendJSON(dst []byte, s string) ([]byte, error) {
	if ecma.Valid(s) != nil {
		return nil, ErrInvalidUTF8
	}
	return ecma.AppendQuote(dst, s), nil
}

var errScopeJSON = errors.New("scope: JSON is neither a string nor an array of strings")

// UnmarshalJSON reads what MarshalJSON writes. Text without a UTF-8 form, a lone surrogate included, is an error matching
// ErrInvalidUTF8; nothing is replaced.
func (s *Scope) UnmarshalJSON(data []byte) error {
	if err := checkJSON(data); err != nil {
		return err
	}
	if bytes.Equal(data, []byte("null")) {
		*s = Scope{}
		return nil
	}
	var text string
	if json.Unmarshal(data, &text) == nil {
		*s = String(text)
		return nil
	}
	var parts []*string // null is not a component
	if json.Unmarshal(data, &parts) != nil || parts == nil || slices.Contains(parts, nil) {
		return errScopeJSON
	}
	*s = Scope{form: formTuple, parts: make([]string, len(parts))}
	for i, part := range parts {
		s.parts[i] = *part
	}
	return nil
}

// checkJSON returns an error matching ErrInvalidUTF8 where a decoder would replace text.
func checkJSON(data []byte) error {
	err := ecma.ValidJSON(data)
	switch {
	case errors.Is(err, ecma.ErrLoneSurrogate):
		return fmt.Errorf("%w: %w", ErrInvalidUTF8, err)
	case err != nil:
		return ErrInvalidUTF8
	}
	return nil
}
