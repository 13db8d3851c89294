package supermemory

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/memory"
)

// Provider is a memory in Supermemory. It is a memory.Provider, may serve several slots, and may be used concurrently.
type Provider struct {
	api  *api
	opts Options
}

var _ memory.Provider = (*Provider)(nil)

// New returns the provider for the account of key, or one error that lists every problem. It sends nothing.
func New(key Secret, opts *Options) (*Provider, error) {
	o, err := opts.withDefaults()
	if key == nil {
		err = errors.Join(errors.New("API key is missing"), err)
	}
	if err != nil {
		return nil, fmt.Errorf("supermemory: %w", err)
	}
	return &Provider{api: newAPI(key, &o), opts: o}, nil
}

// NewFromEnvironment is New with the key in SUPERMEMORY_API_KEY and, unless opts give one, the address in
// SUPERMEMORY_BASE_URL, both trimmed. lookup is usually os.LookupEnv.
func NewFromEnvironment(lookup func(name string) (string, bool), opts *Options) (*Provider, error) {
	value := variable(lookup, "SUPERMEMORY_API_KEY")
	if value == "" {
		return nil, errors.New("supermemory: set SUPERMEMORY_API_KEY")
	}
	key, err := APIKey(value)
	if err != nil {
		return nil, err
	}
	o := Options{}
	if opts != nil {
		o = *opts
	}
	o.BaseURL = cmp.Or(o.BaseURL, variable(lookup, "SUPERMEMORY_BASE_URL"))
	return New(key, &o)
}

func variable(lookup func(string) (string, bool), name string) string {
	value, _ := lookup(name)
	return ecma.Trim(value)
}

// Attach returns the handlers for a slot: the same recall before a turn and after a compaction, capture of completed turns
// unless it is off, the tools, erasure and export. Nothing is captured at a compaction, because every turn was captured when
// it ended.
func (p *Provider) Attach(info memory.SlotInfo) (memory.Handlers, error) {
	if err := checkToolNames(info); err != nil {
		return memory.Handlers{}, err
	}
	handlers := memory.Handlers{
		Recall: func(ctx context.Context, r *memory.TurnStarted) ([]memory.Item, error) {
			return p.recall(ctx, r.Key, &r.Turn, r.Messages)
		},
		RecallCompacted: func(ctx context.Context, r *memory.CompactionCompleted) ([]memory.Item, error) {
			return p.recall(ctx, r.Key, r.Turn, r.Messages)
		},
		Tools:  p.tools,
		Erase:  p.erase,
		Export: p.export,
	}
	if !p.opts.NoCapture {
		handlers.CaptureTurn = p.capture
	}
	return handlers, nil
}

// checkToolNames refuses a slot whose name leaves no room for those of the tools.
func checkToolNames(info memory.SlotInfo) error {
	const most = 64
	for _, name := range toolNames {
		if len(info.ToolName(name)) > most {
			return fmt.Errorf("supermemory: slot %q: tool %q gets a name of more than %d characters", info.Name, name, most)
		}
	}
	return nil
}

// tags are the container tags of one key.
type tags struct {
	context    string // conversations and memories
	extraction string // sources handed over to be read
}

const extractionSuffix = "_extraction"

// tags returns the container tags of a key. A key has 43 characters of base64url after its prefix, so a tag is within the
// service's grammar.
func (p *Provider) tags(operation, key string) (tags, error) {
	if err := docstore.CheckKey(key); err != nil {
		return tags{}, failed(operation, err)
	}
	prefix := p.opts.ContainerTagPrefix
	t := tags{context: prefix + "_" + key, extraction: prefix + extractionSuffix + "_" + key}
	if len(t.extraction) > maxTag {
		return tags{}, failed(operation, fmt.Errorf("container tag has %d characters, at most %d", len(t.extraction), maxTag))
	}
	return t, nil
}

// maxTag is the service's limit.
const maxTag = 100
