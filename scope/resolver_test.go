package scope

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func user(id string, attributes map[string]any) *Principal {
	return &Principal{Type: TypeUser, Authenticator: "app", Issuer: ptr("opsbot"), ID: id, Attributes: attributes}
}

func TestResolvers(t *testing.T) {
	t.Parallel()
	alice := user("u_42", map[string]any{"tenant": "acme", "team": "ops", "blank": " \ufeff", "number": 7, "list": []any{"a"}})
	alone := user("u_42", nil)
	service := &Principal{Type: "service", Authenticator: "app", ID: "s", Attributes: map[string]any{"tenant": "acme"}}
	anonymous := &Principal{Type: TypeAnonymous, Attributes: map[string]any{"tenant": "acme"}}
	localDev := &Principal{Type: TypeLocalDev, ID: "me", Attributes: map[string]any{"tenant": "acme"}}
	channel := map[string]any{"conversation": "C1", "blank": "\t", "number": 1}
	const text = `["user","app","opsbot","u_42"]`
	disabled := Scope{}

	for _, c := range []struct {
		rule     string
		resolver Resolver
		request  Request
		want     Scope
	}{
		{"a fixed scope is the same for everybody", String("all"), Request{}, String("all")},
		{"by principal", ByPrincipal(), Request{Current: alice}, String(text)},
		{"nobody has no principal", ByPrincipal(), Request{Initiator: alice}, disabled},
		{"anonymous has no principal memory", ByPrincipal(), Request{Current: anonymous}, disabled},
		{"runtime has no principal memory", ByPrincipal(), Request{Current: &Principal{Type: TypeRuntime, ID: "r"}}, disabled},
		{"local development is one principal", ByPrincipal(), Request{Current: localDev}, String("local-dev")},
		{"an absent issuer is null", ByPrincipal(), Request{Current: service}, String(`["service","app",null,"s"]`)},
		{"by tenant", ByTenant("tenant"), Request{Current: alice}, String("acme")},
		{"nobody has no tenant", ByTenant("tenant"), Request{Initiator: alice}, disabled},
		{"a missing attribute disables", ByTenant("tenant"), Request{Current: alone}, disabled},
		{"a blank attribute disables", ByTenant("blank"), Request{Current: alice}, disabled},
		{"a number is no attribute", ByTenant("number"), Request{Current: alice}, disabled},
		{"a list is no attribute", ByTenant("list"), Request{Current: alice}, disabled},
		{"an attribute is taken as it is", ByTenant("x"), Request{Current: user("u", map[string]any{"x": " acme "})}, String(" acme ")},
		{"by tenant and user", ByTenantAndUser("tenant"), Request{Current: alice}, Tuple("acme", "u_42")},
		{"a user without tenant has no tenant memory", ByTenantAndUser("tenant"), Request{Current: alone}, disabled},
		{"a service is no user", ByTenantAndUser("tenant"), Request{Current: service}, disabled},
		{"a developer is no user", ByTenantAndUser("tenant"), Request{Current: localDev}, disabled},
		{"a blank id is no user", ByTenantAndUser("tenant"), Request{Current: user(" ", alice.Attributes)}, disabled},
		{"by tenant and principal", ByTenantAndPrincipal("tenant"), Request{Current: alice}, Tuple("acme", text)},
		{"a service is a principal", ByTenantAndPrincipal("tenant"), Request{Current: service}, Tuple("acme", `["service","app",null,"s"]`)},
		{"an anonymous caller of a tenant is nobody", ByTenantAndPrincipal("tenant"), Request{Current: anonymous}, disabled},
		{"a developer in a tenant", ByTenantAndPrincipal("tenant"), Request{Current: localDev}, Tuple("acme", "local-dev")},
		{"by attributes, in order", ByAttributes("team", "tenant"), Request{Current: alice}, Tuple("ops", "acme")},
		{"one attribute of a list is a one-tuple", ByAttributes("tenant"), Request{Current: alice}, Tuple("acme")},
		{"one missing attribute disables all", ByAttributes("tenant", "blank"), Request{Current: alice}, disabled},
		{"by channel", ByChannel("conversation"), Request{Channel: channel}, String("C1")},
		{"a principal's attribute is no channel's", ByChannel("tenant"), Request{Current: alice, Channel: channel}, disabled},
		{"a blank channel attribute disables", ByChannel("blank"), Request{Channel: channel}, disabled},
		{"no channel at all disables", ByChannel("conversation"), Request{}, disabled},
		{"by initiator", ByInitiator(ByPrincipal()), Request{Current: service, Initiator: alice}, String(text)},
		{"no initiator", ByInitiator(ByPrincipal()), Request{Current: alice}, disabled},
		{"join flattens", Join(String("v1"), ByTenantAndUser("tenant"), ByChannel("conversation")), Request{Current: alice, Channel: channel}, Tuple("v1", "acme", "u_42", "C1")},
		{"join of one is a one-tuple", Join(String("a")), Request{}, Tuple("a")},
		{"one disabled part disables the whole", Join(String("a"), ByTenant("tenant")), Request{Current: alone}, disabled},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, Validate(c.resolver))
			before := c.request
			got, err := c.resolver.ResolveScope(t.Context(), &c.request)
			require.NoError(t, err)
			assert.True(t, c.want.Equal(got), "want %q, got %q", c.want.Parts(), got.Parts())
			assert.Equal(t, before, c.request, "a request is read-only")
		})
	}
}

func TestByPrincipalRefusesTextThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	for _, p := range []*Principal{{Type: "\xff"}, {Authenticator: "\xff"}, {Issuer: ptr("\xff")}, {ID: "\xff"}} {
		s, err := ByPrincipal().ResolveScope(t.Context(), &Request{Current: p})
		require.ErrorIs(t, err, ErrInvalidUTF8)
		assert.True(t, s.IsZero())
	}
}

func TestJoinReturnsTheErrorOfAPart(t *testing.T) {
	t.Parallel()
	broken := errors.New("directory is down")
	asked := 0
	resolver := Join(
		ResolverFunc(func(context.Context, *Request) (Scope, error) { return String("half"), broken }),
		ResolverFunc(func(context.Context, *Request) (Scope, error) { asked++; return String("b"), nil }),
	)
	s, err := resolver.ResolveScope(t.Context(), &Request{})
	require.ErrorIs(t, err, broken)
	assert.True(t, s.IsZero())
	assert.Zero(t, asked)
}

func TestJoinDoesNotKeepItsArguments(t *testing.T) {
	t.Parallel()
	parts := []Resolver{String("a"), String("b")}
	resolver := Join(parts...)
	parts[0] = String("changed")
	s, err := resolver.ResolveScope(t.Context(), &Request{})
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, s.Parts())
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for rule, resolver := range map[string]Resolver{
		"nil":                               nil,
		"nil function":                      ResolverFunc(nil),
		"the zero scope":                    Scope{},
		"an empty string":                   String(""),
		"a blank component":                 Tuple("a", "\u00a0"),
		"an empty tuple":                    Tuple(),
		"tenant without a name":             ByTenant(""),
		"tenant with a blank name":          ByTenant(" \n"),
		"tenant and user without a name":    ByTenantAndUser(""),
		"tenant and principal without name": ByTenantAndPrincipal(""),
		"no attributes":                     ByAttributes(),
		"a blank attribute":                 ByAttributes("tenant", " "),
		"channel without a name":            ByChannel(""),
		"initiator of nil":                  ByInitiator(nil),
		"initiator of a broken resolver":    ByInitiator(ByTenant("")),
		"nothing to join":                   Join(),
		"joined nil":                        Join(ByPrincipal(), nil),
		"joined broken resolver":            Join(ByPrincipal(), Join(ByTenant(""))),
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			require.ErrorIs(t, Validate(resolver), ErrInvalidResolver)
		})
	}
	require.NoError(t, Validate(ByPrincipal()))
	require.NoError(t, Validate(ResolverFunc(func(context.Context, *Request) (Scope, error) { return Scope{}, nil })))
	require.ErrorIs(t, Validate(Tuple("a", "")), ErrComponentBlank)

	err := Validate(Join(ByTenant(""), Scope{}))
	require.ErrorContains(t, err, "name of an attribute is blank")
	require.ErrorIs(t, err, ErrZeroScope)
}

func TestValidateNamespace(t *testing.T) {
	t.Parallel()
	for _, resolver := range []NamespaceResolver{nil, NamespaceFunc(nil), Namespace(""), Namespace(" "), Namespace("\xff")} {
		require.ErrorIs(t, ValidateNamespace(resolver), ErrInvalidResolver)
	}
	require.NoError(t, ValidateNamespace(Namespace("acme-support-v1")))
	require.NoError(t, ValidateNamespace(NamespaceFunc(func(context.Context, *Request) (Namespace, error) { return "", nil })))

	n, err := Namespace("acme").ResolveNamespace(t.Context(), &Request{})
	require.NoError(t, err)
	assert.Equal(t, Namespace("acme"), n)
	n, err = NamespaceFunc(func(_ context.Context, r *Request) (Namespace, error) { return Namespace(r.Slot), nil }).
		ResolveNamespace(t.Context(), &Request{Slot: "profile"})
	require.NoError(t, err)
	assert.Equal(t, Namespace("profile"), n)
}
