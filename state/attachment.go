package state

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Attach keeps data under a name with the session, beside the handles' values: the snapshot of the conversation, for
// example. With the context of a step it is committed with the step, so both are stored or neither; outside one it is
// committed at once. It stays over turns until it is replaced, removed by nil data, or Reset. data is any JSON; it is
// copied.
func (s *Session) Attach(ctx context.Context, name string, data json.RawMessage) error {
	a, err := newAttachment(name, data)
	if err != nil {
		return err
	}
	if r := s.runIn(ctx); r != nil {
		return s.attach(r, a)
	}
	return s.outside(ctx, newHolder(), func(r *run) error { return s.attach(r, a) })
}

func newAttachment(name string, data json.RawMessage) (member, error) {
	if err := checkText("attachment name", name); err != nil {
		return member{}, err
	}
	if data == nil {
		return member{name: name}, nil
	}
	if !json.Valid(data) || !utf8.Valid(data) {
		return member{}, fmt.Errorf("state: attachment %q is not JSON in UTF-8", name)
	}
	if isTooDeep(data) {
		return member{}, fmt.Errorf("state: attachment %q nests deeper than %d levels", name, maxDepth)
	}
	return member{name, bytes.Clone(bytes.TrimSpace(data))}, nil
}

func (s *Session) attach(r *run, a member) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(r); err != nil {
		return err
	}
	r.attachments = append(r.attachments, a)
	return nil
}

// Attachment returns a copy of what is attached under a name: inside a step as the step has left it so far, outside as it
// was last committed. An error matching ErrNoAttachment reports that there is nothing.
func (s *Session) Attachment(ctx context.Context, name string) (json.RawMessage, error) {
	r := s.runIn(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableNow(ctx, r); err != nil {
		return nil, err
	}
	raw := attachmentIn(s.doc.attachments, name)
	if r != nil {
		for _, a := range r.attachments {
			if a.name == name {
				raw = a.raw
			}
		}
	}
	if raw == nil {
		return nil, fmt.Errorf("%w: %q", ErrNoAttachment, name)
	}
	return slices.Clone(raw), nil
}

func attachmentIn(all []member, name string) json.RawMessage {
	if i, ok := slices.BinarySearchFunc(all, name, memberByName); ok {
		return all[i].raw
	}
	return nil
}

// withMember returns members, sorted by name, with m replaced, or removed when it has no JSON. It never changes its
// argument.
func withMember(members []member, m member) []member {
	i, ok := slices.BinarySearchFunc(members, m.name, memberByName)
	next := slices.Clone(members)
	if ok {
		next = slices.Delete(next, i, i+1)
	}
	if m.raw == nil {
		return next
	}
	return slices.Insert(next, i, m)
}

func memberByName(m member, name string) int { return strings.Compare(m.name, name) }
