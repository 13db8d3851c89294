package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rawjson"
)

// ExportCall says whose memory is exported, and from which slots.
type ExportCall struct {
	// Session is what the resolvers see, as at the start of a turn of that caller. Its ID may be left out if no resolver
	// needs it.
	Session SessionInfo
	// Slots names the slots to export; nil means all of them.
	Slots []string
}

// Export is what an export wrote, slot by slot, in slot order.
type Export struct{ Slots []SlotReport }

// Export writes everything that the slots keep for a caller to w, as JSON Lines: what is stored under the key of each of
// them, and the captures that wait in the outbox for it. It does not write what is in histories, snapshots and state, which
// the host has.
//
// The first line names the format and its version; then there is a line for each record, with its slot, namespace and
// scope; the last one says how many there were and which slots are missing, so a file that was cut off is known by its
// lack:
//
//	{"format":"recollect-export","version":1,"node":"__root__"}
//	{"slot":"profile","namespace":"acme-support-v1","scope":["acme","u_42"],"kind":"document","id":"…","content":"…","metadata":{…}}
//	{"end":true,"records":1,"missing":[]}
//
// The kind "memory.pending" is a turn that waits in the outbox: its id is that of the capture, and its metadata holds the
// time and the messages. Other kinds are the provider's. Members without a value are left out. The file holds memories and
// whose they are: give it to that person only.
//
// Every slot is tried, whatever becomes of the others. The error joins those of all slots that failed, each a *SlotError;
// one whose provider has no Export is among them, with an error matching errors.ErrUnsupported. An error of w ends the
// export. The Export says what was written, and is nil only when the call was not understood or ended before any slot was
// asked.
func (m *Memory) Export(ctx context.Context, c *ExportCall, w io.Writer) (*Export, error) {
	session, err := m.atNode(c.Session)
	if err != nil {
		return nil, err
	}
	all, reports, err := m.owned(ctx, &session, c.Slots)
	if err != nil {
		return nil, err
	}
	r := m.turnRound(PhaseExport, session, &Turn{})
	out := &exportFile{w: w}
	out.begin(m.node)
	pending := r.pendingRecords(ctx, all)
	var errs []error
	for i := range all {
		o := &all[i]
		switch {
		case o.lock == nil:
		case out.err != nil:
			o.fail(out.err)
		default:
			o.fail(r.exportSlot(ctx, o, out, pending[i]))
		}
		errs = append(errs, r.finish(ctx, EventExported, o))
	}
	if out.end(reports); out.err != nil {
		errs = append(errs, fmt.Errorf("memory: export: %w", out.err))
	}
	return &Export{reports}, errors.Join(errs...)
}

// exportSlot writes the records of a slot, and its captures that wait in the outbox.
func (r *round) exportSlot(ctx context.Context, o *owned, out *exportFile, pending []pendingRecord) error {
	for _, p := range pending {
		if err := out.record(o.lock, p.slot, p.record); err != nil {
			return err
		}
		o.report.Captures++
	}
	if o.slot.handlers.Export == nil {
		o.report.Records = -1
		return unsupported("Export")
	}
	writer := &recordWriter{write: func(record *ExportedRecord) error { return out.record(o.lock, o.slot.Name, record) }}
	err := r.export(ctx, o, writer)
	o.report.Records = writer.n
	return err
}

// export hands the records of a slot to the writer, whose error counts also when the provider forgets it.
func (r *round) export(ctx context.Context, o *owned, writer *recordWriter) error {
	request := &ExportRequest{Operation: r.operation(o.lock, ""), Write: writer.Write}
	err := o.ask(ctx, func(ctx context.Context) error { return o.slot.handlers.Export(ctx, request) })
	if problem := writer.close(); problem != nil {
		return problem
	}
	return err
}

// recordWriter is between a provider and what becomes of its records. After close, it takes none: a provider that ignores
// the end of its context still has it.
type recordWriter struct {
	write func(*ExportedRecord) error

	mu     sync.Mutex
	n      int
	err    error
	closed bool
}

var errExportClosed = fmt.Errorf("%w: the export has ended", ErrExport)

// Write is ExportRequest.Write.
func (w *recordWriter) Write(record *ExportedRecord) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errExportClosed
	}
	if w.err == nil {
		w.err = record.check()
	}
	if w.err == nil {
		w.err = w.write(record)
	}
	if w.err == nil {
		w.n++
	}
	return w.err
}

// close returns the first error of a record.
func (w *recordWriter) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	return w.err
}

func (r *ExportedRecord) check() error {
	switch {
	case r == nil || r.Kind == "":
		return fmt.Errorf("%w: no kind", ErrExport)
	case ecma.Valid(r.Kind) != nil || ecma.Valid(r.ID) != nil || ecma.Valid(r.Content) != nil:
		return fmt.Errorf("%w: text is not valid UTF-8", ErrExport)
	case r.Metadata == nil:
		return nil
	}
	if compact, err := rawjson.Compact(r.Metadata); err != nil || rawjson.Kind(compact) != '{' {
		return fmt.Errorf("%w: metadata is no JSON object", ErrExport)
	}
	return nil
}
