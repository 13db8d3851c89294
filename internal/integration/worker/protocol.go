// Package worker runs a document store in a process of its own, which can be killed, and gives the test a store that talks
// to it.
package worker

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/recollect-go/recollect/internal/docstore"
)

// request is one call on its way to the process, one JSON value a line.
type request struct {
	ID       uint64
	Method   string
	Key      string
	Expected string
	Content  []byte
}

// reply answers the request with the same ID.
type reply struct {
	ID      uint64
	Content []byte
	Version string
	Verdict string // "" or a name in verdicts
	Message string // set when the call failed
}

// verdicts are the errors that mean the same on both sides.
var verdicts = map[string]error{
	"not exist":   fs.ErrNotExist,
	"conflict":    docstore.ErrConflict,
	"unknown":     docstore.ErrUnknownOutcome,
	"invalid key": docstore.ErrInvalidKey,
}

func (r *reply) fail(err error) {
	if err == nil {
		return
	}
	r.Message = err.Error()
	for name, known := range verdicts {
		if errors.Is(err, known) {
			r.Verdict = name
		}
	}
}

func (r *reply) err() error {
	switch {
	case r.Message == "":
		return nil
	case r.Verdict == "":
		return errors.New(r.Message)
	default:
		return fmt.Errorf("%s: %w", r.Message, verdicts[r.Verdict])
	}
}
