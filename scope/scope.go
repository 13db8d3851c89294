package scope

import (
	"encoding/json"
	"errors"
	"slices"
)

// Scope says who or what shares a memory: a string, or a tuple of strings. The zero Scope disables the slot. A string and
// a one-tuple of it are different scopes. A Scope is immutable, and a Resolver of itself.
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

// MarshalJSON writes a string, an array of strings, or null for the zero Scope.
func (s Scope) MarshalJSON() ([]byte, error) {
	switch s.form {
	case formString:
		return json.Marshal(s.text)
	case formTuple:
		return json.Marshal(append([]string{}, s.parts...))
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Scope) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*s = Scope{}
		return nil
	}
	var text string
	if json.Unmarshal(data, &text) == nil {
		*s = String(text)
		return nil
	}
	var parts []string
	if json.Unmarshal(data, &parts) == nil {
		*s = Tuple(parts...)
		return nil
	}
	return errors.New("scope: neither a string nor an array of strings")
}

// Namespace is the application domain inside which a scope means something. The zero Namespace disables the slot. A
// Namespace is a NamespaceResolver of itself.
type Namespace string
