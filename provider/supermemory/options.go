package supermemory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rest"
	"github.com/recollect-go/recollect/memory"
)

// Retry says how often and when a request is sent again.
type Retry = rest.Retry

// Secret gives the API key.
type Secret = rest.Secret

// SecretFunc is a function that is a Secret.
type SecretFunc = rest.SecretFunc

// APIKey returns a Secret that is always key.
func APIKey(key string) (Secret, error) {
	secret, err := rest.FixedSecret(key)
	if err != nil {
		return nil, fmt.Errorf("supermemory: API key: %w", err)
	}
	return secret, nil
}

// TaskType says what the service makes of a captured conversation.
type TaskType string

const (
	TaskMemory   TaskType = "memory"   // extracts memories; the default, "" means it
	TaskSuperRAG TaskType = "superrag" // makes it searchable only
)

// Dreaming says when the service extracts memories.
type Dreaming string

const (
	DreamingDynamic Dreaming = "dynamic" // when it sees fit; the default, "" means it
	DreamingInstant Dreaming = "instant" // at once
)

// Options configures New. The zero value means the defaults, which are those of the service's provider for eve.
type Options struct {
	// ContainerTagPrefix begins every container tag: 1 to 35 letters, digits, "_", "." and "-", not ending in "_extraction".
	// "" means eve_agent. Two applications with different prefixes share nothing.
	ContainerTagPrefix string
	// NoSearch leaves out the search for the turn's input. The tool search stays.
	NoSearch bool
	// Location is the time zone of the dates that the model sees. nil means UTC.
	Location *time.Location
	// MaxRecallCharacters bounds each of the two recalled messages, in UTF-16 units. 0 means 8000. What does not fit is left
	// out whole.
	MaxRecallCharacters int

	// NoCapture stores nothing by itself.
	NoCapture bool
	// EntityContext tells the service what to extract from conversations, in at most 1100 UTF-16 units. "" means a text that
	// asks for what people say of themselves.
	EntityContext string
	// TaskType and Dreaming apply to captured conversations.
	TaskType TaskType
	Dreaming Dreaming
	// Metadata is added to captured conversations: strings, numbers, booleans and lists of strings. The names that this
	// package uses win.
	Metadata map[string]any

	// ApproveRemember, ApproveExtract and ApproveForget decide whether a person must agree before the tool runs; the last is
	// for forget and forget_matching. nil: never. See memory.Tool.
	ApproveRemember func(ctx context.Context, call *memory.ToolCall) (bool, error)
	ApproveExtract  func(ctx context.Context, call *memory.ToolCall) (bool, error)
	ApproveForget   func(ctx context.Context, call *memory.ToolCall) (bool, error)

	// BaseURL is the service's address. "" means https://api.supermemory.ai.
	BaseURL string
	// Retry applies to every request; all of them can be repeated. Attempts 0 means 3.
	Retry Retry
	// Timeout bounds one request. 0 means 30 s. The context bounds the whole call.
	Timeout time.Duration
	// MaxBytes bounds a reply. 0 means 32 MiB.
	MaxBytes int64
	// HTTPClient is copied, and the copy follows no redirect. nil means a client with a connection pool of its own.
	HTTPClient *http.Client
}

const (
	defaultPrefix              = "eve_agent"
	defaultBaseURL             = "https://api.supermemory.ai"
	defaultMaxRecallCharacters = 8000
	defaultAttempts            = 3
	defaultMaxBytes            = 32 << 20

	// maxEntityContext leaves room for toolNote within the service's 1500.
	maxEntityContext = 1100
	// minRecallCharacters leaves room for what stands around the entries.
	minRecallCharacters = 1000
)

var prefixGrammar = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,35}$`)

// withDefaults returns a copy with the defaults filled in, or every problem.
func (o *Options) withDefaults() (Options, error) {
	opts := Options{}
	if o != nil {
		opts = *o
	}
	opts.Metadata = maps.Clone(opts.Metadata)
	problems := opts.problems()
	opts.ContainerTagPrefix = cmp.Or(opts.ContainerTagPrefix, defaultPrefix)
	opts.Location = cmp.Or(opts.Location, time.UTC)
	opts.MaxRecallCharacters = cmp.Or(opts.MaxRecallCharacters, defaultMaxRecallCharacters)
	opts.EntityContext = cmp.Or(opts.EntityContext, defaultEntityContext)
	opts.TaskType = cmp.Or(opts.TaskType, TaskMemory)
	opts.Dreaming = cmp.Or(opts.Dreaming, DreamingDynamic)
	opts.BaseURL = cmp.Or(opts.BaseURL, defaultBaseURL)
	opts.Retry.Attempts = cmp.Or(opts.Retry.Attempts, defaultAttempts)
	opts.MaxBytes = cmp.Or(opts.MaxBytes, defaultMaxBytes)
	var err error
	if opts.Retry, err = opts.Retry.Normalize(); err != nil {
		problems = append(problems, err)
	}
	if opts.BaseURL, err = rest.BaseURL(opts.BaseURL); err != nil {
		problems = append(problems, err)
	}
	return opts, errors.Join(problems...)
}

func (o *Options) problems() (problems []error) {
	add := func(wrong bool, problem string) {
		if wrong {
			problems = append(problems, errors.New(problem))
		}
	}
	prefix := o.ContainerTagPrefix
	add(prefix != "" && !prefixGrammar.MatchString(prefix), "ContainerTagPrefix is not 1 to 35 letters, digits, \"_\", \".\" and \"-\"")
	add(strings.HasSuffix(prefix, extractionSuffix), "ContainerTagPrefix ends in "+extractionSuffix+", where another prefix keeps its sources")
	add(o.MaxRecallCharacters != 0 && o.MaxRecallCharacters < minRecallCharacters,
		fmt.Sprintf("MaxRecallCharacters is less than %d", minRecallCharacters))
	add(ecma.UTF16Len(o.EntityContext) > maxEntityContext, fmt.Sprintf("EntityContext has more than %d characters", maxEntityContext))
	add(ecma.Valid(o.EntityContext) != nil, "EntityContext is not valid UTF-8")
	add(!slices.Contains([]TaskType{"", TaskMemory, TaskSuperRAG}, o.TaskType), "TaskType is none of the two")
	add(!slices.Contains([]Dreaming{"", DreamingDynamic, DreamingInstant}, o.Dreaming), "Dreaming is none of the two")
	add(o.Timeout < 0 || o.MaxBytes < 0, "a limit is negative")
	for name, value := range o.Metadata {
		add(ecma.Valid(name) != nil || !isMetadata(value), fmt.Sprintf("Metadata %q is no string, number, boolean or list of strings", name))
	}
	return problems
}

// isMetadata reports whether the service can store value with a document.
func isMetadata(value any) bool {
	switch value := value.(type) {
	case string:
		return ecma.Valid(value) == nil
	case []string:
		return !slices.ContainsFunc(value, func(text string) bool { return ecma.Valid(text) != nil })
	case float64:
		return !math.IsNaN(value) && !math.IsInf(value, 0)
	case bool, int, int64:
		return true
	}
	return false
}
