// Package supermemory keeps memory in Supermemory, a hosted service that extracts facts from conversations by itself. It
// speaks the service's HTTP API with net/http alone, and uses the tags and metadata of the service's own provider for eve,
// so that a Go agent and an eve agent share one account.
//
// # Partition
//
// Everything of a key lies under two container tags, <prefix>_<key> for conversations and memories and
// <prefix>_extraction_<key> for sources that were handed over to be read. Every request names a tag but those for one document
// by its id: what is fetched so is refused unless it has one of the two, and only what was listed under one is deleted.
//
// # Recall
//
// At most two messages: what is known of the person and their last conversations, and the results of a search for the turn's
// input. A text stands in one of them only, on one line, escaped as XML, whole or not at all; how many did not fit is said.
// The service is asked anew every time and its answer changes as it digests what it was given: resume a turn whose start was
// committed, do not start it again.
//
// A recall that fails is an error. eve's provider logs it and lets the turn go on without memory; a slot does that here when
// it is declared BestEffort.
//
// # Capture
//
// A completed turn is one document: what was said and the last answer. Its customId is a digest of key and operation id, so
// a repeated capture is the same document; eve's provider appends to one document for each session instead, and both are
// found under the session's name. Recalled records are never captured. The service extracts facts later; nothing can be
// recalled at once.
//
// # Erasure
//
// Erase deletes the documents of both tags and forgets the memories that are left. The service keeps forgotten memories,
// marked; ask it for what the law of your users requires. What it is still digesting may become a memory afterwards.
package supermemory
