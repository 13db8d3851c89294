package scope

import "context"

// ByInitiator returns a resolver that asks r about the principal that began the session instead of the current one: in a
// session that several callers use, all of them then share the initiator's memory. A session without an initiator has no
// current principal for r.
func ByInitiator(r Resolver) Resolver { return byInitiator{of: r} }

type byInitiator struct{ of Resolver }

// ResolveScope implements Resolver.
func (b byInitiator) ResolveScope(ctx context.Context, r *Request) (Scope, error) {
	asked := *r
	asked.Current = r.Initiator
	return b.of.ResolveScope(ctx, &asked)
}

func (b byInitiator) validate() error { return Validate(b.of) }
