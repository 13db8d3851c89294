// Package s3store keeps documents in Amazon S3 or any store that speaks its protocol and honours conditional writes. One
// Store serves as filememory.Backend and as state.Store.
//
// # Layout
//
// A document is the object <prefix>/<key> of one bucket; its content is the document, byte for byte. The metadata field
// recollect-write names the write that made it, by a random token.
//
// # Conditions
//
// A write is one PutObject with If-None-Match: * for a new document and If-Match for a known one. A store that ignores
// these headers lets concurrent writers destroy each other's memories, so [New] tries them on an object of its own and
// refuses such a store with an error matching [ErrUnconditional]. A version is the object's ETag as the store gave it; a
// weak one satisfies no condition and is refused ([ErrWeakETag]). Two writes of the same content may have the same ETag.
//
// # Deletes
//
// By default a delete is a conditional write as well: it replaces the document by a tombstone of 47 bytes that holds
// nothing of it, and that reads, creates and listings take for no document. Every store that passes the probe does that
// atomically. With Options.ConditionalDelete the object is removed by DeleteObject with If-Match instead. Amazon S3
// honours that. Others ignore the header, which the probe finds; and some compare and remove in two steps, between which
// another writer's document can be lost, which no probe can find: versitygw 1.8.0 on a file system does. Leave the option
// off unless the store documents the delete as atomic.
//
// # Outcomes
//
// The client repeats a request that got no answer, but not a create, which could bring back a document that was removed in
// between. A write of which one attempt may have been carried out is read back when it does not end in success: its token
// is success, anything else is an error matching filememory.ErrUnknownOutcome, never a conflict. A refusal without such a
// doubt is definite.
//
// # Durability
//
// An acknowledged write is as durable as the store makes an object; Amazon S3 acknowledges after it is stored in several
// zones. In a bucket with versioning an erased document stays in earlier versions until a lifecycle rule removes them.
package s3store
