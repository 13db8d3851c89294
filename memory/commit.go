package memory

import (
	"fmt"
	"slices"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/scope"
)

// maxItemID is the limit of an item id, in bytes.
const maxItemID = 1024

// Batch is the answer of one recall, for Commit.
type Batch struct {
	Slot        string
	Namespace   scope.Namespace
	Scope       scope.Scope
	Visibility  Visibility // "" means VisibilityScope
	OperationID string
	Items       []Item
}

// Commit is the last part of StartTurn, for a host whose workflow engine runs each recall as a step of its own. It validates
// the batches and returns the records to append to the history, and the bookkeeping with the batches' digests and locks,
// which replace the earlier ones. A batch whose operation was committed before with the same items adds nothing; with other
// items it is an error matching ErrReplay. Whatever is wrong with one batch, none is committed.
func (b Bookkeeping) Commit(history []Message, batches []Batch) ([]Message, Bookkeeping, error) {
	locks := make([]lock, len(batches))
	answered := make([]participant, len(batches))
	for i, batch := range batches {
		var err error
		if locks[i], err = batch.lock(locks[:i]); err != nil {
			return nil, b, err
		}
		answered[i].lock = &locks[i]
		if answered[i].answer, err = newAnswer(batch.OperationID, batch.Items); err == nil {
			err = answered[i].answer.compare(b.digests())
		}
		if err != nil {
			return nil, b, &SlotError{batch.Slot, PhaseTurnStarted, err}
		}
	}
	before, err := project(locks, history, 0)
	if err != nil {
		return nil, b, err
	}
	c := commit(before.latest, b.digests(), answered)
	return c.records, b.with(locks, c.digests), nil
}

// lock returns the lock of a batch, given those of the batches before it.
func (b *Batch) lock(earlier []lock) (lock, error) {
	l := lock{slot: b.Slot, namespace: b.Namespace, scope: b.Scope, visibility: b.Visibility.orDefault()}
	if !validSlotName(b.Slot) || !l.visibility.known() || b.OperationID == "" {
		return l, fmt.Errorf("%w: batch without a valid slot, visibility or operation id", ErrInvalidRequest)
	}
	if slices.ContainsFunc(earlier, func(e lock) bool { return e.slot == b.Slot }) {
		return l, fmt.Errorf("%w: two batches of slot %q", ErrInvalidRequest, b.Slot)
	}
	var err error
	if l.keys, err = scope.Derive(b.Namespace, b.Scope); err != nil {
		return l, &SlotError{b.Slot, PhaseScope, err}
	}
	return l, nil
}

// answer is what a slot's recall returned, checked.
type answer struct {
	operationID string
	items       []Item
	keys        []string // of the items; "" for one without an id
	digest      string
	replayed    bool // the same was committed before
}

// newAnswer checks what a recall returned.
func newAnswer(operationID string, items []Item) (answer, error) {
	keys, err := itemKeys(items)
	if err != nil {
		return answer{}, err
	}
	return answer{operationID: operationID, items: items, keys: keys, digest: digestItems(items, keys)}, nil
}

// compare looks for an earlier commit of the same operation. One with another result is an error.
func (a *answer) compare(digests []operationDigest) error {
	known, ok := findDigest(digests, a.operationID)
	if ok && known != a.digest {
		return fmt.Errorf("operation %q: %w", a.operationID, ErrReplay)
	}
	a.replayed = ok
	return nil
}

// committed is what answers add to a history and its bookkeeping.
type committed struct {
	records  []Message
	replaced []*message // bare forms of visible records that the new ones replace
	digests  []operationDigest
}

// commit returns what the answers add, in their order, given the latest visible record of every keyed item. All identities
// of the answers are visible, since their locks are those of the projection.
func commit(latest map[identity]*message, digests []operationDigest, answered []participant) committed {
	var c committed
	c.digests = make([]operationDigest, len(digests), len(digests)+len(answered))
	copy(c.digests, digests)
	for i := range answered {
		if p := &answered[i]; !p.answer.replayed {
			c.digests = append(c.digests, operationDigest{p.answer.operationID, p.answer.digest})
			c.add(p.lock, &p.answer, latest)
		}
	}
	return c
}

// add adds the records of an answer. A keyed item whose latest value is the same is left out.
func (c *committed) add(l *lock, a *answer, latest map[identity]*message) {
	for i, item := range a.items {
		id := identity{l.slot, l.keys.Namespace, l.keys.Scope, a.keys[i]}
		if known := latest[id]; id.itemKey != "" && known != nil {
			if known.content == nil && known.text == item.Content {
				continue
			}
			c.replaced = append(c.replaced, known)
		}
		c.records = append(c.records, newRecord(item.Content, attribution{id, a.operationID, int64(i)}))
	}
}

// newRecord returns a record, with its bare form in the same allocation.
func newRecord(content string, a attribution) Message {
	r := &struct {
		full, bare  message
		attribution attribution
	}{attribution: a}
	r.bare = message{role: RoleUser, kind: KindRecord, text: content}
	r.full = r.bare
	r.full.attribution, r.full.bare = &r.attribution, &r.bare
	return Message{&r.full}
}

// itemKeys checks an answer and returns the keys of its items.
func itemKeys(items []Item) ([]string, error) {
	if len(items) == 0 {
		return nil, nil
	}
	keys := make([]string, len(items))
	var seen map[string]struct{}
	for i, item := range items {
		if err := item.validate(); err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		if item.ID == "" {
			continue
		}
		if seen == nil && len(items) > 1 {
			seen = make(map[string]struct{}, len(items))
		}
		if _, twice := seen[item.ID]; twice {
			return nil, fmt.Errorf("item %d: %w", i, ErrDuplicateItem)
		}
		if seen != nil {
			seen[item.ID] = struct{}{}
		}
		keys[i] = itemKey(item.ID)
	}
	return keys, nil
}

func (i Item) validate() error {
	switch {
	case ecma.Valid(i.Content) != nil || ecma.Valid(i.ID) != nil:
		return ErrItemText
	case ecma.IsBlank(i.Content):
		return ErrBlankContent
	case len(i.ID) > maxItemID:
		return ErrItemID
	}
	return nil
}

// digestItems returns the digest of an answer: of the JSON array of its contents and keys.
func digestItems(items []Item, keys []string) string {
	size := 2
	for i, item := range items {
		size += len(item.Content) + len(item.Content)/8 + len(keys[i]) + 32
	}
	text := append(make([]byte, 0, size), '[')
	for i, item := range items {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, `{"content":`...)
		text = ecma.AppendQuote(text, item.Content)
		if keys[i] != "" {
			text = append(text, `,"itemKey":`...)
			text = ecma.AppendQuote(text, keys[i])
		}
		text = append(text, '}')
	}
	return digest("", append(text, ']'))
}
