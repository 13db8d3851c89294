package memory

import (
	"fmt"
	"slices"
)

// Project returns what a model or provider may see of a durable history under the bookkeeping's locks: every ordinary message, and the
// records of slots whose lock has the record's namespace and, unless the slot shows the whole session, its scope. A keyed record that a later
// one replaced is left out. Attributions are taken off; other metadata stays. The history is not changed. A malformed attribution
// is an error matching ErrAttribution.
func (b Bookkeeping) Project(history []Message) ([]Message, error) {
	return project(b.locks(), history)
}

// project returns the projection of a history that is given in parts.
func project(locks []lock, parts ...[]Message) ([]Message, error) {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	p := projection{locks: locks, view: make([]Message, size), at: size}
	for _, part := range slices.Backward(parts) {
		if err := p.prepend(part); err != nil {
			return nil, err
		}
	}
	return p.view[p.at:], nil
}

// projection fills a view from its end, since the last record of an item is the one that counts.
type projection struct {
	locks []lock
	view  []Message
	at    int                   // where the view begins
	seen  map[identity]struct{} // keyed records that are in the view
}

func (p *projection) prepend(history []Message) error {
	for i := len(history) - 1; i >= 0; i-- {
		m := history[i].m
		if m == nil || m.err != nil || m.malformed {
			return unusable(history[i], i)
		}
		if m.attribution == nil {
			p.at--
			p.view[p.at] = history[i]
			continue
		}
		if p.shows(m.attribution) {
			p.at--
			p.view[p.at] = Message{m.bare}
		}
	}
	return nil
}

func (p *projection) shows(a *attribution) bool {
	if !visible(a, p.locks) {
		return false
	}
	if a.itemKey == "" {
		return true
	}
	if _, replaced := p.seen[a.identity]; replaced {
		return false
	}
	if p.seen == nil {
		p.seen = make(map[identity]struct{})
	}
	p.seen[a.identity] = struct{}{}
	return true
}

func visible(a *attribution, locks []lock) bool {
	for i := range locks {
		l := &locks[i]
		if l.slot == a.slot {
			return l.keys.Namespace == a.namespaceKey && (l.visibility == VisibilitySession || l.keys.Scope == a.scopeKey)
		}
	}
	return false
}

// usableHistory returns why a history cannot be used.
func usableHistory(history []Message) error {
	for i, message := range history {
		if m := message.m; m == nil || m.err != nil || m.malformed {
			return unusable(message, i)
		}
	}
	return nil
}

// unusable returns why a message cannot be part of a history.
func unusable(m Message, index int) error {
	if err := m.Validate(); err != nil {
		return fmt.Errorf("message %d: %w", index, err)
	}
	return fmt.Errorf("message %d: %w", index, ErrAttribution)
}

// ownMessages refuses messages that only the library may write, and messages that cannot be stored.
func ownMessages(messages []Message) error {
	for i, m := range messages {
		if err := m.Validate(); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		if m.m.claimsAttribution() {
			return fmt.Errorf("message %d: %w", i, ErrForgedRecord)
		}
	}
	return nil
}
