package notes

import "strconv"

// Dialect is the database that a Store talks to. The zero Dialect is none, and New refuses it.
type Dialect uint8

const (
	// PostgreSQL is PostgreSQL 12 or later, with the encoding UTF8. No extension is needed.
	PostgreSQL Dialect = iota + 1
	// SQLite is SQLite 3.42 or later with FTS5, which is part of the usual builds.
	SQLite
)

// String returns the name of the database.
func (d Dialect) String() string {
	switch d {
	case PostgreSQL:
		return "PostgreSQL"
	case SQLite:
		return "SQLite"
	default:
		return "dialect " + strconv.Itoa(int(d))
	}
}

func (d Dialect) known() bool { return d == PostgreSQL || d == SQLite }
