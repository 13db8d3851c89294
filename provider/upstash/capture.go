package upstash

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/recollect-go/recollect/internal/dialogue"
	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/memory"
)

// batch is how many records are sent in one request.
const batch = 32

// capture stores what was said in the turn. The ids of the records are digests of their places and texts, and a record that
// is there is left as it is, so that a repeated capture adds nothing and does not bring back what was forgotten since. What
// was erased leaves nothing behind that could stop it.
func (p *Provider) capture(ctx context.Context, r *memory.TurnCompleted) error {
	if err := accept(ctx, "capture", r.Key); err != nil {
		return err
	}
	writes, err := p.writes(r)
	if err != nil || len(writes) == 0 {
		return err
	}
	for writes := range slices.Chunk(writes, batch) {
		if err := p.write(ctx, writes); err != nil {
			return err
		}
	}
	return p.waitIndexing(ctx, "capture")
}

// write carries out some writes. When they may have been carried out and no answer says so, they are not sent again, which
// would bring back what was erased in between: that all of their records are there is success.
func (p *Provider) write(ctx context.Context, writes []command) error {
	s := &sending{once: true}
	_, err := p.client.sendAll(ctx, "capture", s, writes)
	if !s.doubt {
		return err
	}
	if ctx.Err() == nil && p.areThere(ctx, writes) {
		return nil
	}
	return unknown("capture", err)
}

// areThere reports whether the records of all writes are stored, forgotten ones included.
func (p *Provider) areThere(ctx context.Context, writes []command) bool {
	count := command{"EXISTS"}
	for _, write := range writes {
		count = append(count, write[1])
	}
	result, err := p.client.run(ctx, "capture", count)
	if err != nil {
		return false
	}
	n, err := result.number()
	return err == nil && int(n) == len(writes)
}

// writes returns the commands that store the turn.
func (p *Provider) writes(r *memory.TurnCompleted) ([]command, error) {
	var writes []command
	for _, part := range []struct {
		source source
		texts  []string
	}{{sourceUser, p.said(r)}, {sourceModel, p.answered(r)}} {
		for i, text := range part.texts {
			record := p.newRecord(&r.Operation, r.Turn.Sequence, part.source, i, text)
			document, err := record.encode()
			if err != nil {
				return nil, failed("capture", err)
			}
			writes = append(writes, command{"JSON.SET", p.recordPrefix(r.Key) + messageID(record), "$", document, "NX"})
		}
	}
	return writes, nil
}

func (p *Provider) said(r *memory.TurnCompleted) []string {
	if p.opts.Capture == CaptureModel {
		return nil
	}
	return p.pieces(dialogue.Said(r.Turn.Input))
}

func (p *Provider) answered(r *memory.TurnCompleted) []string {
	if p.opts.Capture == CaptureUser {
		return nil
	}
	return p.pieces(dialogue.Answered(dialogue.Own(&r.Turn, r.Messages)))
}

func (p *Provider) newRecord(o *memory.Operation, sequence int64, from source, subIndex int, text string) *record {
	return &record{
		Text: text, UserID: o.Key, CreatedAt: time.Now().UnixMilli(), SessionID: keyPart(o.Session.ID),
		Source: from, Sequence: sequence, SubIndex: subIndex,
	}
}

// pieces returns the normalized texts, each one once, those that are too long for a record divided.
func (p *Provider) pieces(texts []string) (pieces []string) {
	seen := make(map[string]bool)
	for _, text := range texts {
		text = normalize(text)
		if seen[text] {
			continue
		}
		seen[text] = true
		pieces = append(pieces, divide(text, p.opts.MaxMemoryCharacters)...)
	}
	return pieces
}

// divide cuts a normalized text into parts of at most limit UTF-16 units, at spaces where there are any in the last half of
// a part.
func divide(text string, limit int) (parts []string) {
	for ecma.UTF16Len(text) > limit {
		part := dialogue.Cut(text, limit)
		if at := lastSpace(part); at > len(part)/2 {
			part = part[:at]
		}
		parts = append(parts, part)
		text = ecma.Trim(text[len(part):])
	}
	if text != "" {
		parts = append(parts, ecma.Trim(text))
	}
	return parts
}

// lastSpace returns the index of the last space in text, which is normalized and has no other kind.
func lastSpace(text string) int {
	for at := len(text); at > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
		if r == ' ' {
			return at
		}
	}
	return -1
}
