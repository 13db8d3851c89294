package memory

import (
	"io"
	"strconv"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rawjson"
)

const (
	exportFormat  = "recollect-export"
	exportVersion = 1
)

// kindPending is the kind of an exported capture that waits in the outbox.
const kindPending = "memory.pending"

// exportFile writes JSON Lines. After an error of w it writes nothing more.
type exportFile struct {
	w       io.Writer
	err     error
	records int
}

// line writes a line at once.
func (f *exportFile) line(text []byte) error {
	if f.err == nil {
		_, f.err = f.w.Write(append(text, '\n'))
	}
	return f.err
}

func (f *exportFile) begin(node string) {
	text := appendFormat(nil, exportFormat, exportVersion)
	text = append(text, `,"node":`...)
	text = ecma.AppendQuote(text, node)
	_ = f.line(append(text, '}')) // the error stays
}

// record writes a record that was checked.
func (f *exportFile) record(l *lock, slot string, r *ExportedRecord) error {
	owner, err := l.scope.MarshalJSON()
	if err != nil {
		return err
	}
	text := []byte(`{"slot":`)
	text = ecma.AppendQuote(text, slot)
	text = append(text, `,"namespace":`...)
	text = ecma.AppendQuote(text, string(l.namespace))
	text = append(text, `,"scope":`...)
	text = append(text, owner...)
	text = append(text, `,"kind":`...)
	text = ecma.AppendQuote(text, r.Kind)
	for _, member := range []struct{ name, value string }{{"id", r.ID}, {"content", r.Content}} {
		if member.value != "" {
			text = append(text, `,"`+member.name+`":`...)
			text = ecma.AppendQuote(text, member.value)
		}
	}
	if r.Metadata != nil {
		metadata, err := rawjson.Compact(r.Metadata)
		if err != nil {
			return err
		}
		text = append(text, `,"metadata":`...)
		text = append(text, metadata...)
	}
	if err := f.line(append(text, '}')); err != nil {
		return err
	}
	f.records++
	return nil
}

// end writes the line that tells a whole file from one that was cut off.
func (f *exportFile) end(slots []SlotReport) {
	text := append([]byte(nil), `{"end":true,"records":`...)
	text = strconv.AppendInt(text, int64(f.records), 10)
	text = append(text, `,"missing":[`...)
	first := true
	for _, s := range slots {
		if s.Status != SlotFailed && s.Status != SlotUnsupported {
			continue
		}
		if !first {
			text = append(text, ',')
		}
		text, first = ecma.AppendQuote(text, s.Slot), false
	}
	_ = f.line(append(text, ']', '}')) // the error stays
}
