package conformance

import (
	"errors"

	"github.com/recollect-go/recollect/scope"
)

// codes says which of our errors is which code of the vectors.
var codes = []struct {
	err  error
	code string
}{
	{scope.ErrNamespaceBlank, "namespace_empty"},
	{scope.ErrNamespaceTooLong, "namespace_too_long"},
	{scope.ErrTupleEmpty, "scope_tuple_empty"},
	{scope.ErrTupleTooLong, "scope_tuple_too_long"},
	{scope.ErrComponentBlank, "scope_component_empty"},
	{scope.ErrComponentTooLong, "scope_component_too_long"},
	{scope.ErrKeyTooLarge, "key_input_too_long"},
}

// codeOf returns the code of an error: "" for nil, "unknown" for one that no vector has.
func codeOf(err error) string {
	if err == nil {
		return ""
	}
	for _, known := range codes {
		if errors.Is(err, known.err) {
			return known.code
		}
	}
	return "unknown"
}
