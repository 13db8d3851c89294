package conformance

import (
	"errors"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

// codes says which of our errors is which code of the vectors. The codes recall_shape, recall_unknown_key and recall_id_empty have no error:
// Go's types leave no room for their causes.
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
	{memory.ErrBlankContent, "recall_content_blank"},
	{memory.ErrItemID, "recall_id_too_long"},
	{memory.ErrDuplicateItem, "recall_id_duplicate"},
	{memory.ErrReplay, "replay_mismatch"},
	{memory.ErrAttribution, "attribution_malformed"},
	{filememory.ErrEntryEmpty, "entry_empty"},
	{filememory.ErrEntryTooLong, "entry_too_long"},
	{filememory.ErrRecallBudget, "recall_budget"},
	{filememory.ErrDocumentInvalid, "document_invalid"},
	{filememory.ErrDocumentTooLarge, "document_too_large"},
	{filememory.ErrDocumentOversized, "document_oversized"},
	{filememory.ErrIndexExhausted, "index_exhausted"},
	{filememory.ErrOptionInvalid, "option_invalid"},
	{filememory.ErrConflict, "conflict"},
	{memory.ErrProvider, "provider_error"},
}

// failed returns an error as the vectors write it, or nil. An error that no vector has keeps its text, so that a failed test shows it.
func failed(err error) *failure {
	if err == nil {
		return nil
	}
	return &failure{codeOf(err)}
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	for _, known := range codes {
		if errors.Is(err, known.err) {
			return known.code
		}
	}
	return "unknown: " + err.Error()
}
