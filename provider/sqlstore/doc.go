// Package sqlstore keeps documents and checkpoints in one table of a PostgreSQL or SQLite database. A Store is a
// filememory.Backend and a state.Store; Store.Tx binds it to a transaction of the application, so that a checkpoint commits
// together with the rows it belongs to. The caller brings the driver and the pool: the package imports database/sql alone.
//
// # Table
//
// Store.Schema prints the statement that creates the table and Store.EnsureSchema runs it. A row is a document: its key,
// its version, a random token that no other write ever has, and its content, as bytes. Keys are compared by their bytes
// under every collation.
//
// # Statements
//
// Every call is one statement with the key as equality condition, so it touches one row and locks at most that row, for as
// long as the statement runs. A conditional write is the same statement as the comparison: an UPDATE or DELETE that names
// key and version, or an INSERT that does nothing when the key exists. A delete that removed nothing is followed by a look
// at the row's version, to tell an absent document from a changed one. List reads keys alone, page by page.
//
// # Outcomes
//
// A write is done when Write returns nil. It is certainly not done when the error matches filememory.ErrConflict, when no
// connection could be had, and when the database itself refused the statement. In all other cases, a lost connection and a
// context that ended while the statement was running among them, the error matches filememory.ErrUnknownOutcome, and the
// caller reads again.
//
// A driver that says driver.ErrBadConn has promised that nothing was sent, and an update or a delete is sent once more.
// Drivers have broken that promise, so a repeated update that finds another version looks whether it is its own, and
// otherwise reports an unknown outcome, never a conflict. A create is not sent again, which could bring back a document
// that somebody has deleted in between: its outcome is unknown.
//
// # Durability
//
// A write is as durable as a commit of the database: with PostgreSQL's defaults (fsync and synchronous_commit on) it has
// reached the disk of the server; with a synchronous standby, also that one's. In SQLite it has with PRAGMA
// synchronous=FULL, SQLite's default; in WAL mode with synchronous=NORMAL a power failure, but not a crash of the process,
// can take back the last writes.
//
// # SQLite
//
// SQLite has one writer at a time. The writers of a Store queue up, so open one Store in a process and share it; for those
// of other processes it waits, looking again every few milliseconds, until the context ends. SQLite's own wait (PRAGMA
// busy_timeout) does not watch the context in every driver, so leave it unset or short. Use WAL mode, which lets readers go
// on while one writes. A database in memory needs a pool of one connection, since each connection has its own. A
// transaction that reads before it writes should begin as IMMEDIATE; a deferred one fails when another wrote in between.
//
// Errors of modernc.org/sqlite carry SQLite's result code. With a driver whose errors have no Code() int method, all refusals
// but "database is locked" count as unknown outcomes: right, but with one more read.
package sqlstore
