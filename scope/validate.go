package scope

import "fmt"

// validator is implemented by the resolvers of this package that can be configured wrongly.
type validator interface{ validate() error }

// Validate returns what is wrong with a resolver before it is ever asked, all of it at once: nil, a blank attribute name,
// nothing to join, or a fixed scope that Derive would always refuse, the zero Scope included. The errors match
// ErrInvalidResolver. Other resolvers are taken as they are. memory.New calls it for every slot.
func Validate(r Resolver) error { return validate(r) }

// ValidateNamespace returns what is wrong with a namespace resolver before it is ever asked: nil, or a fixed namespace that
// Derive would always refuse, the zero Namespace included. The errors match ErrInvalidResolver. memory.New calls it for
// every slot that has one.
func ValidateNamespace(r NamespaceResolver) error { return validate(r) }

func validate(r any) error {
	switch r := r.(type) {
	case nil:
		return fmt.Errorf("%w: nil", ErrInvalidResolver)
	case validator:
		return r.validate()
	}
	return nil
}

func (f ResolverFunc) validate() error { return checkFunc(f == nil) }

func (f NamespaceFunc) validate() error { return checkFunc(f == nil) }

func checkFunc(isNil bool) error {
	if isNil {
		return fmt.Errorf("%w: nil function", ErrInvalidResolver)
	}
	return nil
}

func (s Scope) validate() error { return asInvalid(checkScope(s)) }

func (n Namespace) validate() error { return asInvalid(checkNamespace(n)) }

func asInvalid(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: always refused: %w", ErrInvalidResolver, err)
}
