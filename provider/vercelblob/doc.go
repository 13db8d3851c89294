// Package vercelblob stores documents in Vercel Blob, as private objects. One Backend serves as filememory.Backend and as
// state.Store. It speaks the HTTP API of Vercel's own client, version 12, with net/http alone.
//
// # Layout
//
// A document is the object <prefix>/<key>/MEMORY.md of one store; the prefix is eve/memory/file unless an option says
// otherwise. That is where eve keeps its documents, so a Go service and an eve agent that share a store read and write the
// same memory.
//
// # Versions
//
// A version is the object's strong ETag. Replies are asked for in identity encoding, because the content network weakens the
// ETag of what it compresses, and a weak one satisfies no condition. A weak ETag that arrives anyway is an error matching
// [ErrWeakETag]: it is neither used nor repaired.
//
// # Outcomes
//
// A write is one conditional request, and so is a delete. An answer that says nothing definite (none at all, a 5xx, a 408)
// leaves open whether it was carried out. A create is then not sent again, since that would bring back a document that
// somebody has deleted in between. An update or a delete is sent again: its condition holds only for the object that it was
// meant for. When the doubt remains the object is read: what was to be written being there, or what was to be deleted not
// being there, is success, and anything else is an error matching filememory.ErrUnknownOutcome, never a conflict. A refusal
// without such a doubt is definite: a conflict when it is about the condition, and when a create is refused for a reason
// that may be the existence of the object, the object is read to tell.
//
// An ETag may be a digest of the content. Then the condition of an update or a delete that is sent again holds also if it
// was carried out and somebody else has put back the same bytes since, and it is carried out on those. A checkpoint is never
// the same twice. A document of file memory is if it was deleted and begun anew with the same texts in the same order.
//
// # Credentials
//
// [Credentials] are asked before every single request and their answer is not kept, because an OIDC token of Vercel lives about
// two hours and a process longer. No error holds one.
//
// # Limits
//
// The service refuses an empty object, so an empty document is refused before anything is sent ([ErrEmpty]). Everything else
// comes back byte for byte.
package vercelblob
