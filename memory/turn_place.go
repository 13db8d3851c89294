package memory

import "slices"

// A session knows where its open turn begins by the first of the turn's messages that is still in the history, since a
// compaction may drop the input and keep what came after it. Messages are told apart by identity: the same words may have
// been said before, by somebody else.

// placed returns the turn with the place where its own messages begin. The lock is held.
func (s *sessionState) placed() Turn {
	turn := s.turn.Turn
	turn.first = nowhere()
	begin := slices.Index(s.history, s.turn.first)
	if begin < 0 {
		return turn
	}
	for _, m := range s.history[begin:] {
		if !m.IsRecord() && !slices.Contains(s.turn.foreign, m) {
			turn.first = m
			break
		}
	}
	return turn
}

// nowhere returns a message that is in no history.
func nowhere() Message { return Message{new(message)} }

// stillFirst returns the first message of a compacted history that is not older than the one that was first, or the zero
// Message when there is none.
func stillFirst(first Message, before, after []Message) Message {
	if slices.Contains(after, first) {
		return first
	}
	begin := slices.Index(before, first)
	if begin < 0 {
		return Message{}
	}
	for _, m := range after {
		if !m.IsRecord() && slices.Contains(before[begin:], m) {
			return m
		}
	}
	return Message{}
}

// compacted returns the turn as it stands among the messages that a compaction has kept of its callers. It may be nil.
func (t *Turn) compacted(before, after []Message) *Turn {
	if t == nil || t.first.m == nil {
		return t
	}
	moved := *t
	if moved.first = stillFirst(t.first, before, after); moved.first.m == nil {
		moved.first = nowhere()
	}
	return &moved
}

// firstOf returns the first message of an input that is in a history, or the zero Message.
func firstOf(input, history []Message) Message {
	for _, m := range input {
		if slices.Contains(history, m) {
			return m
		}
	}
	return Message{}
}
