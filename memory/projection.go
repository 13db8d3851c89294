package memory

import "fmt"

// Project returns what a model or provider may see of a durable history under the bookkeeping's locks: every ordinary
// message, and the records of slots whose lock has the record's namespace and, unless the slot shows the whole session, its
// scope. A keyed record that a later one replaced is left out. Attributions are taken off; other metadata stays. The history
// is not changed. A malformed attribution is an error matching ErrAttribution.
func (b Bookkeeping) Project(history []Message) ([]Message, error) {
	p, err := project(b.locks(), history, 0)
	return p.messages, err
}

// projection is what is visible of a history.
type projection struct {
	messages []Message
	latest   map[identity]*message // the bare form of every keyed record in messages
}

// project projects a history. It fills the view from its end, since the last record of an item is the one that counts, and
// leaves room for more messages behind it.
func project(locks []lock, history []Message, room int) (projection, error) {
	view, at := make([]Message, len(history), len(history)+room), len(history)
	var latest map[identity]*message
	for i := len(history) - 1; i >= 0; i-- {
		m := history[i].m
		if m == nil || m.fault != nil {
			return projection{}, unusable(history[i], i)
		}
		if a := m.attribution; a != nil {
			if !visible(a, locks) || latest[a.identity] != nil {
				continue
			}
			m = m.bare
			if a.itemKey != "" {
				if latest == nil {
					latest = make(map[identity]*message)
				}
				latest[a.identity] = m
			}
		}
		at--
		view[at] = Message{m}
	}
	return projection{view[at:], latest}, nil
}

// with returns the view after records were committed, and a turn's input after them: the new records take the place of those
// that they replace. It writes behind the messages of p, where project has left room.
func (p projection) with(c committed, input []Message) []Message {
	view := p.messages
	if len(c.replaced) > 0 {
		replaced := make(map[*message]struct{}, len(c.replaced))
		for _, m := range c.replaced {
			replaced[m] = struct{}{}
		}
		view = make([]Message, 0, len(p.messages)+len(c.records)+len(input))
		for _, m := range p.messages {
			if _, gone := replaced[m.m]; !gone {
				view = append(view, m)
			}
		}
	}
	for _, record := range c.records {
		view = append(view, Message{record.m.bare})
	}
	return append(view, input...)
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
	for i, m := range history {
		if m.m == nil || m.m.fault != nil {
			return unusable(m, i)
		}
	}
	return nil
}

// unusable returns why a message cannot be part of a history.
func unusable(m Message, index int) error {
	if err := m.Validate(); err != nil {
		return fmt.Errorf("memory: message %d of the history: %w", index, err)
	}
	return fmt.Errorf("memory: message %d of the history: %w", index, ErrAttribution)
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
