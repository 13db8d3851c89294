package conformance

import (
	"encoding/json"
	"testing"

	"github.com/recollect-go/recollect/scope"
)

func TestKeys(t *testing.T) {
	bundle{file: "keys.json", run: deriveKeys}.test(t)
}

func deriveKeys(t *testing.T, input json.RawMessage) (any, error) {
	in, err := decode[struct {
		Namespace scope.Namespace `json:"namespace"`
		Scope     scope.Scope     `json:"scope"`
	}](input)
	if err != nil {
		return nil, err
	}
	keys, err := scope.Derive(in.Namespace, in.Scope)
	return map[string]string{"key": keys.Key, "namespaceKey": keys.Namespace, "scopeKey": keys.Scope}, err
}

func TestPrincipals(t *testing.T) {
	bundle{file: "principals.json", run: scopeByPrincipal}.test(t)
}

func scopeByPrincipal(t *testing.T, input json.RawMessage) (any, error) {
	in, err := decode[struct {
		Current *scope.Principal `json:"current"`
	}](input)
	if err != nil {
		return nil, err
	}
	s, err := scope.ByPrincipal().ResolveScope(t.Context(), &scope.Request{Current: in.Current})
	return map[string]scope.Scope{"scope": s}, err
}

func TestNamespaces(t *testing.T) {
	bundle{file: "namespaces.json", run: defaultNamespace}.test(t)
}

func defaultNamespace(t *testing.T, input json.RawMessage) (any, error) {
	in, err := decode[struct {
		Env     map[string]string `json:"env"`
		AppRoot string            `json:"appRoot"`
		Node    string            `json:"node"`
		Slot    string            `json:"slot"`
	}](input)
	if err != nil {
		return nil, err
	}
	deployment := scope.Deployment{AppRoot: in.AppRoot, LookupEnv: func(name string) (string, bool) {
		value, ok := in.Env[name]
		return value, ok
	}}
	n, err := scope.DefaultNamespace(deployment, in.Node, in.Slot)
	return map[string]scope.Namespace{"namespace": n}, err
}
