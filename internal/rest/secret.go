package rest

import (
	"context"
	"fmt"
)

// Secret gives the credential of a service.
type Secret interface {
	// Secret is called before every request, concurrently, with the context of the call. What it returns is used for that
	// request and not kept. An error fails the call and matches ErrUnauthorized.
	Secret(ctx context.Context) (string, error)
}

// SecretFunc is a function that is a Secret.
type SecretFunc func(ctx context.Context) (string, error)

// Secret calls f.
func (f SecretFunc) Secret(ctx context.Context) (string, error) { return f(ctx) }

// FixedSecret returns a Secret that is always value, in a closure so that nothing that holds it can print it. The error does
// not quote it.
func FixedSecret(value string) (Secret, error) {
	if err := CheckSecret(value); err != nil {
		return nil, err
	}
	return SecretFunc(func(context.Context) (string, error) { return value, nil }), nil
}

// Authorize returns the value of the Authorization header. An error is that of a cancelled context, or matches ErrUnauthorized.
func Authorize(ctx context.Context, secret Secret) (string, error) {
	value, err := secret.Secret(ctx)
	if err == nil {
		err = CheckSecret(value)
	}
	if err == nil {
		return "Bearer " + value, nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return "", fmt.Errorf("%w: %w", ErrUnauthorized, err)
}
