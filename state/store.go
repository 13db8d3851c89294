package state

import "context"

// Store keeps one checkpoint per key. Keys match ^[a-z0-9]+_[A-Za-z0-9_-]{43}$; anything else is refused with an error
// matching ErrInvalidKey before any storage is touched. Keys that differ only in case are different keys. Contents are
// arbitrary bytes and come back exactly. Versions are opaque, never empty, never reused for another content of the key,
// and never a time.
//
// All methods may be called concurrently and by several processes. They honour ctx: when it ends they return promptly
// with an error that matches ctx.Err(). A Store never retains content after a call and hands out a slice that the caller
// owns.
//
// Package statetest checks every rule. filememory.Backend has the same method set, so one engine serves both.
type Store interface {
	// Read returns the document and its version, or an error matching fs.ErrNotExist when there is none.
	Read(ctx context.Context, key string) (content []byte, version string, err error)

	// Write replaces the document only if its version is expected; "" means that it must not exist. It returns the new
	// version. A mismatch is a *ConflictError and nothing was written. When the outcome is unknown (a timeout after sending,
	// a lost reply) the error matches ErrUnknownOutcome and not ErrConflict, and the caller reads again. There is no
	// unconditional write.
	Write(ctx context.Context, key string, content []byte, expected string) (version string, err error)

	// Delete removes the document only if its version is expected. An absent document is success, whatever is expected; a
	// mismatch is a *ConflictError and nothing was removed.
	Delete(ctx context.Context, key, expected string) error
}

// Lister is implemented by a Store that can list its keys. It is for operators: sweeping, exporting, counting.
type Lister interface {
	// List returns up to limit keys, without bodies, and the cursor of the next page. A limit below 1 is an error. The first
	// cursor is "", and a next of "" means that there are no more; a page may be short or empty before that. The order is not
	// specified. A key that exists during the whole listing appears at least once, and so may a key in whose place there is
	// something else: Read tells.
	List(ctx context.Context, cursor string, limit int) (keys []string, next string, err error)
}
