package sqlstore_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/provider/sqlstore"
	"github.com/stretchr/testify/require"
)

// stateError is an error of PostgreSQL as its drivers return it.
type stateError string

func (e stateError) Error() string    { return "ERROR (SQLSTATE " + string(e) + ")" }
func (e stateError) SQLState() string { return string(e) }

// codeError is an error of modernc.org/sqlite.
type codeError int

func (e codeError) Error() string { return fmt.Sprintf("sqlite error (%d)", int(e)) }
func (e codeError) Code() int     { return int(e) }

// calls are the conditional calls on a stored document.
var calls = map[string]func(ctx context.Context, store *sqlstore.Store, version string) error{
	"write": func(ctx context.Context, store *sqlstore.Store, version string) error {
		_, err := store.Write(ctx, key, []byte("mine"), version)
		return err
	},
	"delete": func(ctx context.Context, store *sqlstore.Store, version string) error {
		return store.Delete(ctx, key, version)
	},
}

// forEachCall runs the test for each conditional call on a document of version "v1" in a fresh fake.
func forEachCall(t *testing.T, dialect sqlstore.Dialect, test func(t *testing.T, f *fake, call func(context.Context) error)) {
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.put(key, "v1", "before")
			store, _ := f.store(t, dialect)
			test(t, f, func(ctx context.Context) error { return call(ctx, store, "v1") })
		})
	}
}

func TestAnErrorThatLeavesTheOutcomeOpenIsUnknown(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"connection lost":                 io.ErrUnexpectedEOF,
		"connection failure":              stateError("08006"),
		"server going down":               stateError("57P01"),
		"statement completion unknown":    stateError("40003"),
		"disk full":                       stateError("53100"),
		"internal error":                  stateError("XX000"),
		"no state":                        stateError(""),
		"SQLite cannot write":             codeError(10 | 3<<8),
		"SQLite interrupted":              codeError(9),
		"SQLite disk full":                codeError(13),
		"a driver error without any code": errors.New("?"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachCall(t, sqlstore.PostgreSQL, func(t *testing.T, f *fake, call func(context.Context) error) {
				f.fail(fault{applied: true, err: err})
				got := call(t.Context())
				require.ErrorIs(t, got, filememory.ErrUnknownOutcome)
				require.ErrorIs(t, got, err)
				require.NotErrorIs(t, got, filememory.ErrConflict)
				require.Equal(t, 1, f.statements(), "a statement that may have happened was repeated")
			})
		})
	}
}

func TestARefusalOfTheDatabaseIsNoUnknownOutcome(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"no table":          stateError("42P01"),
		"no right":          stateError("42501"),
		"read only":         stateError("25006"),
		"canceled":          stateError("57014"),
		"lock timeout":      stateError("55P03"),
		"constraint":        stateError("23514"),
		"SQLite no table":   codeError(1),
		"SQLite read only":  codeError(8),
		"SQLite constraint": codeError(19 | 1<<8),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachCall(t, sqlstore.PostgreSQL, func(t *testing.T, f *fake, call func(context.Context) error) {
				f.fail(fault{err: err})
				got := call(t.Context())
				require.ErrorIs(t, got, err)
				require.NotErrorIs(t, got, filememory.ErrUnknownOutcome)
				require.NotErrorIs(t, got, filememory.ErrConflict)
			})
		})
	}
}

func TestWithoutAConnectionNothingIsUnknown(t *testing.T) {
	t.Parallel()
	forEachCall(t, sqlstore.PostgreSQL, func(t *testing.T, f *fake, call func(context.Context) error) {
		f.dialErr = errors.New("connection refused")
		err := call(t.Context())
		require.ErrorIs(t, err, f.dialErr)
		require.NotErrorIs(t, err, filememory.ErrUnknownOutcome)
		require.Zero(t, f.statements())
	})
}

func TestADriverThatCannotCountRowsLeavesTheOutcomeUnknown(t *testing.T) {
	t.Parallel()
	forEachCall(t, sqlstore.PostgreSQL, func(t *testing.T, f *fake, call func(context.Context) error) {
		f.fail(fault{applied: true, noResult: errors.ErrUnsupported})
		require.ErrorIs(t, call(t.Context()), filememory.ErrUnknownOutcome)
	})
}

func TestAStatementThatWasNeverSentIsSentAgain(t *testing.T) {
	t.Parallel()
	forEachCall(t, sqlstore.PostgreSQL, func(t *testing.T, f *fake, call func(context.Context) error) {
		f.fail(fault{err: driver.ErrBadConn})
		require.NoError(t, call(t.Context()))
		require.Equal(t, 2, f.statements())
	})
}

func TestARepeatedStatementThatHadHappenedIsDoneOnce(t *testing.T) {
	t.Parallel()
	forEachCall(t, sqlstore.PostgreSQL, func(t *testing.T, f *fake, call func(context.Context) error) {
		f.fail(fault{applied: true, err: driver.ErrBadConn}) // the driver breaks its promise
		require.NoError(t, call(t.Context()))
		require.NotEqual(t, "before", f.content(key))
	})
}

// TestACreateIsNotSentAgain guards against bringing back what somebody deleted in between: a repeated INSERT would find no row.
func TestACreateIsNotSentAgain(t *testing.T) {
	t.Parallel()
	erase := func(f *fake) { delete(f.rows, key) }
	for name, first := range map[string]fault{
		"it had happened, and is deleted": {applied: true, err: driver.ErrBadConn, after: erase},
		"it had not happened":             {err: driver.ErrBadConn},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			store, _ := f.store(t, sqlstore.PostgreSQL)
			f.fail(first)
			_, err := store.Write(t.Context(), key, []byte("forgotten since"), "")
			require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
			require.ErrorIs(t, err, driver.ErrBadConn)
			require.NotErrorIs(t, err, filememory.ErrConflict)
			require.Equal(t, 1, f.statements())
			_, _, err = store.Read(t.Context(), key)
			require.ErrorIs(t, err, fs.ErrNotExist, "it is back")
		})
	}
}

func TestARepeatedStatementNeverReportsAConflict(t *testing.T) {
	t.Parallel()
	overwrite := func(f *fake) { f.rows[key] = row{"v2", []byte("theirs")} }
	for name, first := range map[string]fault{
		"the first had happened":     {applied: true, err: driver.ErrBadConn, after: overwrite},
		"the first had not happened": {err: driver.ErrBadConn, after: overwrite},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachCall(t, sqlstore.PostgreSQL, func(t *testing.T, f *fake, call func(context.Context) error) {
				f.fail(first)
				err := call(t.Context())
				require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
				require.NotErrorIs(t, err, filememory.ErrConflict)
				require.Equal(t, "theirs", f.content(key))
			})
		})
	}
}

func TestConnectionsThatAreBadEveryTimeLeaveTheOutcomeUnknown(t *testing.T) {
	t.Parallel()
	forEachCall(t, sqlstore.PostgreSQL, func(t *testing.T, f *fake, call func(context.Context) error) {
		for range 10 {
			f.fail(fault{err: driver.ErrBadConn})
		}
		err := call(t.Context())
		require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
		require.ErrorIs(t, err, driver.ErrBadConn)
		require.Less(t, f.statements(), 10, "sent without end")
	})
}

func TestATransactionThatGaveWayIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, code := range []stateError{"40001", "40P01"} {
		forEachCall(t, sqlstore.PostgreSQL, func(t *testing.T, f *fake, call func(context.Context) error) {
			f.fail(fault{err: code})
			require.NoError(t, call(t.Context()))
		})
		forEachCall(t, sqlstore.PostgreSQL, func(t *testing.T, f *fake, call func(context.Context) error) {
			f.fail(fault{err: code, after: func(f *fake) { f.rows[key] = row{"v2", []byte("theirs")} }})
			require.ErrorIs(t, call(t.Context()), filememory.ErrConflict, "the first certainly did not happen")
		})
	}
}

func TestALockedSQLiteDatabaseIsWaitedFor(t *testing.T) {
	for name, busy := range map[string]error{
		"by code":          codeError(5),
		"by extended code": codeError(5 | 2<<8),
		"table locked":     codeError(6),
		"by text":          errors.New("database is locked"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				store, db := f.store(t, sqlstore.SQLite)
				for range 100 {
					f.fail(fault{err: busy})
				}
				began := time.Now()
				_, err := store.Write(t.Context(), key, []byte("mine"), "")
				require.NoError(t, err)
				require.Equal(t, 101, f.statements())
				require.Greater(t, time.Since(began), time.Second, "it looked again without a pause")
				require.NoError(t, db.Close())
			})
		})
	}
}

// reads are the calls that look, on a document of version "v1".
var reads = map[string]func(ctx context.Context, store *sqlstore.Store) error{
	"read": func(ctx context.Context, store *sqlstore.Store) error { _, _, err := store.Read(ctx, key); return err },
	"list": func(ctx context.Context, store *sqlstore.Store) error {
		_, _, err := store.List(ctx, "", 1)
		return err
	},
	"check schema": func(ctx context.Context, store *sqlstore.Store) error { return store.CheckSchema(ctx) },
}

// TestALockedSQLiteDatabaseIsWaitedForByReads guards databases outside WAL mode, where a commit locks readers out.
func TestALockedSQLiteDatabaseIsWaitedForByReads(t *testing.T) {
	for name, read := range reads {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.put(key, "v1", "before")
				store, db := f.store(t, sqlstore.SQLite)
				f.failReads(100, codeError(5))
				began := time.Now()
				err := read(t.Context(), store)
				require.NotErrorIs(t, err, codeError(5))
				require.Greater(t, time.Since(began), time.Second, "it looked again without a pause")

				f.failReads(1000, codeError(5))
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				require.ErrorIs(t, read(ctx, store), context.DeadlineExceeded)
				require.NoError(t, db.Close())
			})
		})
	}
}

// TestAReadThatFailsFindsNothingOut guards that a broken connection is no absent document, no end of a listing and no table
// of another shape.
func TestAReadThatFailsFindsNothingOut(t *testing.T) {
	t.Parallel()
	for name, read := range reads {
		for _, dialect := range []sqlstore.Dialect{sqlstore.PostgreSQL, sqlstore.SQLite} {
			t.Run(name+" "+dialect.String(), func(t *testing.T) {
				t.Parallel()
				f := newFake()
				store, _ := f.store(t, dialect)
				f.failReads(1, io.ErrUnexpectedEOF)
				err := read(t.Context(), store)
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
				require.NotErrorIs(t, err, fs.ErrNotExist)
				require.NotErrorIs(t, err, sqlstore.ErrSchema)
			})
		}
	}
}

// TestADeleteThatRemovedNothingAndCannotLookWhyIsNeitherDoneNorAConflict guards the second statement of a delete.
func TestADeleteThatRemovedNothingAndCannotLookWhyIsNeitherDoneNorAConflict(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.put(key, "v2", "theirs")
	store, db := f.store(t, sqlstore.PostgreSQL)
	f.failReads(1, io.ErrUnexpectedEOF)
	err := store.Delete(t.Context(), key, "v1")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NotErrorIs(t, err, filememory.ErrConflict)

	tx, err := db.Begin()
	require.NoError(t, err)
	f.failReads(1, io.ErrUnexpectedEOF)
	err = store.Tx(tx).Delete(t.Context(), key, "v1")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NotErrorIs(t, err, filememory.ErrConflict)
	require.NoError(t, tx.Rollback())
}

func TestATableThatCannotBeCreatedIsAnErrorThatNamesIt(t *testing.T) {
	t.Parallel()
	f := newFake()
	store, _ := f.store(t, sqlstore.PostgreSQL)
	f.fail(fault{err: stateError("42501")})
	err := store.EnsureSchema(t.Context())
	require.ErrorIs(t, err, stateError("42501"))
	require.ErrorContains(t, err, sqlstore.DefaultTable)

	f.fail(fault{applied: true, err: stateError("23505")}) // another process was faster
	require.NoError(t, store.EnsureSchema(t.Context()))
}

func TestAWaitForALockedSQLiteDatabaseEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		store, db := f.store(t, sqlstore.SQLite)
		for range 1000 {
			f.fail(fault{err: codeError(5)})
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := store.Write(ctx, key, []byte("mine"), "")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, filememory.ErrUnknownOutcome, "the database never took it")
		require.Equal(t, time.Second, time.Since(began))
		require.NoError(t, db.Close())
	})
}

func TestTheWritersOfASQLiteStoreQueueUpUntilTheirContextsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		store, db := f.store(t, sqlstore.SQLite)
		f.fail(fault{applied: true, block: true}) // the first writer takes its time
		long, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() { _, _ = store.Write(long, key, []byte("first"), "") }()
		synctest.Wait()

		short, cancelShort := context.WithTimeout(t.Context(), time.Second)
		defer cancelShort()
		_, err := store.Write(short, key, nil, "")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, filememory.ErrUnknownOutcome)
		require.Equal(t, 1, f.statements(), "the second writer did not wait for the first")

		_, err = store.Write(t.Context(), key, nil, "")
		require.ErrorIs(t, err, filememory.ErrConflict, "the next writer gets its turn")
		require.NoError(t, db.Close())
	})
}

func TestPostgreSQLIsNotTakenForALockedSQLite(t *testing.T) {
	t.Parallel()
	forEachCall(t, sqlstore.PostgreSQL, func(t *testing.T, f *fake, call func(context.Context) error) {
		f.fail(fault{err: errors.New("database is locked")})
		require.ErrorIs(t, call(t.Context()), filememory.ErrUnknownOutcome)
		require.Equal(t, 1, f.statements())
	})
}

func TestAnEndedContextIsInTheErrorWhateverTheDriverSays(t *testing.T) {
	t.Parallel()
	forEachCall(t, sqlstore.PostgreSQL, func(t *testing.T, f *fake, call func(context.Context) error) {
		f.fail(fault{block: true, err: errors.New("i/o timeout")})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		err := call(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, filememory.ErrUnknownOutcome)
	})
}

// tardy is a context whose deadline has passed before its timer fired.
type tardy struct{ context.Context }

func (tardy) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

func TestAPassedDeadlineCountsBeforeItsTimerFires(t *testing.T) {
	t.Parallel()
	forEachCall(t, sqlstore.PostgreSQL, func(t *testing.T, f *fake, call func(context.Context) error) {
		f.dialErr = errors.New("dial: i/o timeout")
		require.ErrorIs(t, call(tardy{t.Context()}), context.DeadlineExceeded)
	})
}

func TestACallWithAnEndedContextSendsNothing(t *testing.T) {
	t.Parallel()
	forEachCall(t, sqlstore.PostgreSQL, func(t *testing.T, f *fake, call func(context.Context) error) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := call(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, filememory.ErrUnknownOutcome)
		require.Zero(t, f.statements())
	})
}

func TestNothingIsUnknownBeforeTheCommit(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]error{"connection lost": io.ErrUnexpectedEOF, "bad connection": driver.ErrBadConn} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			store, db := f.store(t, sqlstore.PostgreSQL)
			tx, err := db.Begin()
			require.NoError(t, err)
			f.fail(fault{err: fail})
			_, err = store.Tx(tx).Write(t.Context(), key, []byte("mine"), "")
			require.ErrorIs(t, err, fail)
			require.NotErrorIs(t, err, filememory.ErrUnknownOutcome)
			require.Equal(t, 1, f.statements())
			_ = tx.Rollback()
		})
	}
}

func TestATransactionThatGaveWayIsAConflict(t *testing.T) {
	t.Parallel()
	f := newFake()
	store, db := f.store(t, sqlstore.PostgreSQL)
	tx, err := db.Begin()
	require.NoError(t, err)
	f.fail(fault{err: stateError("40001")})
	_, err = store.Tx(tx).Write(t.Context(), key, []byte("mine"), "v1")
	var conflict *filememory.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.ErrorIs(t, err, stateError("40001"), "the driver's error is kept for those who retry transactions by it")
	require.NoError(t, tx.Rollback())
}
