package state

import (
	"encoding/json"
	"time"
)

// document is a decoded checkpoint. A document and everything below it never changes; a commit makes another one.
type document struct {
	commit      string // random, new with every write: tells whether a stored checkpoint is the one that was sent
	updatedAt   time.Time
	turn        turn
	values      []entry      // sorted by name
	attachments []member     // sorted by name
	children    []childCount // in the order of their first child
	seed        string       // random, from the first child on: makes children's ids those of this session alone
	extra       []member     // members this build does not know
	erased      bool         // not a checkpoint, but that there is none: what Reset sent
}

// turn is what belongs to the current turn and goes with it. The zero turn is none.
type turn struct {
	id       string
	steps    []record // in the order of their completion
	values   []entry  // of per-turn handles, sorted by name
	children []childRecord
	extra    []member
}

// record is a completed step. The occurrence of a name is its position among the records of that name.
type record struct {
	name   string
	result json.RawMessage
	extra  []member
}

// childCount is how many children a session ever had at a node. It names all of them (see childID).
type childCount struct {
	node  string
	count uint64
}

// childRecord says which child a turn, a step and a count stand for.
type childRecord struct {
	call   childCall
	number uint64
	extra  []member
}

// childCall is a call of Child: the index-th for the node in that occurrence of a step, or outside the turn's steps where
// step is "".
type childCall struct {
	step       string
	occurrence int
	node       string
	index      int
}

// member is a member of a JSON object.
type member struct {
	name string
	raw  json.RawMessage
}

// recordOf returns the record of a step's occurrence.
func (t *turn) recordOf(name string, occurrence int) (record, bool) {
	for _, r := range t.steps {
		if r.name != name {
			continue
		}
		if occurrence == 0 {
			return r, true
		}
		occurrence--
	}
	return record{}, false
}
