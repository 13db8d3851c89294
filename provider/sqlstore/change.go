package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	// attempts bounds how often a statement is sent again after the database or its driver said that it was not carried
	// out. It does not bound the wait for a locked SQLite database, which is the context's to end, as is the wait for a row
	// in PostgreSQL.
	attempts = 4

	firstWait   = time.Millisecond
	longestWait = 32 * time.Millisecond
)

// errResent is the reason for an unknown outcome after driver.ErrBadConn.
var errResent = errors.New("the statement was sent again on another connection and found another version")

// changed is what became of a conditional statement that was carried out.
type changed struct {
	applied bool // it changed its row
	resent  bool // an earlier attempt ended in driver.ErrBadConn
}

// change carries out one conditional statement. An error matches docstore.ErrUnknownOutcome unless it is
// certain that nothing happened.
//
// It takes a connection first, for two reasons: what fails before there is one was never sent; and database/sql, which
// repeats a statement by itself after driver.ErrBadConn, leaves that to the holder of a connection. Some drivers return
// that error for a connection that died after the statement had been sent, and then the repetition meets the version that
// its own first attempt wrote. So the repetition is counted, and with once there is none.
func (s *Store) change(ctx context.Context, statement string, args []any, once bool) (changed, error) {
	var result changed
	if err := s.turn.take(ctx); err != nil {
		return result, err
	}
	defer s.turn.pass()
	wait := firstWait
	for attempt := 1; ; attempt++ {
		sent, rows, err := s.execute(ctx, statement, args)
		switch {
		case err == nil:
			result.applied = rows > 0
			return result, nil
		case s.busy(err):
			if err := pause(ctx, &wait); err != nil {
				return result, result.doubt(ctx, err)
			}
			attempt--
		case sent && errors.Is(err, driver.ErrBadConn) && !once:
			result.resent = true
		case sent && !refused(err):
			return result, unknownOutcome(ctx, err)
		case !sent || !gaveWay(err):
			return result, result.doubt(ctx, err)
		}
		if attempt >= attempts {
			return result, result.doubt(ctx, err)
		}
	}
}

// turn lets the writers of this store go one after another, in the order in which they came. SQLite has one writer at a
// time anyway; those who look whether the database is still locked overtake each other, and some wait for seconds. nil lets
// everybody go.
type turn chan struct{}

func newTurn(d Dialect) turn {
	if d != SQLite {
		return nil
	}
	return make(turn, 1)
}

func (t turn) take(ctx context.Context) error {
	if t == nil {
		return nil
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turn) pass() {
	if t != nil {
		<-t
	}
}

// doubt is the error of a statement that the last attempt certainly did not carry out.
func (c changed) doubt(ctx context.Context, err error) error {
	if c.resent {
		return unknownOutcome(ctx, err)
	}
	return withContext(ctx, err)
}

// execute sends the statement on a connection of its own. sent is false when there was none to send it on.
func (s *Store) execute(ctx context.Context, statement string, args []any) (sent bool, rows int64, err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return false, 0, err
	}
	defer conn.Close()
	rows, err = affected(conn.ExecContext(ctx, statement, args...))
	return true, rows, err
}

func affected(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	rows, err := result.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("driver does not tell how many rows changed: %w", err)
	}
	return rows, nil
}

// query runs a read, again as long as SQLite is busy: outside WAL mode a writer locks readers out while it commits.
func (s *Store) query(ctx context.Context, read func() error) error {
	wait := firstWait
	for {
		err := read()
		if err == nil || !s.busy(err) {
			return err
		}
		if err := pause(ctx, &wait); err != nil {
			return err
		}
	}
}

// pause waits for *wait, more or less, and doubles it.
func pause(ctx context.Context, wait *time.Duration) error {
	timer := time.NewTimer(*wait/2 + rand.N(*wait))
	defer timer.Stop()
	*wait = min(2**wait, longestWait)
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
