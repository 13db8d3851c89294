// Package upstash keeps memory in Upstash Redis over its REST protocol, with net/http alone. It reads and writes what
// Upstash AgentKit stores for agents on eve, so that a Go agent and an eve agent share one database.
//
//   - [Documents] is a document backend: filememory.Backend, filememory.Lister and state.Store. Any server behind the
//     protocol will do. Package redisstore keeps the same layout over the Redis protocol.
//   - [Provider] is a memory.Provider of its own, with ranked recall, capture and tools. It needs Upstash's JSON and SEARCH
//     commands.
//
// # Documents
//
// A document is one hash at agentkit:memoryFile:<key> with the fields content and version. The content begins with
// "eve-memory-document-v1:", which is no part of the document and may be missing when read. A version is a random token,
// never used twice. A write or delete is one script that compares and acts. An answer that says nothing definite (none at
// all, a 5xx, a 408) leaves open whether it was carried out. A create is then not sent again, since that would bring back a
// document that somebody has deleted in between. An update or a delete is sent again with the same token; a script that
// finds its own token reports success, and the expected version never comes back, so it is applied once. What stays open is
// read back: the own token is success, anything else an error matching filememory.ErrUnknownOutcome and never a conflict. A
// key that holds anything but such a hash is an error matching [ErrShape], and is not changed.
//
// Documents are UTF-8: the protocol is JSON. Anything else is refused. A database with replicas in several regions is read
// where the request arrives; the client sends the token with which the service gives a process its own writes, and other
// processes may see them later.
//
// # Records of the provider
//
// A record is one JSON value at agentkit:memorySlot:<key>:<id> with the members text, userId (the key), createdAt,
// sessionId, source, deleted, sequence and subIndex, and one index covers all of them. A fact that the model saved has the
// source agent, a message that was captured userMessage or agentMessage. Ids are digests: the same fact is one record, and a
// turn captured again writes the same records.
//
// Recall ranks facts only. A captured question resembles the next question more than any fact does, and would push the facts
// out. Messages are reached with the tools search_memory and read_session. A recall is kept for an hour under its operation
// id, so that a repeated one has the same answer.
//
// Text has its runs of spaces replaced by one and its ends trimmed. A message longer than a record is captured in several; a
// fact that is too long is refused. To forget is to redact: text goes, and read_session shows that something was there. A
// kept recall that holds it stays until its time is up, or until the key is erased.
//
// Nothing that may have been stored is sent again, since what was forgotten or erased in between would be back. A capture
// or a save without a definite answer is read back instead: that the records are there is success, anything else an error
// matching filememory.ErrUnknownOutcome. A recall is composed anew then, of what is there by now. To forget and to erase
// only take away and are repeated; a fact that is saved again between two attempts to forget it is forgotten as well. A
// capture that failed may be asked for again: what is there is left alone, also where it was forgotten, but what was erased
// in between is captured anew. Memory.Erase drops the captures that wait in an outbox for this reason.
package upstash
