// Package auto chooses where file memory is kept from the environment of the process, as eve does, so that an agent that moves
// to Vercel finds the memory that eve left there. The choice is made once, by [Backend], which a program calls while it
// starts: a missing store is found at the start and not in the first conversation.
//
// The first rule that applies decides:
//
//  1. On Vercel, which means that VERCEL is not blank, documents go to Vercel Blob. The credentials are the first that is not
//     blank of EVE_MEMORY_BLOB_STORE_ID (OIDC), EVE_MEMORY_BLOB_READ_WRITE_TOKEN, BLOB_STORE_ID (OIDC) and
//     BLOB_READ_WRITE_TOKEN. There being none is an error matching [ErrNoBlobStore], because a function on Vercel has no disk
//     that outlives it.
//  2. With Options.Development the choice is that backend. Development is said, never inferred.
//  3. Otherwise the choice is nobody's but the program's: [ErrNoBackend]. A Blob token outside Vercel selects nothing, since a copied
//     environment file would otherwise send one machine's memory into another's store.
//
// Every variable is trimmed, and a blank one counts as unset.
package auto
