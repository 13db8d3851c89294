package scope

import "context"

// Namespace is the application domain inside which a scope means something. It is complete: nothing is appended to it, not
// even the slot's name. The zero Namespace disables the slot. A Namespace is a NamespaceResolver of itself.
type Namespace string

// NamespaceResolver says which application domain a turn's memory belongs to. It is asked after the scope, only when that is
// not zero, possibly concurrently. The zero Namespace disables the slot for the turn; an error fails the turn's start.
type NamespaceResolver interface {
	ResolveNamespace(ctx context.Context, r *Request) (Namespace, error)
}

// NamespaceFunc is a function that is a NamespaceResolver.
type NamespaceFunc func(ctx context.Context, r *Request) (Namespace, error)

// ResolveNamespace calls f.
func (f NamespaceFunc) ResolveNamespace(ctx context.Context, r *Request) (Namespace, error) {
	return f(ctx, r)
}

// ResolveNamespace returns n.
func (n Namespace) ResolveNamespace(context.Context, *Request) (Namespace, error) { return n, nil }
