package memorytest

import (
	"context"
	"time"
)

// Options declares what a provider does, so that the kit knows how to store a text and which rules to skip. nil means a
// provider whose CaptureTurn makes the text of a user message recallable at once.
type Options struct {
	// SaveTool is the unqualified name of a tool that stores a text, SaveArgument the name of its argument. "" means that
	// there is none, and texts are stored through CaptureTurn, or Seed.
	SaveTool     string
	SaveArgument string

	// Captures says that the text of a user message can be recalled after CaptureTurn. It is implied when there is no other
	// way to store.
	Captures bool

	// CapturesCompaction says the same of CaptureCompaction, for the messages of the turn at hand.
	CapturesCompaction bool

	// ReadTools are tools that show stored text. They are called with another key's text in mind.
	ReadTools []ReadTool

	// Seed stores a text under a key, for a provider that cannot be written through its handlers.
	Seed func(ctx context.Context, key, text string) error

	// Text returns how a stored text is shown. nil means as it was given. It is for a provider with a documented normal form.
	Text func(string) string

	// StableRecall says that a recall repeated with one operation id returns the same although the store changed in between.
	StableRecall bool

	// Settle is how long after a write it may take to be recalled. 0 means not at all.
	Settle time.Duration

	// Patience is how long a call may take, and how soon it has to return when its context ends. 0 means ten seconds.
	Patience time.Duration

	// Scale is how many keys, and texts for each, the concurrency rule uses. 0 means 8.
	Scale int
}

// ReadTool is a tool that shows stored text.
type ReadTool struct {
	// Name is unqualified.
	Name string
	// Input returns the arguments with which the tool shows the text.
	Input func(text string) string
}

const (
	defaultPatience = 10 * time.Second
	defaultScale    = 8
)

func (o *Options) withDefaults() Options {
	var opts Options
	if o != nil {
		opts = *o
	}
	if opts.SaveTool == "" && opts.Seed == nil {
		opts.Captures = true
	}
	if opts.Text == nil {
		opts.Text = func(s string) string { return s }
	}
	if opts.Patience <= 0 {
		opts.Patience = defaultPatience
	}
	if opts.Scale <= 0 {
		opts.Scale = defaultScale
	}
	return opts
}
