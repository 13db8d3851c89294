package memory

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/recollect-go/recollect/scope"
)

// DefaultCaptureTimeout bounds the captures of one turn or compaction.
const DefaultCaptureTimeout = 30 * time.Second

// Options configures New. nil means all defaults.
type Options struct {
	// Deployment gives a namespace to the slots that have none of their own. It must be known if there is such a slot.
	Deployment scope.Deployment
	// Node is the agent whose slots these are. "" means scope.RootNode.
	Node string
	// Logger is told what nobody else is: disabled slots in development, failures that do not fail a turn, the stack of a
	// panic in a provider or other code that the library was given. nil means slog.Default().
	Logger *slog.Logger
	// Observer is told about every call and event. nil means nobody.
	Observer *Observer
	// Development adds log lines that help to see why a memory is empty: slots that are disabled, and slots that share a
	// key.
	Development bool
	// CaptureTimeout bounds the captures of one turn or compaction, which outlive the request's context. 0 means
	// DefaultCaptureTimeout.
	CaptureTimeout time.Duration
	// Outbox makes the captures of completed turns survive a crash and an outage; see Outbox, also for what captures see
	// then. nil means that a capture that fails is reported, and lost.
	Outbox *Outbox
	// Validator checks the input of a tool call against the tool's schema, before the call. nil means that only its form is
	// checked: one JSON object.
	Validator SchemaValidator
	// BindingKey signs tool bindings, so that they may leave the server. At least 32 bytes; nil means that bindings are not
	// signed.
	BindingKey []byte
}

// SchemaValidator reports whether an input matches a JSON Schema. Its error is shown to the model.
type SchemaValidator func(schema, input json.RawMessage) error

// Memory is the memories of one agent node. It holds no conversation and may be used concurrently.
type Memory struct {
	slots          []*slot
	node           string
	log            *slog.Logger
	observer       Observer
	development    bool
	captureTimeout time.Duration
	outbox         *Outbox
	validator      SchemaValidator
	bindingKey     []byte
}
