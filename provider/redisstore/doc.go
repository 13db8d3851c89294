// Package redisstore keeps documents in Redis or Valkey, one server, a sentinel group or a cluster. One Store serves as
// filememory.Backend and as state.Store.
//
// # Layout
//
// A document is one hash at <prefix>:<key> with the fields content and version. The prefix [DocumentPrefix] and this
// layout are those of Upstash AgentKit's backend for the file memory of eve, so a Go service and an eve agent that share
// a server read and write the same memory. The content begins with "eve-memory-document-v1:", which keeps clients that
// parse replies as JSON from mistaking a document for a number or an object; it is no part of the document, is always
// written, and may be missing when read. The version begins with r for the same reason.
//
// A key that holds anything else (another type, or a hash without those two fields) is an error matching [ErrShape] that
// names what was found, and is never changed. AgentKit itself takes such a key for a missing document and writes over it.
//
// # Conditions
//
// Each write and each delete is one script on one key: it compares the version and acts, and nothing can come between.
// Every call uses one key, so any cluster serves it. A version is a random token, never reused.
//
// # Outcomes
//
// The client sends a command again when its connection breaks. A script that finds its own token reports success, so a
// repeated write is applied once. A create is never repeated, since that would bring back a document that was deleted in
// between. A call whose reply is lost is read back: its token is success, anything else is an error matching
// filememory.ErrUnknownOutcome. The same error stands for a conflict that a repeated command met, because the first one
// may have been carried out and overwritten since. Where every attempt was refused it is the price of not knowing; a
// client with MaxRetries -1 never repeats a command and so never pays it.
//
// When the context ends, a call returns at once; a command that was already sent goes on in the background until the
// client's ReadTimeout, so that its connection returns to the pool. Leave ReadTimeout on.
//
// # Durability
//
// An acknowledged write survives a crash of the server's process with appendonly yes, and a loss of power with
// appendfsync always as well. Replication is asynchronous: a failover can lose the last acknowledged writes whatever the
// settings. Eviction removes documents (any allkeys policy, and volatile policies where Options.TTL is set).
// [Store.Risks] asks the servers for all of it.
package redisstore
