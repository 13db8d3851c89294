// Package docstore holds what document backends and checkpoint stores share: the contract, its errors, the key grammar, the
// in-memory and folder stores, and the loop that changes a document. Users see all of it through filememory and state.
//
// Rules of this folder: a store knows keys, bytes and versions, and nothing of what the bytes mean. Every write and
// delete is conditional. An error says exactly one of three things: nothing was written (any error), somebody else was
// first (ErrConflict), or nobody can tell (ErrUnknownOutcome). Package storetest holds the rules that every store is
// tested with.
package docstore
