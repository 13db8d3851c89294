package memory

import (
	"context"
	"slices"
)

const (
	// recentMessages is the most messages that a compaction keeps verbatim.
	recentMessages = 10
	// forcedRecentMessages is the same for a compaction that is done although none is due: the last exchange.
	forcedRecentMessages = 2
)

// plan is what a compaction would do to the ordinary messages of a history. Making one calls nobody.
type plan struct {
	policy   *Policy
	fixed    fixedLoad
	previous string    // the summary of an earlier compaction
	prefix   []Message // the two messages of the earlier checkpoint, or none
	body     []Message // everything behind it
	cuts     []int
	window   window
	older    []Message // body up to the window, with tool results shortened
	shortens bool      // some result was
}

// fixedLoad is the part of a request that compacting ordinary messages does not change.
type fixedLoad struct {
	records  int64 // weight of the visible records
	envelope int64 // tokens
	excess   int64 // tokens
}

// planCompaction plans for the ordinary messages of a history. forced is a compaction that is done although none is due.
func planCompaction(p *Policy, ordinary []Message, fixed fixedLoad, forced bool) *plan {
	pl := &plan{policy: p, fixed: fixed}
	pl.previous, pl.body = splitCheckpoint(ordinary)
	pl.prefix = ordinary[:len(ordinary)-len(pl.body)]
	pl.cuts = cuts(pl.body)
	count := recentMessages
	if forced {
		count = forcedRecentMessages
	}
	reserve := bytesPerTextToken * summaryReserve(p.Limit())
	pl.window = p.recentWindow(pl.body, pl.cuts, count, pl.room()-reserve)
	older, shortened := p.Shorten(pl.body[:pl.window.start])
	pl.older, pl.shortens = older, shortened > 0
	return pl
}

// room is the weight that ordinary messages may have.
func (pl *plan) room() int64 {
	tokens := pl.policy.Limit() - pl.policy.overhead() - pl.fixed.envelope - pl.fixed.excess
	return bytesPerTextToken*tokens - pl.fixed.records
}

func (pl *plan) fits(ordinary []Message) bool { return pl.policy.weigh(ordinary) <= pl.room() }

// shortened returns the messages with nothing but old tool results shortened.
func (pl *plan) shortened() []Message {
	return slices.Concat(pl.prefix, pl.older, pl.body[pl.window.start:])
}

// summarizes reports whether there is anything to put into a summary that is not kept verbatim anyway.
func (pl *plan) summarizes() bool {
	if pl.window.user < 0 {
		return len(pl.older) > 0
	}
	return len(pl.older) > 1
}

// summarized returns the messages with the older ones replaced by a summary. While the result does not fit, the window gives
// up its oldest part to another summary.
func (pl *plan) summarized(ctx context.Context, s *summarizing) ([]Message, error) {
	summary, err := s.over(ctx, pl.previous, pl.older)
	if err != nil {
		return nil, err
	}
	w := pl.window
	for {
		result := slices.Concat(checkpoint(summary), w.kept(pl.body))
		if pl.fits(result) {
			return result, nil
		}
		narrower, ok := pl.narrower(w, summary)
		if !ok {
			return result, nil
		}
		given, _ := pl.policy.Shorten(pl.body[w.start:narrower.start])
		if summary, err = s.over(ctx, summary, given); err != nil {
			return nil, err
		}
		w = narrower
	}
}

// narrower returns the widest window inside w that would fit beside a summary of the given length, else the narrowest one;
// false when there is none inside w.
func (pl *plan) narrower(w window, summary string) (window, bool) {
	var inside []int
	for _, cut := range pl.cuts {
		if cut > w.start {
			inside = append(inside, cut)
		}
	}
	if len(inside) == 0 {
		return w, false
	}
	budget := pl.room() - pl.policy.weigh(checkpoint(summary))
	return pl.policy.recentWindow(pl.body, inside, recentMessages, budget), true
}

// possible reports whether carrying the plan out can free anything.
func (pl *plan) possible(summarizer bool) bool {
	return pl.shortens || summarizer && pl.summarizes()
}
