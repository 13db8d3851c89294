package memory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recollect-go/recollect/internal/ecma"
)

func (t *Turn) check() error {
	if t.Sequence < 0 {
		return fmt.Errorf("%w: negative sequence", ErrInvalidRequest)
	}
	if err := ownMessages(t.Input); err != nil {
		return fmt.Errorf("memory: input of the turn: %w", err)
	}
	if strings.Contains(t.ID, ":") || t.ID == standalone {
		return fmt.Errorf("%w: turn id %q would make operation ids ambiguous", ErrInvalidRequest, t.ID)
	}
	return checkID("turn", t.ID)
}

// checkID checks an identifier that becomes part of operation ids.
func checkID(what, id string) error {
	if id == "" {
		return fmt.Errorf("%w: no %s id", ErrInvalidRequest, what)
	}
	if err := ecma.Valid(id); err != nil {
		return fmt.Errorf("%w: %s id: %w", ErrInvalidRequest, what, err)
	}
	return nil
}

// startingAt returns a copy of the turn for one provider. first, which may lie outside of what that provider may see, is not
// in it.
func (t *Turn) startingAt(start int) Turn {
	return Turn{ID: t.ID, Sequence: t.Sequence, Input: slices.Clone(t.Input), Start: start}
}

// ofRound returns a copy of the turn for a round.
func (t *Turn) ofRound() Turn {
	own := t.startingAt(0)
	own.first = t.first
	return own
}

// clone returns a copy of the turn for one provider, or nil between turns.
func (t *Turn) clone() *Turn {
	if t == nil {
		return nil
	}
	own := t.startingAt(t.Start)
	return &own
}

// begin returns where the turn's own messages begin in a view. A session knows that. In a stateless host's history it is the
// last place where the input stands, or the end of the input where a compaction has dropped the beginning. Where nothing of
// it can be found, it is the last message of a person if the input holds one, which a compaction keeps; else the length. An
// earlier person's message may be another caller's.
func (t *Turn) begin(view []Message) int {
	if t.first.m != nil {
		if at := slices.Index(view, t.first); at >= 0 {
			return at
		}
		return len(view)
	}
	for from := range t.Input {
		if at := last(view, t.Input[from:]); at >= 0 {
			return at
		}
	}
	if lastOfPerson(t.Input) == len(t.Input) {
		return len(view)
	}
	return lastOfPerson(view)
}

// last returns the last index at which messages stand in a view, or -1.
func last(view, messages []Message) int {
	same := func(a, b Message) bool { return a == b } // a session's input is told from the same words said again
	for _, equal := range []func(a, b Message) bool{same, Message.equal} {
		for at := len(view) - len(messages); at >= 0; at-- {
			if slices.EqualFunc(view[at:at+len(messages)], messages, equal) {
				return at
			}
		}
	}
	return -1
}

// lastOfPerson returns the index of the last message of role and kind user, or the length.
func lastOfPerson(messages []Message) int {
	for i, m := range slices.Backward(messages) {
		if m.m.role == RoleUser && m.m.kind == KindUser {
			return i
		}
	}
	return len(messages)
}
