package notes

import (
	"database/sql"
	"errors"
	"fmt"
)

// Store keeps notes in the tables of a database, apart by key. It may be used concurrently, and by several processes. It is
// also what a host uses to import notes, to show people what is remembered about them, and to erase it. The key says whose
// memory it is: derive it with scope.Derive from an identity that the host trusts, and never take one from a request.
type Store struct {
	db      *sql.DB
	dialect Dialect
	opts    Options
	prefix  string
	sql     statements
	vectors VectorIndex
}

// New returns a store in db, which stays the caller's to configure and to close. It sends nothing: EnsureSchema creates the
// tables, CheckSchema looks at them. The error matches ErrOption and lists every problem.
func New(db *sql.DB, dialect Dialect, opts *Options) (*Store, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.withDefaults()
	problems := o.problems()
	if db == nil {
		problems = append(problems, fmt.Errorf("%w: db is nil", ErrOption))
	}
	if !dialect.known() {
		problems = append(problems, fmt.Errorf("%w: %v is neither PostgreSQL nor SQLite", ErrOption, dialect))
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	s := &Store{db: db, dialect: dialect, opts: o, prefix: o.Tables, vectors: o.Vectors}
	s.prepare()
	if s.vectors == nil {
		s.vectors = scan{s}
	}
	return s, nil
}
