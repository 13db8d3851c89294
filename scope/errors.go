package scope

import (
	"errors"
	"fmt"
)

// Reasons why a namespace and a scope have no key, in the order in which they are checked. A *LimitError carries one.
var (
	ErrZeroScope        = errors.New("scope: the zero scope has no key")
	ErrNamespaceBlank   = errors.New("scope: namespace is blank")
	ErrNamespaceTooLong = errors.New("scope: namespace is too long")
	ErrTupleEmpty       = errors.New("scope: tuple has no components")
	ErrTupleTooLong     = errors.New("scope: tuple has too many components")
	ErrComponentBlank   = errors.New("scope: component is blank")
	ErrComponentTooLong = errors.New("scope: component is too long")
	ErrKeyTooLarge      = errors.New("scope: namespace and scope together are too large")
)

// ErrInvalidUTF8 matches the error for a namespace, a scope or a principal with text that is not valid UTF-8.
var ErrInvalidUTF8 = errors.New("scope: text is not valid UTF-8")

// ErrInvalidResolver matches what Validate and ValidateNamespace report.
var ErrInvalidResolver = errors.New("scope: invalid resolver")

// noComponent is the Component of a LimitError that is not about one.
const noComponent = -1

// LimitError reports a namespace or scope that Derive refuses. It carries sizes, never values.
type LimitError struct {
	// Limit is one of the errors above; errors.Is finds it.
	Limit error
	// Component is the index of the offending component: 0 for a string, -1 when the limit is not about a component.
	Component int
	// Size is what was measured and Max what is allowed: components for a tuple's length, bytes otherwise. Max is 0 when the
	// error is not about a size.
	Size, Max int
}

// Error names the limit, the component and the sizes.
func (e *LimitError) Error() string {
	text := e.Limit.Error()
	if e.Component >= 0 {
		text = fmt.Sprintf("%s (component %d)", text, e.Component)
	}
	if e.Max > 0 {
		text = fmt.Sprintf("%s: %d, at most %d", text, e.Size, e.Max)
	}
	return text
}

// Unwrap returns the limit.
func (e *LimitError) Unwrap() error { return e.Limit }
