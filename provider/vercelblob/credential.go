package vercelblob

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rest"
)

// Credential authorizes one request. It does not print its token.
type Credential struct {
	Token   string // a read-write token, or an OIDC token of Vercel
	StoreID string // without the prefix "store_"
}

// String returns the store id.
func (c Credential) String() string { return "vercelblob credential of store " + c.StoreID }

// GoString returns String.
func (c Credential) GoString() string { return c.String() }

// LogValue returns String.
func (c Credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText returns String, so that no log in JSON holds the token.
func (c Credential) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Credentials says what authorizes a request.
type Credentials interface {
	// Credential is called before every request, concurrently, with the context of the call. What it returns is used for
	// that request and not kept. An error fails the call and matches ErrUnauthorized. The store should always be the same.
	Credential(ctx context.Context) (Credential, error)
}

// CredentialsFunc is a function that is Credentials.
type CredentialsFunc func(ctx context.Context) (Credential, error)

// Credential calls f.
func (f CredentialsFunc) Credential(ctx context.Context) (Credential, error) { return f(ctx) }

// ReadWriteToken returns credentials that are always token, which has the form vercel_blob_rw_<store id>_<secret>.
func ReadWriteToken(token string) (Credentials, error) {
	parts := strings.SplitN(token, "_", 5)
	if len(parts) != 5 || strings.Join(parts[:3], "_") != "vercel_blob_rw" || parts[4] == "" {
		return nil, errors.New("vercelblob: read-write token does not have the form vercel_blob_rw_<store id>_<secret>")
	}
	fixed := Credential{Token: token, StoreID: parts[3]}
	if err := fixed.check(); err != nil {
		return nil, fmt.Errorf("vercelblob: read-write token: %w", err)
	}
	// A closure, so that printing a Backend cannot print the token.
	return CredentialsFunc(func(context.Context) (Credential, error) { return fixed, nil }), nil
}

// OIDC returns credentials of the store that use the OIDC token of the moment. storeID may have the prefix "store_". tokens
// nil means the token that WithOIDCToken gave the context.
func OIDC(storeID string, tokens Tokens) (Credentials, error) {
	storeID = strings.TrimPrefix(storeID, "store_")
	if err := checkStoreID(storeID); err != nil {
		return nil, fmt.Errorf("vercelblob: %w", err)
	}
	if tokens == nil {
		tokens = VercelTokens(func(string) (string, bool) { return "", false })
	}
	return CredentialsFunc(func(ctx context.Context) (Credential, error) {
		token, err := tokens.Token(ctx)
		return Credential{Token: token, StoreID: storeID}, err
	}), nil
}

// Tokens gives OIDC tokens.
type Tokens interface {
	// Token returns the token of the moment. It is called before every request, concurrently.
	Token(ctx context.Context) (string, error)
}

// TokensFunc is a function that is Tokens.
type TokensFunc func(ctx context.Context) (string, error)

// Token calls f.
func (f TokensFunc) Token(ctx context.Context) (string, error) { return f(ctx) }

// VercelTokens returns the OIDC token that the platform gives: that of the incoming request, which WithOIDCToken put into
// the context, or else the value of VERCEL_OIDC_TOKEN at that moment, looked up with lookup. A blank value counts as none.
// It is Vercel's own order; an expired token is not refreshed, which only a development machine would need.
func VercelTokens(lookup func(name string) (string, bool)) Tokens {
	return TokensFunc(func(ctx context.Context) (string, error) {
		if token, _ := ctx.Value(oidcToken{}).(string); token != "" {
			return token, nil
		}
		value, _ := lookup("VERCEL_OIDC_TOKEN")
		if token := ecma.Trim(value); token != "" {
			return token, nil
		}
		return "", errors.New("no OIDC token in the context (WithOIDCToken) or in VERCEL_OIDC_TOKEN")
	})
}

// OIDCTokenHeader is the request header in which Vercel hands a function its OIDC token.
const OIDCTokenHeader = "x-vercel-oidc-token"

type oidcToken struct{}

// WithOIDCToken returns ctx with the OIDC token of an incoming request, the value of its OIDCTokenHeader. A blank token
// leaves ctx as it is.
func WithOIDCToken(ctx context.Context, token string) context.Context {
	token = ecma.Trim(token)
	if token == "" {
		return ctx
	}
	return context.WithValue(ctx, oidcToken{}, token)
}

func (c Credential) check() error {
	return errors.Join(checkStoreID(c.StoreID), rest.CheckSecret(c.Token))
}

// checkStoreID keeps anything but one host label out of the object's address, since the token is sent there.
func checkStoreID(id string) error {
	if id == "" || len(id) > 63 {
		return errors.New("store id does not have 1 to 63 characters")
	}
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return errors.New("store id has a character that is no letter or digit")
		}
	}
	return nil
}
