package scope

import "context"

// Request is what a resolver may look at. All of it comes from the host; nothing of it comes from a model, a message or a
// tool. It is read-only.
type Request struct {
	SessionID string
	Node      string
	Slot      string
	Current   *Principal     // who sent this delivery; nil when nobody is known
	Initiator *Principal     // who began the session; nil when nobody is known
	Channel   map[string]any // trusted attributes of the channel or conversation
}

// Resolver says whose memory a turn uses. It is asked once per slot and turn, before any recall, possibly concurrently. The
// zero Scope disables the slot for the turn; an error fails the turn's start. There is no fallback.
type Resolver interface {
	ResolveScope(ctx context.Context, r *Request) (Scope, error)
}

// ResolverFunc is a function that is a Resolver.
type ResolverFunc func(ctx context.Context, r *Request) (Scope, error)

// ResolveScope calls f.
func (f ResolverFunc) ResolveScope(ctx context.Context, r *Request) (Scope, error) { return f(ctx, r) }

// ResolveScope returns s.
func (s Scope) ResolveScope(context.Context, *Request) (Scope, error) { return s, nil }
