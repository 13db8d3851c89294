package scope

import (
	"context"

	"github.com/recollect-go/recollect/internal/ecma"
)

// ByPrincipal returns a resolver for memory that belongs to one caller and follows it through all tenants and channels. The
// scope is the JSON text of [type, authenticator, issuer or null, id], the same that eve's byPrincipal gives. Nobody, and
// the types anonymous and runtime, disable the slot; the type local-dev is the scope "local-dev". It fails with an error
// matching ErrInvalidUTF8 for a principal that is not valid UTF-8.
func ByPrincipal() Resolver { return byPrincipal{} }

type byPrincipal struct{}

// ResolveScope implements Resolver.
func (byPrincipal) ResolveScope(_ context.Context, r *Request) (Scope, error) {
	p := r.Current
	if p == nil || p.Type == TypeAnonymous || p.Type == TypeRuntime {
		return Scope{}, nil
	}
	if p.Type == TypeLocalDev {
		return String(TypeLocalDev), nil
	}
	if err := p.checkIdentity(); err != nil {
		return Scope{}, err
	}
	return String(principalText(p)), nil
}

func principalText(p *Principal) string {
	text := make([]byte, 0, 128)
	text = append(text, '[')
	text = ecma.AppendQuote(text, p.Type)
	text = append(text, ',')
	text = ecma.AppendQuote(text, p.Authenticator)
	text = append(text, ',')
	if p.Issuer == nil {
		text = append(text, "null"...)
	} else {
		text = ecma.AppendQuote(text, *p.Issuer)
	}
	text = append(text, ',')
	text = ecma.AppendQuote(text, p.ID)
	return string(append(text, ']'))
}

// userID gives the id of a principal of type user. It is no resolver for users: the id means something only beside what
// tells the identity system.
type userID struct{}

// ResolveScope implements Resolver.
func (userID) ResolveScope(_ context.Context, r *Request) (Scope, error) {
	p := r.Current
	if p == nil || p.Type != TypeUser || ecma.IsBlank(p.ID) {
		return Scope{}, nil
	}
	return String(p.ID), nil
}
