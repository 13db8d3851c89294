package notes

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/recollect-go/recollect/internal/docstore"
)

// scopeRow is what is stored about a scope. A note's number is never used again.
type scopeRow struct {
	number   int64
	lastNote int64
	count    [3]int64 // notes by Kind
	words    [3]int64 // and the words in them
}

func (r *scopeRow) scan(scan scanner) error {
	return scan(&r.number, &r.lastNote, &r.count[Fact], &r.words[Fact], &r.count[Utterance], &r.words[Utterance])
}

// change is one transaction in one scope. It holds the scope's row, so that those of a scope run one at a time, here and in
// every other process.
type change struct {
	*Store
	ctx   context.Context
	tx    *sql.Tx
	key   string
	now   int64 // milliseconds
	scope scopeRow
}

// change runs f in a transaction, more than once when the database gave it up. What has expired in the scope is deleted with
// it. A lost commit is an error matching ErrUnknownOutcome. Where there is no scope, it is made.
func (s *Store) change(ctx context.Context, key string, f func(*change) error) error {
	return s.transact(ctx, key, (*change).lockOrMake, f)
}

// reduce is change for what only takes away: where there is no scope, f is not called and none is made.
func (s *Store) reduce(ctx context.Context, key string, f func(*change) error) error {
	return s.transact(ctx, key, (*change).lock, f)
}

func (s *Store) transact(ctx context.Context, key string, lock func(*change) (bool, error), f func(*change) error) error {
	if err := s.admit(ctx, key); err != nil {
		return err
	}
	return s.retry(ctx, func() error {
		tx, err := s.begin(ctx)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // of no interest after a commit
		c := &change{Store: s, ctx: ctx, tx: tx, key: key, now: s.opts.Now().UnixMilli()}
		if there, err := lock(c); err != nil || !there {
			return err
		}
		before := c.scope
		if _, err := c.expire(expireAtOnce); err != nil {
			return err
		}
		if err := f(c); err != nil {
			return err
		}
		if c.scope != before && c.scope.number != 0 {
			if err := c.save(); err != nil {
				return err
			}
		}
		return s.commit(tx)
	})
}

// begin begins a transaction. In PostgreSQL each of its statements has to see what was committed before it got the lock on
// the scope, whatever the database's own default.
func (s *Store) begin(ctx context.Context) (*sql.Tx, error) {
	if s.dialect == PostgreSQL {
		return s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	}
	return s.db.BeginTx(ctx, nil)
}

func (s *Store) commit(tx *sql.Tx) error {
	err := tx.Commit()
	if err == nil || s.busy(err) || gaveWay(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
}

// lock takes the scope's row, and reports whether there is one.
func (c *change) lock() (bool, error) {
	err := c.scope.scan(c.tx.QueryRowContext(c.ctx, c.sql.lock, c.key).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// lockOrMake takes the scope's row, and makes it if there is none.
func (c *change) lockOrMake() (bool, error) {
	for {
		if there, err := c.lock(); there || err != nil {
			return there, err
		}
		if _, err := c.execute(c.sql.newScope); err != nil {
			return false, err
		}
	}
}

func (c *change) save() error {
	r := &c.scope
	_, err := c.execute(c.sql.saveScope, r.lastNote, r.count[Fact], r.words[Fact], r.count[Utterance], r.words[Utterance])
	return err
}

// execute runs a statement about the change's key, which is its first argument.
func (c *change) execute(statement string, args ...any) (int64, error) {
	return execute(c.ctx, c.tx, statement, append([]any{c.key}, args...)...)
}

// numbers returns the note numbers that a query selects.
func (c *change) numbers(query string, args ...any) ([]int64, error) {
	return collect(c.ctx, c.tx, query, append([]any{c.key}, args...), func(scan scanner) (n int64, err error) { return n, scan(&n) })
}

// admit refuses what must not reach the database: a key outside the grammar, and any call whose context has ended.
func (s *Store) admit(ctx context.Context, key string) error {
	if err := docstore.CheckKey(key); err != nil {
		return err
	}
	return ctx.Err()
}

// stored returns what is stored about the scope of key, the zero row if nothing is.
func (s *Store) stored(ctx context.Context, key string) (row scopeRow, err error) {
	if err := s.admit(ctx, key); err != nil {
		return row, err
	}
	err = s.retry(ctx, func() error { return row.scan(s.db.QueryRowContext(ctx, s.sql.scope, key).Scan) })
	if errors.Is(err, sql.ErrNoRows) {
		return scopeRow{}, nil
	}
	return row, err
}
