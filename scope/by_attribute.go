package scope

import (
	"context"
	"fmt"

	"github.com/recollect-go/recollect/internal/ecma"
)

// ByTenant returns a resolver for memory that everybody of a tenant shares: the scope is the string in the named attribute
// of the current principal. A missing, blank or non-string attribute disables the slot, as in all resolvers of this package.
// Validate rejects a blank name.
func ByTenant(attribute string) Resolver {
	return byAttribute{name: attribute, from: principalAttributes}
}

// ByTenantAndUser returns a resolver for memory of one user inside one tenant: the tuple of the named attribute and the
// principal's id. Only principals of type user have one; any other type disables the slot. It suits tenants that have one
// identity system each: where two of them give out the same ids, use ByTenantAndPrincipal.
func ByTenantAndUser(attribute string) Resolver { return Join(ByTenant(attribute), userID{}) }

// ByTenantAndPrincipal returns a resolver for memory of one caller inside one tenant: the tuple of the named attribute and
// the text that ByPrincipal gives. What disables ByPrincipal disables it too.
func ByTenantAndPrincipal(attribute string) Resolver { return Join(ByTenant(attribute), ByPrincipal()) }

// ByAttributes returns a resolver for memory shared by all callers with the same values of several attributes of the current
// principal: their tuple, in the given order. Validate rejects a blank name and an empty list.
func ByAttributes(names ...string) Resolver {
	parts := make([]Resolver, len(names))
	for i, name := range names {
		parts[i] = ByTenant(name)
	}
	return Join(parts...)
}

// ByChannel returns a resolver for memory that belongs to a channel or conversation: the scope is the string in the named
// channel attribute of the request. Validate rejects a blank name.
func ByChannel(attribute string) Resolver {
	return byAttribute{name: attribute, from: channelAttributes}
}

type byAttribute struct {
	name string
	from func(*Request) map[string]any
}

func principalAttributes(r *Request) map[string]any {
	if r.Current == nil {
		return nil
	}
	return r.Current.Attributes
}

func channelAttributes(r *Request) map[string]any { return r.Channel }

// ResolveScope implements Resolver.
func (a byAttribute) ResolveScope(_ context.Context, r *Request) (Scope, error) {
	value, ok := a.from(r)[a.name].(string)
	if !ok || ecma.IsBlank(value) {
		return Scope{}, nil
	}
	return String(value), nil
}

func (a byAttribute) validate() error {
	if ecma.IsBlank(a.name) {
		return fmt.Errorf("%w: name of an attribute is blank", ErrInvalidResolver)
	}
	return nil
}
