package memory

import (
	"context"
	"slices"
)

// CompactRequest asks for the compaction of a history. Its Checkpoint is ignored.
type CompactRequest struct {
	Compaction

	// Policy measures. nil means the zero Policy.
	Policy *Policy

	// Summarize makes the summary. nil means that there is none: a compaction only shortens tool results and drops replaced
	// records.
	Summarize Summarizer

	// Envelope is what is sent along with the model's requests now, in tokens. 0 means the policy's.
	Envelope int64

	// Excess is what Policy.Excess returned for the last counted request, 0 when there is none or a compaction came since.
	Excess int64

	// Force compacts although none is due, and keeps only the last exchange verbatim.
	Force bool

	foreign     []Message // of the history; captures do not see them
	recordsOnly bool      // drop replaced records if there are many, and do nothing else
}

// CompactOutcome says what a compaction did.
type CompactOutcome string

// Outcomes.
const (
	// CompactNotDue: the history is within its limits and is unchanged.
	CompactNotDue CompactOutcome = "not due"
	// CompactNothingFreed: there is nothing to give up, or a summary would be no smaller. The history is unchanged, and
	// another try would end the same way until more is said.
	CompactNothingFreed CompactOutcome = "nothing freed"
	// CompactCanonicalized: replaced records were dropped; no provider and no summarizer was asked.
	CompactCanonicalized CompactOutcome = "canonicalized"
	// CompactShortened: old tool results were shortened, which was enough.
	CompactShortened CompactOutcome = "shortened"
	// CompactSummarized: the older messages were replaced by a summary.
	CompactSummarized CompactOutcome = "summarized"
)

// CompactReport says what a compaction did.
type CompactReport struct {
	Outcome CompactOutcome

	// Before and After are the measure of what the model sees, in tokens, the envelope and the excess included. After is
	// without what slots recalled because of the compaction.
	Before, After int64

	// Summaries is how many requests the summarizer got.
	Summaries int
}

// CompactResult is a history after a compaction.
type CompactResult struct {
	CompactReport
	History     []Message // durable
	Messages    []Message // what the model sees
	Bookkeeping Bookkeeping
}

// Changed reports whether the history is another one than before.
func (r *CompactReport) Changed() bool {
	return r.Outcome != CompactNotDue && r.Outcome != CompactNothingFreed
}

// Compact makes a history smaller when its policy finds that it is due, or the request forces it. Slots are asked to capture
// first, and an error of one stops the compaction. Then old tool results are shortened; if that is not enough, everything
// but the most recent messages is replaced by a summary, which holds the earlier summary and no recalled record. At last
// slots are asked what the model should see now. When nothing of that is due, but records that were replaced by later ones
// have piled up, only those are dropped.
//
// On an error the history is as it was and the result is nil, with one exception: when a slot fails after the summary of a
// compaction between turns, the result holds the new history, which is worth keeping, beside the error.
func (m *Memory) Compact(ctx context.Context, r *CompactRequest) (*CompactResult, error) {
	c, err := newCompacting(m, r)
	if err != nil {
		return nil, err
	}
	if r.recordsOnly || !r.Force && !c.due() {
		return c.canonicalize(CompactNotDue)
	}
	plan := planCompaction(r.Policy, c.ordinary, c.fixed, r.Force)
	if !plan.possible(r.Summarize != nil) {
		return c.canonicalize(CompactNothingFreed)
	}
	bookkeeping, err := m.RequestCompaction(ctx, c.offered())
	if err != nil {
		return nil, err
	}
	next, err := c.carryOut(ctx, plan)
	if err != nil {
		return nil, err
	}
	if !next.frees() {
		result, err := c.canonicalize(CompactNothingFreed)
		if result != nil {
			result.Summaries = next.Summaries
		}
		return result, err
	}
	return c.complete(ctx, bookkeeping, next)
}

// compacting is a compaction at work.
type compacting struct {
	memory            *Memory
	request           *CompactRequest
	view              []Message
	records, ordinary []Message
	fixed             fixedLoad
}

func newCompacting(m *Memory, r *CompactRequest) (*compacting, error) {
	if err := r.Policy.Validate(); err != nil {
		return nil, err
	}
	c := &compacting{memory: m, request: r}
	var err error
	if c.view, err = r.Bookkeeping.Project(r.History); err != nil {
		return nil, err
	}
	if c.records, c.ordinary, err = Canonical(r.History); err != nil {
		return nil, err
	}
	load := c.load()
	c.fixed = fixedLoad{
		records:  r.Policy.weigh(c.view) - r.Policy.weigh(c.ordinary),
		envelope: r.Policy.envelope(load),
		excess:   r.Excess,
	}
	return c, nil
}

func (c *compacting) load() *Load {
	return &Load{Messages: c.view, Envelope: c.request.Envelope, Excess: c.request.Excess}
}

func (c *compacting) due() bool { return c.request.Policy.Due(c.load()) }

// tokens measures a view that consists of the visible records and the given ordinary messages.
func (c *compacting) tokens(ordinary []Message) int64 {
	return toTokens(c.fixed.records+c.request.Policy.weigh(ordinary)) + c.fixed.envelope + c.fixed.excess
}

// canonicalize drops the records that later ones replaced, if there are so many records that it is worth it. Otherwise
// nothing changes and the outcome is the given one.
func (c *compacting) canonicalize(otherwise CompactOutcome) (*CompactResult, error) {
	r := c.request
	before := c.tokens(c.ordinary)
	result := &CompactResult{
		CompactReport: CompactReport{Outcome: otherwise, Before: before, After: before},
		History:       r.History, Messages: c.view, Bookkeeping: r.Bookkeeping,
	}
	if len(c.records)+len(c.ordinary) == len(r.History) || !OverRecordLimit(r.History) {
		return result, nil
	}
	result.Outcome, result.History = CompactCanonicalized, slices.Concat(c.records, c.ordinary)
	var err error
	result.Messages, err = r.Bookkeeping.Project(result.History)
	return result, err
}

// compacted is what became of the ordinary messages.
type compacted struct {
	CompactReport
	ordinary []Message
}

// frees reports whether the compaction was worth anything.
func (n *compacted) frees() bool { return n.After < n.Before }

func (c *compacting) carryOut(ctx context.Context, plan *plan) (*compacted, error) {
	next := &compacted{}
	next.Before = c.tokens(c.ordinary)
	if plan.shortens && (c.request.Summarize == nil || !c.request.Force && plan.fits(plan.shortened())) {
		next.ordinary, next.Outcome = plan.shortened(), CompactShortened
	} else {
		s := &summarizing{
			policy: c.request.Policy, summarize: c.request.Summarize, modelID: c.request.ModelID, log: c.memory.log,
		}
		var err error
		if next.ordinary, err = plan.summarized(ctx, s); err != nil {
			return nil, err
		}
		next.Outcome, next.Summaries = CompactSummarized, s.calls
	}
	next.After = c.tokens(next.ordinary)
	return next, nil
}

// offered returns what the slots may capture.
func (c *compacting) offered() *Compaction {
	offered := c.request.Compaction
	offered.History = without(offered.History, c.request.foreign)
	return &offered
}

// complete puts the new messages in the place of the old ones and asks the slots what the model should see.
func (c *compacting) complete(ctx context.Context, bookkeeping Bookkeeping, next *compacted) (*CompactResult, error) {
	result := &CompactResult{CompactReport: next.CompactReport}
	completion := c.request.Compaction
	completion.Bookkeeping = bookkeeping
	completion.Checkpoint = next.ordinary
	completion.Turn = completion.Turn.compacted(c.request.History, without(next.ordinary, c.request.foreign))
	view, err := c.memory.CompleteCompaction(ctx, &completion)
	if err == nil {
		result.History, result.Messages, result.Bookkeeping = view.History, view.Messages, view.Bookkeeping
		return result, nil
	}
	if completion.Turn != nil {
		return nil, err
	}
	result.History, result.Bookkeeping = slices.Concat(c.records, next.ordinary), bookkeeping
	messages, projectionError := bookkeeping.Project(result.History)
	if projectionError != nil {
		return nil, projectionError
	}
	result.Messages = messages
	return result, err
}
