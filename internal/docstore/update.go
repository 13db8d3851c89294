package docstore

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"time"
)

// Decision looks at a document, nil when there is none, and returns what it is to become, or nil to leave it alone. It may be
// asked several times, each time with a fresh document; only the last answer counts. It must not keep or change current.
type Decision func(current []byte) (next []byte, err error)

// retries is how often an update tries again after it was not the first.
const retries = 8

// The pause before a retry is random, up to a bound that doubles each time: a document's writers must spread over the
// time that all of their writes take.
const (
	firstPause = 8 * time.Millisecond
	lastPause  = time.Second
)

// Updater changes documents of one store, whoever else does: it reads, decides, writes on condition, and starts again
// when somebody else was first. Within an Updater the writers of a key queue up, so they do not make each other start
// again. In a Dir the document is locked between the look and the write, and nobody does.
type Updater struct {
	store  Store
	queues queues
}

// NewUpdater returns an Updater of store.
func NewUpdater(store Store) *Updater { return &Updater{store: store} }

// Update asks decide about the document of key and stores its answer. A conflict is retried 8 times, and then returned.
// After an unknown outcome the document is read again, and whenever it is what was sent, that is success; otherwise it counts
// as a retry. What fails after that leaves the outcome unknown, since the write may have been on its way all the time. An
// error of decide is returned as it is.
func (u *Updater) Update(ctx context.Context, key string, decide Decision) error {
	if d, ok := u.store.(*Dir); ok {
		return d.update(ctx, key, decide)
	}
	if err := u.queues.enter(ctx, key); err != nil {
		return err
	}
	defer u.queues.leave(key)

	var sent []byte  // by the last write whose outcome is unknown
	var unsure error // what came of it
	return Retry(ctx, func() error {
		current, version, err := readOrAbsent(ctx, u.store, key)
		if err != nil {
			return errors.Join(unsure, err)
		}
		if unsure != nil && current != nil && bytes.Equal(sent, current) {
			return nil
		}
		next, err := decide(current)
		if err != nil || next == nil {
			return err
		}
		_, err = u.store.Write(ctx, key, next, version)
		if errors.Is(err, ErrUnknownOutcome) {
			sent, unsure = next, err
		}
		return doubted(unsure, err)
	})
}

// Erase removes the document of key, whatever it is and whoever else changes it. An absent document is success.
func (u *Updater) Erase(ctx context.Context, key string) error {
	if d, ok := u.store.(*Dir); ok {
		return d.erase(ctx, key)
	}
	var unsure error // what came of the last delete whose outcome is unknown
	return Retry(ctx, func() error {
		current, version, err := readOrAbsent(ctx, u.store, key)
		if err != nil {
			return errors.Join(unsure, err)
		}
		if current == nil {
			return nil
		}
		err = u.store.Delete(ctx, key, version)
		if errors.Is(err, ErrUnknownOutcome) {
			unsure = err
		}
		return doubted(unsure, err)
	})
}

// doubted returns the error of a call that ended in err, after an earlier one whose outcome is unsure, if that is not nil. A
// conflict may be with that earlier call.
func doubted(unsure, err error) error {
	switch {
	case err == nil || unsure == nil || errors.Is(err, ErrUnknownOutcome):
		return err
	case errors.Is(err, ErrConflict):
		return unsure
	default:
		return errors.Join(unsure, err)
	}
}

// readOrAbsent returns nil content for an absent document, and only then.
func readOrAbsent(ctx context.Context, store Store, key string) ([]byte, string, error) {
	content, version, err := store.Read(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err == nil && content == nil {
		content = []byte{}
	}
	return content, version, err
}

// Retry calls try until it returns something else than a conflict or an unknown outcome, or ctx ends, or it has tried
// often enough. try begins with a fresh look at the document every time.
func Retry(ctx context.Context, try func() error) error {
	pause := firstPause
	for n := 0; ; n++ {
		err := try()
		if n == retries || !errors.Is(err, ErrConflict) && !errors.Is(err, ErrUnknownOutcome) {
			return err
		}
		if ended := wait(ctx, rand.N(pause)); ended != nil {
			return errors.Join(err, ended)
		}
		pause = min(2*pause, lastPause)
	}
}

// wait pauses for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
