package scope

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Join returns a resolver for the tuple of everything that the given resolvers return, in order: a string gives one
// component, a tuple all of its own. When one of them is disabled the whole is, and an error of one is the error of the
// whole. Join of a single string is a one-tuple, which is another scope than the string. Resolvers whose results vary in
// length can give equal tuples for different parts; those of this package do not vary.
func Join(resolvers ...Resolver) Resolver { return join(slices.Clone(resolvers)) }

type join []Resolver

// ResolveScope implements Resolver.
func (j join) ResolveScope(ctx context.Context, r *Request) (Scope, error) {
	parts := make([]string, 0, len(j))
	for _, resolver := range j {
		s, err := resolver.ResolveScope(ctx, r)
		if err != nil || s.IsZero() {
			return Scope{}, err
		}
		parts = s.appendParts(parts)
	}
	return Scope{form: formTuple, parts: parts}, nil
}

func (s Scope) appendParts(dst []string) []string {
	if s.form == formString {
		return append(dst, s.text)
	}
	return append(dst, s.parts...)
}

func (j join) validate() error {
	if len(j) == 0 {
		return fmt.Errorf("%w: nothing to join", ErrInvalidResolver)
	}
	problems := make([]error, len(j))
	for i, resolver := range j {
		problems[i] = Validate(resolver)
	}
	return errors.Join(problems...)
}
