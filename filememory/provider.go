package filememory

import (
	"context"
	"errors"
	"fmt"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/memory"
)

// Provider is the file memory of a backend. It is a memory.Provider, may serve several slots, and may be used concurrently.
type Provider struct {
	backend Backend
	opts    Options
	updater *docstore.Updater
}

// maxToolName is the longest name of a tool that models accept, in characters: that of package memory.
const maxToolName = 64

var _ memory.Provider = (*Provider)(nil)

// New returns the provider that keeps its documents in backend, or an error matching ErrOptionInvalid that lists every
// problem.
func New(backend Backend, opts *Options) (*Provider, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	err := o.check()
	if backend == nil {
		err = errors.Join(fmt.Errorf("%w: no backend", ErrOptionInvalid), err)
	}
	if err != nil {
		return nil, err
	}
	if o.MaxCharacters == 0 {
		o.MaxCharacters = DefaultMaxCharacters
	}
	return &Provider{backend: backend, opts: o, updater: docstore.NewUpdater(backend)}, nil
}

// Attach returns the handlers for a slot: the same recall before a turn and after a compaction, the tools, erasure and
// export. There is no capture. A slot name that is too long for its tools is an error matching ErrOptionInvalid.
func (p *Provider) Attach(info memory.SlotInfo) (memory.Handlers, error) {
	if n := len(info.Name) + len("__") + len(removeName); n > maxToolName && !p.opts.ReadOnly {
		return memory.Handlers{}, fmt.Errorf("%w: slot name is too long: %s__%s would have %d characters, at most %d",
			ErrOptionInvalid, info.Name, removeName, n, maxToolName)
	}
	slot := p.Slot(info.Name)
	handlers := memory.Handlers{
		Recall: func(ctx context.Context, r *memory.TurnStarted) ([]memory.Item, error) {
			return slot.Recall(ctx, r.Key)
		},
		RecallCompacted: func(ctx context.Context, r *memory.CompactionCompleted) ([]memory.Item, error) {
			return slot.Recall(ctx, r.Key)
		},
		Erase: func(ctx context.Context, r *memory.EraseRequest) error {
			return slot.Erase(ctx, r.Key)
		},
		Export: func(ctx context.Context, r *memory.ExportRequest) error {
			return slot.export(ctx, r)
		},
	}
	if !p.opts.ReadOnly {
		handlers.Tools = func(_ context.Context, r *memory.ToolsRequest) ([]memory.Tool, error) {
			return slot.tools(r.Key), nil
		}
	}
	return handlers, nil
}
