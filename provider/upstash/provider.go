package upstash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recollect-go/recollect/memory"
)

// Provider is a memory of many records with ranked recall, capture and tools. It is a memory.Provider, may serve several
// slots, and may be used concurrently.
type Provider struct {
	client *Client
	opts   ProviderOptions
	index  string
}

var _ memory.Provider = (*Provider)(nil)

// Capture says which messages of a turn are stored.
type Capture string

const (
	// CaptureUser stores what people said. It is the default; "" means it.
	CaptureUser Capture = "user"
	// CaptureModel stores what the model answered. The tool forget_memory is not offered then: an answer about a deletion
	// quotes the text that was deleted, so forgetting would store it anew.
	CaptureModel Capture = "model"
	// CaptureAll stores both, and offers no forget_memory either.
	CaptureAll Capture = "all"
	// CaptureNone stores nothing by itself.
	CaptureNone Capture = "none"
)

// ProviderOptions configures NewProvider. The zero value means the defaults, which are those of Upstash AgentKit.
type ProviderOptions struct {
	// Prefix comes before the key of each record, with a colon between. "" means agentkit:memorySlot. Records of another
	// schema must not lie under it: a search would miss them.
	Prefix string
	// IndexName is the search index. "" means the prefix with an underscore in place of everything but letters and digits. A
	// database has at most ten.
	IndexName string
	// TopK is how many facts are recalled at most. 0 means 5.
	TopK int
	// MinScore leaves out facts that match less well. Scores are BM25 and have no upper bound.
	MinScore float64
	// MaxRecallCharacters bounds the recalled message in UTF-16 units. 0 means 4000. Facts that do not fit are left out, the
	// least relevant first, and never cut; the best one is always there.
	MaxRecallCharacters int
	// MaxMemoryCharacters is the longest text of one record in UTF-16 units. 0 means 2048. A longer message becomes several
	// records; a longer fact is refused, and the model told so.
	MaxMemoryCharacters int
	// Capture says which messages of a turn are stored.
	Capture Capture
	// NoIndexWait returns from a save or capture before the service has indexed the record, which may take tens of seconds.
	// The next turn may then not recall it.
	NoIndexWait bool
	// NoReplayCache does not keep recalls. A recall that is repeated under its operation id may then have another answer.
	NoReplayCache bool
	// ReplayTTL is how long a recall is kept: whole seconds. 0 means an hour.
	ReplayTTL time.Duration
	// ReplayPrefix comes before the key of each kept recall. "" means agentkit:memoryRecall.
	ReplayPrefix string
	// ApproveSave and ApproveForget decide whether a person must agree before the tool runs. nil: never. See memory.Tool.
	ApproveSave   func(ctx context.Context, call *memory.ToolCall) (bool, error)
	ApproveForget func(ctx context.Context, call *memory.ToolCall) (bool, error)
}

const (
	defaultPrefix              = "agentkit:memorySlot"
	defaultReplayPrefix        = "agentkit:memoryRecall"
	defaultTopK                = 5
	defaultMaxRecallCharacters = 4000
	defaultMaxMemoryCharacters = 2048
	defaultReplayTTL           = time.Hour

	// minMemoryCharacters leaves room for any one character, so that a long text can always be divided.
	minMemoryCharacters = 16
	// maxQueryCharacters bounds what is searched for. The beginning of a long message says what it is about.
	maxQueryCharacters = 2000
)

var notIdentifier = regexp.MustCompile(`[^A-Za-z0-9_]`)

// NewProvider returns the provider over the client's database, or one error that lists every problem. It sends nothing: the
// index is created by the first recall or search.
func NewProvider(client *Client, opts *ProviderOptions) (*Provider, error) {
	p := &Provider{client: client}
	if opts != nil {
		p.opts = *opts
	}
	problems := p.opts.problems()
	if client == nil {
		problems = append(problems, errors.New("client is missing"))
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("upstash: %w", errors.Join(problems...))
	}
	p.opts.setDefaults()
	p.index = p.opts.IndexName
	if p.index == "" {
		p.index = notIdentifier.ReplaceAllString(p.opts.Prefix, "_")
	}
	return p, nil
}

func (o *ProviderOptions) problems() (problems []error) {
	for _, text := range []string{o.Prefix, o.IndexName, o.ReplayPrefix} {
		if !utf8.ValidString(text) {
			problems = append(problems, errors.New("a prefix or the index name is not valid UTF-8"))
		}
	}
	if o.TopK < 0 || o.MaxRecallCharacters < 0 || o.MinScore < 0 {
		problems = append(problems, errors.New("TopK, MinScore or MaxRecallCharacters is negative"))
	}
	if o.MaxMemoryCharacters != 0 && o.MaxMemoryCharacters < minMemoryCharacters {
		problems = append(problems, fmt.Errorf("MaxMemoryCharacters is less than %d", minMemoryCharacters))
	}
	if o.ReplayTTL < 0 || o.ReplayTTL%time.Second != 0 {
		problems = append(problems, errors.New("ReplayTTL is negative or not in whole seconds"))
	}
	switch o.Capture {
	case "", CaptureUser, CaptureModel, CaptureAll, CaptureNone:
	default:
		problems = append(problems, errors.New("Capture is none of the four"))
	}
	return problems
}

func (o *ProviderOptions) setDefaults() {
	o.Prefix = cmp.Or(o.Prefix, defaultPrefix)
	o.ReplayPrefix = cmp.Or(o.ReplayPrefix, defaultReplayPrefix)
	o.TopK = cmp.Or(o.TopK, defaultTopK)
	o.MaxRecallCharacters = cmp.Or(o.MaxRecallCharacters, defaultMaxRecallCharacters)
	o.MaxMemoryCharacters = cmp.Or(o.MaxMemoryCharacters, defaultMaxMemoryCharacters)
	o.ReplayTTL = cmp.Or(o.ReplayTTL, defaultReplayTTL)
	o.Capture = cmp.Or(o.Capture, CaptureUser)
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
			return p.recall(ctx, &r.Operation, &r.Turn, r.Messages)
		},
		RecallCompacted: func(ctx context.Context, r *memory.CompactionCompleted) ([]memory.Item, error) {
			return p.recall(ctx, &r.Operation, r.Turn, r.Messages)
		},
		Tools:  p.tools,
		Erase:  p.erase,
		Export: p.export,
	}
	if p.opts.Capture != CaptureNone {
		handlers.CaptureTurn = p.capture
	}
	return handlers, nil
}

// checkToolNames refuses a slot whose name leaves no room for those of the tools.
func checkToolNames(info memory.SlotInfo) error {
	const most = 64
	for _, name := range []string{saveName, searchName, forgetName, readName} {
		if len(info.ToolName(name)) > most {
			return fmt.Errorf("upstash: slot %q: tool %q gets a name of more than %d characters", info.Name, name, most)
		}
	}
	return nil
}

// keyPart returns text as one part of a key. A colon separates parts, so it may not be in one.
func keyPart(text string) string { return strings.ReplaceAll(text, ":", "_") }
