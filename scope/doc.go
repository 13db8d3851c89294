// Package scope says whose memory is read and written, and derives the keys under which providers keep it.
//
// A memory belongs to a [Scope] (a user, a tenant and a user, a channel) inside a [Namespace] (the application domain in
// which the scope means something). [Derive] turns both into an opaque [Keys.Key], the partition of every read and write.
// The derivation is that of eve 0.79 to 0.81, so both libraries find the same documents; the conformance vectors of this
// module are its arbiter.
//
// # Trust
//
// A [Resolver] picks the scope of a turn from what the host says about its caller: the authenticated [Principal], the one
// that began the session, and attributes of the channel. Nothing else reaches it: no tool, message or model output can
// supply or change a scope.
//
// A resolver that misses something returns the zero Scope, which disables the slot for the turn. It never invents a value
// and never falls back to a partition that others share. An error fails the turn's start.
//
// # Dangers
//
//   - A fixed scope, such as String("default"), is one memory shared by everybody who talks to the agent. Use it for what everybody may
//     read and write.
//   - The bare id of a principal collides: "42" of one identity system is not "42" of another. [ByPrincipal] includes type,
//     authenticator and issuer; [ByTenantAndUser] is for hosts whose tenants have one identity system each.
//   - A default for a missing identity ("anonymous", "unknown", "") makes strangers share a memory. Return the zero Scope.
//   - An attribute that a user can edit is not an identity. Principals and channel attributes are trusted as they are.
//   - A custom namespace is complete: nothing is appended to it. Two slots with one namespace and one scope are one memory, development and
//     production share it, and changing it hides what is stored.
//   - A key is no credential and no secret. Do not hard-code one: it changes with namespace and scope.
//
// # Text
//
// All text is valid UTF-8; anything else is an error and is never replaced. Blank means that nothing is left after removing
// the white space and line terminators of ECMAScript, which differ a little from Go's: U+FEFF is one of them, U+0085 is not.
package scope
