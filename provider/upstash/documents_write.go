package upstash

import (
	"context"
	"errors"
	"io/fs"
	"unicode/utf8"

	"github.com/recollect-go/recollect/internal/docstore"
)

// Write replaces the document of key if its version is expected, or creates it if expected is "". The package comment says
// what becomes of a write whose answer is lost.
func (d *Documents) Write(ctx context.Context, key string, content []byte, expected string) (version string, err error) {
	if err := accept(ctx, "write", key); err != nil {
		return "", err
	}
	if !utf8.Valid(content) {
		return "", failed("write", ErrNotUTF8)
	}
	if !utf8.ValidString(expected) {
		return "", failed("write", &docstore.ConflictError{Key: key, Expected: expected})
	}
	version = newVersion()
	// A repeated create would bring back a document that was deleted in between. A repeated update finds another version then.
	change := &change{operation: "write", key: key, expected: expected, sent: sending{once: expected == ""},
		isDone: func(stored string) bool { return stored == version }}
	if err := d.apply(ctx, change, writeScript, marker+string(content), expected, version, d.ttl); err != nil {
		return "", err
	}
	return version, nil
}

// Delete removes the document of key if its version is expected; an absent document is success.
func (d *Documents) Delete(ctx context.Context, key, expected string) error {
	if err := accept(ctx, "delete", key); err != nil {
		return err
	}
	if !utf8.ValidString(expected) {
		expected = "" // no document has such a version, and none has this one
	}
	change := &change{operation: "delete", key: key, expected: expected, isDone: func(stored string) bool { return stored == "" }}
	return d.apply(ctx, change, deleteScript, expected)
}

// change is one conditional write or delete.
type change struct {
	operation string // "write" or "delete"
	key       string
	expected  string
	sent      sending
	// isDone reports whether a stored version, "" when there is no document, proves that the change was carried out.
	isDone func(stored string) bool
}

// apply runs the script of a change and says what became of it.
func (d *Documents) apply(ctx context.Context, c *change, script string, args ...string) error {
	result, err := d.client.send(ctx, c.operation, &c.sent, append(command{"EVAL", script, "1", d.prefix + c.key}, args...))
	if err != nil {
		return d.settle(ctx, c, err)
	}
	answer, err := parseVerdict(result)
	if err != nil {
		c.sent.doubt = true
		return d.settle(ctx, c, badReply(c.operation, err))
	}
	switch answer.word {
	case wordConflict:
		return c.conflict(answer.detail)
	case wordShape:
		return failed(c.operation, &ShapeError{Key: c.key, Found: found(answer.detail)})
	}
	return nil
}

var errRepeated = errors.New("sent again after a lost answer, and another version is stored now")

// conflict returns the error for another version than expected. When the change was sent more than once, an earlier one may
// have been carried out and the stored version been written on top of it.
func (c *change) conflict(stored string) error {
	if c.sent.doubt {
		return unknown(c.operation, errRepeated)
	}
	return failed(c.operation, &docstore.ConflictError{Key: c.key, Expected: c.expected, Actual: stored})
}

// settle reads the version after a change that may have been carried out. That the expected one is there proves nothing: the
// change may still be on its way.
func (d *Documents) settle(ctx context.Context, c *change, cause error) error {
	if !c.sent.doubt {
		return cause
	}
	if ctx.Err() != nil {
		return unknown(c.operation, cause)
	}
	if stored, err := d.storedVersion(ctx, c.key); err == nil && c.isDone(stored) {
		return nil
	}
	return unknown(c.operation, cause)
}

// storedVersion returns the version of the document, "" when there is none. Something else at its key is an error.
func (d *Documents) storedVersion(ctx context.Context, key string) (string, error) {
	_, version, err := d.Read(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return version, err
}
