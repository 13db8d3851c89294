package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/recollect-go/recollect/internal/docstore"
)

// DefaultSweepLimit is how many keys one call of Sweep lists.
const DefaultSweepLimit = 500

// SweepOptions says what Sweep deletes. IdleFor is required.
type SweepOptions struct {
	// IdleFor is how long ago a session's last commit must be. Make it longer than the longest step and the longest pause
	// after which somebody may return: a step that runs longer has committed nothing meanwhile, and will fail.
	IdleFor time.Duration

	// Cursor is the Next of the report before; "" begins.
	Cursor string

	// Limit is how many keys are listed, and so how many documents are read at most. 0 means DefaultSweepLimit.
	Limit int

	// Logger receives what could not be read. nil logs nothing.
	Logger *slog.Logger

	// Now gives the time. nil means time.Now.
	Now func() time.Time
}

// SweepReport is what one call of Sweep did.
type SweepReport struct {
	Next       string   // cursor of the next page; "" when there is none
	Checked    int      // checkpoints that were read
	Deleted    int      // checkpoints that were idle, and are gone
	Unreadable []string // keys of what stays: malformed, of a newer format, over the store's limit, or no document at all
}

// Sweep deletes the sessions of one page of keys whose last commit is longer than IdleFor ago. To sweep a store, call it
// until Next is "". The store must be a Lister, otherwise the error matches errors.ErrUnsupported. Keys of other
// documents in the store are left alone.
//
// A session that commits while it is being swept stays: the delete is conditional. Each child of a session is judged by
// its own last commit. When the error is not nil the report says what was done before it, and its Next is the cursor that
// was given.
func Sweep(ctx context.Context, store Store, opts *SweepOptions) (*SweepReport, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return &SweepReport{}, err
	}
	report := &SweepReport{Next: o.Cursor}
	lister, ok := store.(Lister)
	if !ok {
		return report, fmt.Errorf("state: the store cannot list its keys: %w", errors.ErrUnsupported)
	}
	keys, next, err := lister.List(ctx, o.Cursor, o.Limit)
	if err != nil {
		return report, fmt.Errorf("state: list keys: %w", err)
	}
	for _, key := range keys {
		if !isCheckpointKey(key) {
			continue
		}
		if err := o.sweepKey(ctx, store, key, report); err != nil {
			return report, fmt.Errorf("state: sweep: %w", err)
		}
	}
	report.Next = next
	return report, nil
}

func (o *SweepOptions) withDefaults() (*SweepOptions, error) {
	if o == nil || o.IdleFor <= 0 || o.Limit < 0 {
		return nil, errors.New("state: a sweep needs a positive IdleFor, and a limit that is not negative")
	}
	made := *o
	if made.Limit == 0 {
		made.Limit = DefaultSweepLimit
	}
	if made.Logger == nil {
		made.Logger = slog.New(slog.DiscardHandler)
	}
	if made.Now == nil {
		made.Now = time.Now
	}
	return &made, nil
}

func (o *SweepOptions) sweepKey(ctx context.Context, store Store, key string, report *SweepReport) error {
	content, version, err := store.Read(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if errors.Is(err, docstore.ErrTooLarge) || errors.Is(err, docstore.ErrShape) {
		o.skip(ctx, key, report, err)
		return nil
	}
	if err != nil {
		return err
	}
	report.Checked++
	d, _, err := decodeCheckpoint(content)
	if err != nil {
		o.skip(ctx, key, report, err)
		return nil
	}
	if o.Now().Sub(d.updatedAt) <= o.IdleFor {
		return nil
	}
	err = store.Delete(ctx, key, version)
	if errors.Is(err, ErrConflict) {
		return nil // not idle after all
	}
	if err != nil {
		return err
	}
	report.Deleted++
	return nil
}

func (o *SweepOptions) skip(ctx context.Context, key string, report *SweepReport, why error) {
	report.Unreadable = append(report.Unreadable, key)
	o.Logger.LogAttrs(ctx, slog.LevelWarn, "checkpoint not swept", slog.String("key", key), slog.Any("error", why))
}
