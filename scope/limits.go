package scope

import (
	"unicode/utf8"

	"github.com/recollect-go/recollect/internal/ecma"
)

// Limits of what Derive accepts. They are those of eve: a value beyond one has no key there either.
const (
	MaxNamespaceBytes = 1024
	MaxComponents     = 16
	MaxComponentBytes = 1024
	// MaxEncodedBytes bounds the encodings of namespace and scope together, tags and length words included.
	MaxEncodedBytes = 4096
)

func checkNamespace(n Namespace) error {
	switch {
	case ecma.IsBlank(string(n)):
		return &LimitError{Limit: ErrNamespaceBlank, Component: noComponent, Size: len(n)}
	case len(n) > MaxNamespaceBytes:
		return &LimitError{Limit: ErrNamespaceTooLong, Component: noComponent, Size: len(n), Max: MaxNamespaceBytes}
	case !utf8.ValidString(string(n)):
		return &LimitError{Limit: ErrInvalidUTF8, Component: noComponent, Size: len(n)}
	}
	return nil
}

func checkScope(s Scope) error {
	switch s.form {
	case formString:
		return checkComponent(0, s.text)
	case formTuple:
		return checkTuple(s.parts)
	}
	return &LimitError{Limit: ErrZeroScope, Component: noComponent}
}

func checkTuple(parts []string) error {
	switch {
	case len(parts) == 0:
		return &LimitError{Limit: ErrTupleEmpty, Component: noComponent}
	case len(parts) > MaxComponents:
		return &LimitError{Limit: ErrTupleTooLong, Component: noComponent, Size: len(parts), Max: MaxComponents}
	}
	for i, part := range parts {
		if err := checkComponent(i, part); err != nil {
			return err
		}
	}
	return nil
}

func checkComponent(i int, text string) error {
	switch {
	case ecma.IsBlank(text):
		return &LimitError{Limit: ErrComponentBlank, Component: i, Size: len(text)}
	case len(text) > MaxComponentBytes:
		return &LimitError{Limit: ErrComponentTooLong, Component: i, Size: len(text), Max: MaxComponentBytes}
	case !utf8.ValidString(text):
		return &LimitError{Limit: ErrInvalidUTF8, Component: i, Size: len(text)}
	}
	return nil
}
