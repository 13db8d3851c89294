package filememory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"unicode/utf8"

	"github.com/recollect-go/recollect/memory"
)

// Slot is the file memory as one slot of an agent sees it, for the host's own use: a page where people see what is
// remembered about them, an import, an erasure. The key says whose memory it is; derive it with scope.Derive from an
// identity that the host trusts, and never take one from a request. A Slot may be used concurrently, also with the agent.
type Slot struct {
	provider *Provider
	name     string
}

// Slot returns the file memory as the slot of the given name sees it. The name appears in what the model sees, and so counts
// for MaxCharacters.
func (p *Provider) Slot(name string) *Slot { return &Slot{provider: p, name: name} }

// Saved tells what became of a text.
type Saved struct {
	Index int64 // of the entry that holds the text
	Saved bool  // false when the text was there already
}

// List returns the entries of key by ascending index; none when there is no document.
func (s *Slot) List(ctx context.Context, key string) ([]Entry, error) {
	doc, _, err := s.load(ctx, key)
	return doc.entries, s.failed("list", err)
}

// Recall returns what the model sees of the memory of key: nothing when there is no document, else one item.
func (s *Slot) Recall(ctx context.Context, key string) ([]memory.Item, error) {
	doc, found, err := s.load(ctx, key)
	if err != nil || !found {
		return nil, s.failed("recall", err)
	}
	return []memory.Item{{ID: recallID, Content: recallText(s.name, doc.entries, s.provider.opts.ReadOnly)}}, nil
}

// Save adds text, trimmed and with single spaces, as a new entry of key, unless it is there already. The errors are those
// at ErrEntryEmpty and below, checked in the order: text, index, recalled message, document; and ErrConflict when others
// kept changing the document. After an error nothing was saved, unless it matches ErrUnknownOutcome.
func (s *Slot) Save(ctx context.Context, key, text string) (Saved, error) {
	text, err := s.admit(ctx, key, text)
	if err != nil {
		return Saved{}, s.failed("save", err)
	}
	var saved Saved
	err = s.provider.updater.Update(ctx, key, func(current []byte) (next []byte, err error) {
		next, saved, err = s.saveInto(key, current, text)
		return next, err
	})
	if err != nil {
		return Saved{}, s.failed("save", err)
	}
	return saved, nil
}

// Remove drops the entry with the given index from key. It reports whether there was one; that there was none is no error.
func (s *Slot) Remove(ctx context.Context, key string, index int64) (bool, error) {
	var removed bool
	err := s.provider.updater.Update(ctx, key, func(current []byte) (next []byte, err error) {
		next, removed, err = s.removeFrom(key, current, index)
		return next, err
	})
	return removed && err == nil, s.failed("remove", err)
}

// Erase removes the document of key, also one that is malformed. A key without one is success.
func (s *Slot) Erase(ctx context.Context, key string) error {
	return s.failed("erase", s.provider.updater.Erase(ctx, key))
}

// exportKind is the kind of the one record that a key has.
const exportKind = "document"

// export hands over the document of the request's key as it is stored, also one that is malformed.
func (s *Slot) export(ctx context.Context, r *memory.ExportRequest) error {
	content, _, err := s.provider.backend.Read(ctx, r.Key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return s.failed("export", err)
	}
	return r.Write(&memory.ExportedRecord{Kind: exportKind, ID: FileName, Content: string(content)})
}

// admit returns text as it is stored, if it may be.
func (s *Slot) admit(ctx context.Context, key, text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", ErrEntryEncoding
	}
	text = normalize(text)
	if text == "" {
		return "", ErrEntryEmpty
	}
	if len(text) > MaxEntryBytes {
		return "", &LimitError{Limit: ErrEntryTooLong, Size: len(text), Max: MaxEntryBytes}
	}
	if validate := s.provider.opts.Validate; validate != nil {
		if err := validate(ctx, &ValidateRequest{Slot: s.name, Key: key, Text: text}); err != nil {
			return "", fmt.Errorf("%w: %w", ErrRefused, err)
		}
	}
	return text, nil
}

// saveInto returns the document with text added, or nil when it is there already.
func (s *Slot) saveInto(key string, current []byte, text string) ([]byte, Saved, error) {
	doc, err := decode(key, current)
	if err != nil {
		return nil, Saved{}, err
	}
	if index, found := doc.find(text); found {
		return nil, Saved{Index: index}, nil
	}
	if !doc.add(text) {
		return nil, Saved{}, ErrIndexExhausted
	}
	opts := &s.provider.opts
	if length := recallLength(s.name, doc.entries, opts.ReadOnly); length > opts.MaxCharacters {
		return nil, Saved{}, &LimitError{Limit: ErrRecallBudget, Size: length, Max: opts.MaxCharacters}
	}
	next := doc.encode()
	if len(next) > MaxDocumentBytes {
		return nil, Saved{}, &LimitError{Limit: ErrDocumentTooLarge, Size: len(next), Max: MaxDocumentBytes}
	}
	return next, Saved{Index: doc.last, Saved: true}, nil
}

// removeFrom returns the document without the entry, or nil when it has none of that index.
func (s *Slot) removeFrom(key string, current []byte, index int64) ([]byte, bool, error) {
	doc, err := decode(key, current)
	if err != nil || !doc.remove(index) {
		return nil, false, err
	}
	return doc.encode(), true, nil
}

// load reads the document of key, and reports whether there is one.
func (s *Slot) load(ctx context.Context, key string) (document, bool, error) {
	content, _, err := s.provider.backend.Read(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return document{}, false, nil
	}
	if err != nil {
		return document{}, false, err
	}
	if content == nil {
		content = []byte{}
	}
	doc, err := decode(key, content)
	return doc, true, err
}

// decode reads the document of key. nil is the document that is not there yet.
func decode(key string, content []byte) (document, error) {
	if content == nil {
		return document{last: noIndex}, nil
	}
	if len(content) > MaxDocumentBytes {
		return document{}, &TooLargeError{Key: key, Size: int64(len(content)), Limit: MaxDocumentBytes}
	}
	doc, invalid := parse(content)
	if invalid != nil {
		invalid.Key = key
		return document{}, invalid
	}
	return doc, nil
}

// failed says for which slot and in which operation something went wrong.
func (s *Slot) failed(operation string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrConflict):
		return fmt.Errorf("filememory: slot %q: %s: others kept changing the memories, try again: %w", s.name, operation, err)
	}
	return fmt.Errorf("filememory: slot %q: %s: %w", s.name, operation, err)
}
