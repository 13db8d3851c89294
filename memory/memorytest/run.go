package memorytest

import (
	"errors"
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/recollect-go/recollect/memory"
)

// Run checks the provider that newProvider returns against every rule. newProvider is called once per rule; it registers its
// own cleanup with t. The providers it returns may share a store.
func Run(t *testing.T, newProvider func(t *testing.T) memory.Provider, opts *Options) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			err := r.run(newProvider(t), opts.withDefaults())
			var skip *skipError
			if errors.As(err, &skip) {
				t.Skip(skip.reason)
			}
			if err != nil {
				t.Fatalf("%s\nrule: %s", err, r.text)
			}
		})
	}
}

// rule is something that every provider does. Its check returns how the provider breaks it. The kit's own tests run rules on
// broken providers and look at that error, which is why it is none of testing.T's.
type rule struct {
	name  string
	text  string
	check func(*probe) error
}

var rules = []rule{
	{"attach has no side effects", "memory.Provider: Attach checks the configuration and has no side effects; Recall is required", attach},
	{"recall of an unused key", "memory.Handlers.Recall: where nothing is stored, the answer is valid, and no error", recallUnused},
	{"recall is valid", "memory.Item: content is not blank and is UTF-8; ids are unique and at most 1024 bytes", recallValid},
	{"recall shows what was stored", "memory.Handlers.Recall returns what the model should see", recallShows},
	{"recall repeated", "memory.Handlers.Recall: the same operation id gets the same answer", recallRepeated},
	{"recall cancelled", "memory.Handlers: a call returns promptly when its context ends, and the provider stays usable", recallCancelled},
	{"recall after compaction", "memory.Handlers.RecallCompacted answers for its key alone", recallCompacted},
	{"isolation of recall", "memory.Operation.Key is the partition of every read", isolationRecall},
	{"isolation of capture", "memory.Operation.Key is the partition of every write", isolationCapture},
	{"isolation of tools", "a tool is bound to the key that it was asked for with", isolationTools},
	{"isolation of reading tools", "a tool shows nothing that is stored under another key", isolationReadTools},
	{"capture repeated", "memory.Handlers.CaptureTurn: the operation id is an idempotency key", captureRepeated},
	{"capture of different turns", "memory.Handlers.CaptureTurn: another operation is another capture", captureDifferent},
	{"capture cancelled", "a capture that was cancelled can be repeated and is stored once", captureCancelled},
	{"capture of a compaction repeated", "memory.Handlers.CaptureCompaction: the operation id is an idempotency key", captureCompactionRepeated},
	{"tools are well formed", "memory.Tool: names, descriptions and closed object schemas", toolsWellFormed},
	{"tools take no partition", "memory.Handlers.Tools: no tool takes a scope, a namespace or a key as an argument", toolsTakeNoPartition},
	{"tools refuse unknown arguments", "a tool decodes its input strictly", toolsRefuseUnknown},
	{"tools keep their order", "memory.Handlers.Tools: the order is the same every turn", toolsKeepOrder},
	{"tools resumed elsewhere", "memory.ToolsRequest: messages and input are missing when a call is resumed", toolsResumed},
	{"hostile content", "memory.Item.Content is data: it is stored and shown as it is, or refused", hostileContent},
	{"requests are read-only", "memory.Handlers: requests are read-only", requestsReadOnly},
	{"concurrency", "memory.Handlers: all functions may be called concurrently, for different keys and for the same one", concurrency},
	{"erase leaves nothing", "memory.Handlers.Erase removes everything stored under the key, and nothing else", eraseLeavesNothing},
	{"export holds what is stored", "memory.Handlers.Export: everything under the key and nothing else, in the same order every time", exportHoldsWhatIsStored},
	{"export stops", "memory.Handlers.Export: an error of Write ends the export and is returned, and so does the end of the context", exportStops},
	{"erase repeated", "memory.Handlers.Erase: a repeated call succeeds", eraseRepeated},
}

// run checks one rule. A panic breaks it.
func (r rule) run(provider memory.Provider, opts Options) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	p, err := newProbe(provider, opts)
	if err != nil {
		return err
	}
	defer p.end()
	return r.check(p)
}

// skipError says that a rule does not apply.
type skipError struct{ reason string }

func (e *skipError) Error() string { return e.reason }

func skip(reason string) error { return &skipError{reason} }
