package state

import (
	"fmt"
	"strconv"

	"github.com/recollect-go/recollect/internal/ecma"
)

// Format and version of a checkpoint. Every version that was ever released stays readable; samples of each are in testdata.
const (
	checkpointFormat  = "recollect-state"
	checkpointVersion = 1
)

// timeLayout is RFC 3339 in UTC with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

// appendCheckpoint appends the JSON of a document. Stored JSON is copied as it is. Its parts come in a fixed order, so
// one document has one JSON.
func appendCheckpoint(dst []byte, id ID, d *document) []byte {
	dst = append(dst, `{"format":"`+checkpointFormat+`","version":`...)
	dst = strconv.AppendInt(dst, checkpointVersion, 10)
	dst = appendText(append(dst, `,"session":`...), id.Session)
	dst = appendText(append(dst, `,"node":`...), id.Node)
	dst = appendText(append(dst, `,"commit":`...), d.commit)
	dst = append(dst, `,"updatedAt":"`...)
	dst = d.updatedAt.AppendFormat(dst, timeLayout)
	dst = append(dst, `","values":`...)
	dst = appendEntries(dst, d.values)
	if d.turn.id != "" {
		dst = appendTurn(append(dst, `,"turn":`...), &d.turn)
	}
	if len(d.attachments) > 0 {
		dst = append(dst, `,"attachments":{`...)
		dst = append(appendMembers(dst, d.attachments, ""), '}')
	}
	if d.seed != "" {
		dst = appendText(append(dst, `,"seed":`...), d.seed)
	}
	if len(d.children) > 0 {
		dst = appendChildCounts(append(dst, `,"children":`...), d.children)
	}
	dst = appendMembers(dst, d.extra, ",")
	return append(dst, '}')
}

func appendTurn(dst []byte, t *turn) []byte {
	dst = appendText(append(dst, `{"id":`...), t.id)
	dst = append(dst, `,"steps":[`...)
	for i, r := range t.steps {
		dst = appendSeparator(dst, i)
		dst = appendText(append(dst, `{"name":`...), r.name)
		dst = append(append(dst, `,"result":`...), r.result...)
		dst = append(appendMembers(dst, r.extra, ","), '}')
	}
	dst = append(dst, `],"values":`...)
	dst = appendEntries(dst, t.values)
	if len(t.children) > 0 {
		dst = append(dst, `,"children":[`...)
		for i, c := range t.children {
			dst = appendChildRecord(appendSeparator(dst, i), c)
		}
		dst = append(dst, ']')
	}
	dst = appendMembers(dst, t.extra, ",")
	return append(dst, '}')
}

func appendChildRecord(dst []byte, c childRecord) []byte {
	dst = appendText(append(dst, `{"node":`...), c.call.node)
	if c.call.step != "" {
		dst = appendText(append(dst, `,"step":`...), c.call.step)
		dst = strconv.AppendInt(append(dst, `,"occurrence":`...), int64(c.call.occurrence), 10)
	}
	dst = strconv.AppendInt(append(dst, `,"index":`...), int64(c.call.index), 10)
	dst = strconv.AppendUint(append(dst, `,"number":`...), c.number, 10)
	dst = appendMembers(dst, c.extra, ",")
	return append(dst, '}')
}

func appendChildCounts(dst []byte, counts []childCount) []byte {
	dst = append(dst, '{')
	for i, c := range counts {
		dst = appendText(appendSeparator(dst, i), c.node)
		dst = strconv.AppendUint(append(dst, ':'), c.count, 10)
	}
	return append(dst, '}')
}

func appendEntries(dst []byte, entries []entry) []byte {
	dst = append(dst, '{')
	for i, e := range entries {
		dst = appendText(appendSeparator(dst, i), e.name)
		dst = append(append(dst, ':'), e.cell.raw...)
	}
	return append(dst, '}')
}

// appendMembers appends members without braces, the first one after lead.
func appendMembers(dst []byte, members []member, lead string) []byte {
	for i, m := range members {
		if i > 0 {
			lead = ","
		}
		dst = appendText(append(dst, lead...), m.name)
		dst = append(append(dst, ':'), m.raw...)
	}
	return dst
}

func appendSeparator(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, ',')
	}
	return dst
}

func appendText(dst []byte, text string) []byte { return ecma.AppendQuote(dst, text) }

// sizeHint is a little more than the checkpoint of d takes, in most cases.
func (d *document) sizeHint() int {
	size := 512
	d.parts(func(name string, raw []byte, _ string) { size += len(name) + len(raw) + 32 })
	return size
}

// parts calls visit with everything in d that has a size of its own. kind is "handle", "step" or "attachment".
func (d *document) parts(visit func(name string, raw []byte, kind string)) {
	for _, e := range d.values {
		visit(e.name, e.cell.raw, "handle")
	}
	for _, e := range d.turn.values {
		visit(e.name, e.cell.raw, "handle")
	}
	for _, r := range d.turn.steps {
		visit(r.name, r.result, "step")
	}
	for _, a := range d.attachments {
		visit(a.name, a.raw, "attachment")
	}
}

func (d *document) tooLarge(size, limit int) error {
	e := &SizeError{Size: size, Limit: limit}
	d.parts(func(name string, raw []byte, kind string) {
		if kind == "handle" && len(raw) > e.HandleSize {
			e.Handle, e.HandleSize = name, len(raw)
		}
		if len(raw) > e.PartSize {
			e.Part, e.PartSize = fmt.Sprintf("%s %q", kind, name), len(raw)
		}
	})
	return e
}
