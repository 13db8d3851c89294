// Package notes is a searchable memory: from hundreds to millions of facts and remarks, kept in PostgreSQL or SQLite, of
// which each turn recalls those that fit what was just said. The caller brings the driver and the pool: the package imports
// database/sql alone.
//
// # Which type is yours
//
// To give an agent a memory, make a Store with New, create its tables with Store.EnsureSchema, and give NewProvider's result
// to a slot. To import notes, or to let people see, change, export and erase what is remembered about them, use the Store.
//
// # Two kinds of notes
//
// A Fact was meant to be remembered: the model saved it with its tool, the host added it, or an Extractor made it of a
// conversation. An Utterance was said and is kept as it was. They are ranked apart and have places of their own in a recall,
// facts first.
//
// # Isolation
//
// Every statement has the key as an equality condition of its own, the full-text and the vector lookup included, and no list
// of notes that a lookup walks has a note of another scope in it. So a recall takes as long as its scope is large, not the
// store.
//
// # Search
//
// Text in any script is found: see package analysis inside this one for how. The index names the notes that have words of
// the query, in FTS5 for SQLite and in a table for PostgreSQL; the ranking is done here and is the same for both. With an
// Embedder the notes that are nearest in meaning are mixed in.
//
// # Changes
//
// A change is one transaction: a note, its index, its vector and the record of the operation that stored it. Changes of one
// scope run one at a time. Everything can be repeated without doing it twice: a capture by its operation id, a fact by its
// text. An error after which the outcome is unknown matches ErrUnknownOutcome.
//
// A recall that is repeated under its operation's id returns what it returned, as long as all of it may be shown. Deletion
// goes before repetition: once a note of it was forgotten or erased or has expired, the repetition looks again. When the
// first result was committed already, that is memory.ErrReplay, and resuming the turn the way out.
//
// # Deletion
//
// What is forgotten, has expired or is erased is deleted from every table, recorded recalls included, whatever has become of
// its row. Whether its bytes also leave the file at once is the database's affair: PRAGMA secure_delete in SQLite, with a
// checkpoint in WAL mode, and VACUUM in PostgreSQL. The record that an operation was captured stays until
// Options.OperationLife is over, or the scope is erased.
package notes
