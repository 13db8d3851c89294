package memory

import (
	"errors"
	"fmt"
	"math"
)

const (
	defaultContextWindow   = 100_000
	defaultThreshold       = 0.9
	defaultToolResultBytes = 2000
	minToolResultBytes     = 256
	maxTokens              = 1 << 50 // beyond any model, and sums of weights stay far from the end of int64
)

// Policy decides when a history is compacted and measures what a compaction leaves. The same measure serves both, so a
// compaction that is due can also see when it is done. It counts in tokens, four bytes of UTF-8 to one: of the JSON of a
// message, except that media count by a table and not by their base64 text. The zero Policy is useful. A Policy is read-only
// and may be shared.
type Policy struct {
	// ContextWindow is the model's window in tokens, and the summarizer's. 0 means that it is unknown, and 100000 is assumed.
	ContextWindow int64

	// Threshold is the part of the window that may be used before a compaction is due, above 0 and at most 1. 0 means 0.9.
	Threshold float64

	// Envelope is what the host sends along with every request, in tokens: system instructions, tool schemas, examples. A
	// compaction call can give another value for the request at hand.
	Envelope int64

	// SummaryOverhead is what the host's summarizer sends beside the instructions and the prompt that it is given, in tokens.
	SummaryOverhead int64

	// ToolResultBytes is the length beyond which an old tool result is shortened, in bytes. 0 means 2000; the least is 256.
	ToolResultBytes int

	// Media returns what a part that is not text costs, in tokens, and true; or false for the table of DefaultMediaTokens.
	// nil means the table. It is called often, by whoever has something measured, and must be fast. It may look at the
	// session that is measured but not compact, complete, clear or reset it, which would wait for the measuring. A panic in
	// it reaches the caller.
	Media func(*MediaPart) (int64, bool)
}

// Validate returns an error that lists every field outside its limits, or nil. Whatever takes a Policy calls it.
func (p *Policy) Validate() error {
	if p == nil {
		return nil
	}
	var problems []error
	for _, tokens := range []struct {
		field string
		value int64
	}{{"ContextWindow", p.ContextWindow}, {"Envelope", p.Envelope}, {"SummaryOverhead", p.SummaryOverhead}} {
		if tokens.value < 0 || tokens.value > maxTokens {
			problems = append(problems, fmt.Errorf("%s is %d, not in 0 to %d", tokens.field, tokens.value, int64(maxTokens)))
		}
	}
	if p.Threshold < 0 || p.Threshold > 1 || math.IsNaN(p.Threshold) {
		problems = append(problems, fmt.Errorf("field Threshold is %v, not in 0 to 1", p.Threshold))
	}
	if p.ToolResultBytes != 0 && p.ToolResultBytes < minToolResultBytes {
		problems = append(problems, fmt.Errorf("ToolResultBytes is %d, less than %d", p.ToolResultBytes, minToolResultBytes))
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%w of a policy: %w", ErrConfig, errors.Join(problems...))
}

// Limit returns the tokens that a request may hold before a compaction is due: the window times the threshold, at least 1.
func (p *Policy) Limit() int64 {
	window, threshold := int64(defaultContextWindow), defaultThreshold
	if p != nil && p.ContextWindow > 0 {
		window = p.ContextWindow
	}
	if p != nil && p.Threshold > 0 {
		threshold = p.Threshold
	}
	return max(1, int64(float64(window)*threshold))
}

// Load is a request to a model as far as its size goes.
type Load struct {
	// Messages is what the model would see: a view, not a durable history.
	Messages []Message

	// Envelope is what is sent along, in tokens. 0 means the policy's.
	Envelope int64

	// Excess is what Policy.Excess returned for the last request of this conversation that was counted, 0 when there is none
	// or a compaction came since.
	Excess int64
}

// Tokens returns the size of a request: the estimate of its messages and its envelope, and the excess.
func (p *Policy) Tokens(l *Load) int64 {
	return toTokens(p.weigh(l.Messages)) + p.envelope(l) + l.Excess
}

// Excess returns by how much the tokens that the model's provider counted for a request exceed our measure of it, or 0.
// Added to every later measure of the conversation, it makes the higher of the two counts the one that decides, and the same
// one for the trigger of a compaction and for its work.
func (p *Policy) Excess(l *Load, counted int64) int64 {
	return max(0, counted-toTokens(p.weigh(l.Messages))-p.envelope(l))
}

// Due reports whether a compaction is due: the request and the summarizer's overhead together are over the limit.
func (p *Policy) Due(l *Load) bool {
	return len(l.Messages) > 0 && p.over(p.Tokens(l))
}

func (p *Policy) over(tokens int64) bool { return tokens+p.overhead() > p.Limit() }

// Estimate returns what the messages alone count, in tokens.
func (p *Policy) Estimate(messages []Message) int64 { return toTokens(p.weigh(messages)) }

// EstimateText returns what a text counts, in tokens. It helps to measure an envelope.
func EstimateText(s string) int64 { return toTokens(int64(len(s))) }

func (p *Policy) envelope(l *Load) int64 {
	if l.Envelope > 0 || p == nil {
		return l.Envelope
	}
	return p.Envelope
}

func (p *Policy) overhead() int64 {
	own := EstimateText(summaryInstructions)
	if p == nil {
		return own
	}
	return own + p.SummaryOverhead
}

func (p *Policy) toolResultBytes() int {
	if p == nil || p.ToolResultBytes == 0 {
		return defaultToolResultBytes
	}
	return p.ToolResultBytes
}
