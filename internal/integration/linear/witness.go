package linear

import (
	"slices"

	"github.com/anishathalye/porcupine"
)

// maxSteps bounds the search for a witness. A history of the full plan takes about one step for each operation.
const maxSteps = 5_000_000

// witness returns the operations of one document one after the other, in an order that explains every answer and that
// their times allow, if it finds one. Porcupine, which knows nothing of documents, tries every order of the operations
// that change nothing, and may not come to an end where many clients meet.
//
// An operation that changes nothing is put at the first place where its answer is right: whatever comes later is not
// touched by that. So is a delete of a document that is absent again, because the content that it expected never comes
// back. Only among operations that change the document is there anything to choose, and a content is replaced by at most
// one of them.
func witness(history []porcupine.Operation) (sequence []porcupine.Operation, found bool) {
	s := &search{ops: slices.Clone(history), placed: make([]bool, len(history)), had: map[string]bool{absent: true}}
	slices.SortStableFunc(s.ops, func(a, b porcupine.Operation) int { return compare(a.Call, b.Call) })
	for _, op := range s.ops {
		if op.Output.(outcome) != unknown {
			s.left++
		}
	}
	if !s.from(absent) {
		return nil, false
	}
	for at, index := range s.order {
		op := s.ops[index]
		op.Call, op.Return = int64(2*at), int64(2*at+1)
		sequence = append(sequence, op)
	}
	return sequence, true
}

// search is a walk through the orders that the times allow.
type search struct {
	ops    []porcupine.Operation // by call
	placed []bool
	order  []int           // indexes of placed operations
	had    map[string]bool // contents that the document had so far
	left   int             // operations not placed yet, without those that need not have happened
	steps  int
}

// from places everything that is left, beginning in a state of the document.
func (s *search) from(state string) bool {
	mark := len(s.order)
	changes := s.settle(state)
	if s.left == 0 {
		return true
	}
	for _, index := range changes {
		if s.steps++; s.steps > maxSteps {
			break
		}
		s.place(index)
		state := s.ops[index].Input.(call).content
		s.had[state] = true
		if s.from(state) {
			return true
		}
		s.had[state] = state == absent
		s.takeBack(len(s.order) - 1)
	}
	s.takeBack(mark)
	return false
}

// settle places every operation that may come next and changes nothing, until there are no more, and returns those that
// may come next and change the document, the most urgent first.
func (s *search) settle(state string) (changes []int) {
	for again := true; again; {
		again, changes = false, changes[:0]
		for _, index := range s.candidates() {
			states := next(state, s.ops[index].Input.(call), s.ops[index].Output.(outcome))
			switch {
			case len(states) == 0:
			case states[len(states)-1].(string) != state, s.mayComeBack(index):
				changes = append(changes, index)
			case s.ops[index].Output.(outcome) != unknown:
				s.place(index)
				again = true
			}
		}
	}
	slices.SortStableFunc(changes, func(a, b int) int { return compare(s.ops[a].Return, s.ops[b].Return) })
	return changes
}

// candidates returns the operations that may come next: those that began before any other of those left ended.
func (s *search) candidates() []int {
	var found []int
	earliest := int64(1<<63 - 1)
	for index, op := range s.ops {
		if s.placed[index] {
			continue
		}
		if op.Call > earliest {
			break
		}
		earliest = min(earliest, op.Return)
		found = append(found, index)
	}
	return slices.DeleteFunc(found, func(index int) bool { return s.ops[index].Call > earliest })
}

// mayComeBack reports whether a delete that finds nothing now could still find what it expected.
func (s *search) mayComeBack(index int) bool {
	input := s.ops[index].Input.(call)
	return input.kind == remove && s.ops[index].Output.(outcome) == done && !s.had[input.expected]
}

func (s *search) place(index int) {
	s.placed[index] = true
	s.order = append(s.order, index)
	if s.ops[index].Output.(outcome) != unknown {
		s.left--
	}
}

// takeBack undoes what was placed since the order had a length.
func (s *search) takeBack(length int) {
	for _, index := range s.order[length:] {
		s.placed[index] = false
		if s.ops[index].Output.(outcome) != unknown {
			s.left++
		}
	}
	s.order = s.order[:length]
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
