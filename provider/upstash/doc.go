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
// "eve-memory-document-v1:", which is no part of the document and may be missing when read. A version is a random token. A
// write or delete is one script that compares and acts; a request that brought no answer is sent again with the same token,
// and a script that finds its own token reports success, so it is applied once; only a create that was carried out, then
// deleted by somebody else and then sent again is carried out again. What stays open is read back: the own token
// is success, anything else an error matching filememory.ErrUnknownOutcome and never a conflict. A key that holds anything
// but such a hash is an error matching [ErrShape], and is not changed.
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
package upstash
