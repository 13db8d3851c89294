package scope_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/recollect-go/recollect/scope"
)

// alice is a caller as a host would describe her after authentication.
var (
	issuer = "https://id.acme.example"
	alice  = &scope.Principal{
		Type: scope.TypeUser, Authenticator: "oidc", Issuer: &issuer, ID: "u_42",
		Attributes: map[string]any{"tenant": "acme", "team": "payments"},
	}
)

// show asks a resolver and prints what it returns.
func show(resolver scope.Resolver, r *scope.Request) {
	s, err := resolver.ResolveScope(context.Background(), r)
	if err != nil {
		fmt.Println(err)
		return
	}
	if s.IsZero() {
		fmt.Println("disabled")
		return
	}
	fmt.Printf("%q\n", s.Parts())
}

func ExampleDerive() {
	keys, err := scope.Derive("acme-support-v1", scope.Tuple("acme", "u_42"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(keys.Key)
	fmt.Println(keys.Namespace)
	fmt.Println(keys.Scope)
	// Output:
	// memscope1_b0FC72WbYodyaFzGo_6VTLZTtB1HxUfyEYZrEdbxVZA
	// memns1_a2hva0uqqn0aEpppD1u9h_lkTR9jqXxRSbzsyku_MrY
	// memscope1_MBQMCzlBUs3rqUZAkKAFE8U5TvalJdCXTNHZKu-3EaE
}

func ExampleLimitError() {
	_, err := scope.Derive("acme-support-v1", scope.Tuple("acme", strings.Repeat("x", 2000)))
	var limit *scope.LimitError
	if errors.As(err, &limit) {
		fmt.Println(limit.Component, limit.Size, limit.Max, errors.Is(err, scope.ErrComponentTooLong))
	}
	fmt.Println(err)
	// Output:
	// 1 2000 1024 true
	// scope: component is too long (component 1): 2000, at most 1024
}

func ExampleString() {
	// Everybody who talks to the agent shares this memory.
	show(scope.String("team-handbook"), &scope.Request{Current: alice})
	show(scope.String("team-handbook"), &scope.Request{})
	// Output:
	// ["team-handbook"]
	// ["team-handbook"]
}

func ExampleTuple() {
	s := scope.Tuple("acme", "u_42")
	text, err := json.Marshal(s)
	fmt.Println(string(text), err)
	fmt.Println(s) // a scope identifies people, so that it is not printed
	// Output:
	// ["acme","u_42"] <nil>
	// scope of 2 components
}

func ExampleByPrincipal() {
	show(scope.ByPrincipal(), &scope.Request{Current: alice})
	show(scope.ByPrincipal(), &scope.Request{Current: &scope.Principal{Type: scope.TypeAnonymous}})
	// Output:
	// ["[\"user\",\"oidc\",\"https://id.acme.example\",\"u_42\"]"]
	// disabled
}

func ExampleByTenant() {
	show(scope.ByTenant("tenant"), &scope.Request{Current: alice})
	show(scope.ByTenant("tenant"), &scope.Request{Current: &scope.Principal{Type: scope.TypeUser, ID: "u_1"}})
	// Output:
	// ["acme"]
	// disabled
}

func ExampleByTenantAndUser() {
	show(scope.ByTenantAndUser("tenant"), &scope.Request{Current: alice})
	// Output: ["acme" "u_42"]
}

func ExampleByTenantAndPrincipal() {
	show(scope.ByTenantAndPrincipal("tenant"), &scope.Request{Current: alice})
	// Output: ["acme" "[\"user\",\"oidc\",\"https://id.acme.example\",\"u_42\"]"]
}

func ExampleByAttributes() {
	show(scope.ByAttributes("tenant", "team"), &scope.Request{Current: alice})
	// Output: ["acme" "payments"]
}

func ExampleByChannel() {
	show(scope.ByChannel("conversation"), &scope.Request{Channel: map[string]any{"conversation": "C024BE91L"}})
	// Output: ["C024BE91L"]
}

func ExampleByInitiator() {
	// A colleague writes in a session that Alice began. The memory stays hers.
	colleague := &scope.Principal{Type: scope.TypeUser, ID: "u_43", Attributes: map[string]any{"tenant": "acme"}}
	show(scope.ByInitiator(scope.ByTenantAndUser("tenant")), &scope.Request{Current: colleague, Initiator: alice})
	// Output: ["acme" "u_42"]
}

func ExampleJoin() {
	r := &scope.Request{Current: alice, Channel: map[string]any{"conversation": "C024BE91L"}}
	show(scope.Join(scope.ByTenant("tenant"), scope.ByChannel("conversation")), r)
	// Output: ["acme" "C024BE91L"]
}

func ExampleResolverFunc() {
	// Only the payments team has this memory.
	payments := scope.ResolverFunc(func(_ context.Context, r *scope.Request) (scope.Scope, error) {
		if r.Current == nil || r.Current.Attributes["team"] != "payments" {
			return scope.Scope{}, nil
		}
		return scope.String("payments"), nil
	})
	show(payments, &scope.Request{Current: alice})
	show(payments, &scope.Request{})
	// Output:
	// ["payments"]
	// disabled
}

func ExampleNamespaceFunc() {
	perAgent := scope.NamespaceFunc(func(_ context.Context, r *scope.Request) (scope.Namespace, error) {
		return scope.Namespace("acme-support-v1/" + r.Node), nil
	})
	n, err := perAgent.ResolveNamespace(context.Background(), &scope.Request{Node: scope.RootNode})
	fmt.Println(n, err)
	// Output: acme-support-v1/__root__ <nil>
}

func ExampleValidate() {
	fmt.Println(scope.Validate(scope.ByPrincipal()))
	fmt.Println(scope.Validate(scope.ByTenant("")))
	fmt.Println(scope.Validate(scope.Scope{}))
	// Output:
	// <nil>
	// scope: invalid resolver: name of an attribute is blank
	// scope: invalid resolver: always refused: scope: the zero scope has no key
}

func ExampleValidateNamespace() {
	fmt.Println(scope.ValidateNamespace(scope.Namespace("acme-support-v1")))
	fmt.Println(scope.ValidateNamespace(scope.Namespace(" ")))
	// Output:
	// <nil>
	// scope: invalid resolver: always refused: scope: namespace is blank
}

func ExampleDefaultNamespace() {
	// A host passes its own root and os.LookupEnv.
	deployment := scope.Deployment{AppRoot: "/srv/app"}
	n, err := scope.DefaultNamespace(deployment, scope.RootNode, "profile")
	fmt.Println(n, err)
	// Output: ["eve-memory-default-namespace-v1","local","2uZo5AhPB7bLlG-ygJ8PgmSSZrzja0IEQjW7kCavqA0","__root__","profile"] <nil>
}

func ExampleDeployment() {
	variables := map[string]string{"VERCEL_PROJECT_ID": "prj_1", "VERCEL_ENV": "preview", "VERCEL_GIT_COMMIT_REF": "feature"}
	deployment := scope.Deployment{LookupEnv: func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	}}
	fmt.Println(deployment.IsKnown(), deployment.OnVercel())
	fmt.Println(scope.DefaultNamespace(deployment, scope.RootNode, "profile"))
	fmt.Println(scope.Deployment{}.IsKnown())
	// Output:
	// true true
	// ["eve-memory-default-namespace-v1","vercel","prj_1","preview","feature","__root__","profile"] <nil>
	// false
}

func ExamplePrincipal() {
	text, err := json.Marshal(alice)
	fmt.Println(string(text), err)
	// Output:
	// {"principalType":"user","authenticator":"oidc","issuer":"https://id.acme.example","principalId":"u_42","attributes":{"team":"payments","tenant":"acme"}} <nil>
}
