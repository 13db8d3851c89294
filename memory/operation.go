package memory

import "strconv"

// Phase is a moment of a turn or compaction at which a slot is asked something.
type Phase string

// Phases. The first four are part of operation ids.
const (
	PhaseTurnStarted         Phase = "turn.started"
	PhaseTurnCompleted       Phase = "turn.completed"
	PhaseCompactionRequested Phase = "compaction.requested"
	PhaseCompactionCompleted Phase = "compaction.completed"
	PhaseScope               Phase = "scope"     // the scope resolver
	PhaseNamespace           Phase = "namespace" // the namespace resolver
	PhaseTools               Phase = "tools"
	PhaseErase               Phase = "erase"
	PhaseExport              Phase = "export"
)

// standalone stands for the turn id of a compaction between turns.
const standalone = "standalone"

// operation is the part of an operation id that the slots of one phase share.
type operation struct {
	session  string
	sequence int64
	turn     string
	step     string // with its colon; "" when there is none
	phase    Phase
}

// id returns the operation id of one slot.
func (o *operation) id(slot string) string {
	return "eve-memory-operation-v1:" + o.session + ":" + strconv.FormatInt(o.sequence, 10) + ":" + o.turn + o.step +
		":" + string(o.phase) + ":" + slot
}
