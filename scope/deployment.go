package scope

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/recollect-go/recollect/internal/ecma"
)

// RootNode is the node of an agent that is no other agent's sub-agent.
const RootNode = "__root__"

const defaultNamespaceTag = "eve-memory-default-namespace-v1"

// Deployment says where an application runs. It gives a namespace to slots that have none of their own. Nothing is guessed:
// the host says what the application root is and hands in the environment.
type Deployment struct {
	// AppRoot identifies the application on this machine, usually the absolute path of its folder. "" means unknown.
	AppRoot string
	// LookupEnv reads one variable, as os.LookupEnv does. nil means that none is set.
	LookupEnv func(name string) (value string, ok bool)
}

// IsKnown reports whether there is an application root or a Vercel project. Without either, DefaultNamespace is the same for
// every application, and applications that share a store would share their memories.
func (d Deployment) IsKnown() bool { return d.AppRoot != "" || d.OnVercel() }

// OnVercel reports whether the environment names a Vercel project: VERCEL_PROJECT_ID, or else the project_id claim of
// VERCEL_OIDC_TOKEN, is not blank. The variable VERCEL itself does not matter.
func (d Deployment) OnVercel() bool { return d.vercelProject() != "" }

// DefaultNamespace returns the namespace of a slot without one of its own, the same that eve gives: a JSON text of project,
// environment and preview on Vercel, or else of the digest of the application root; then of node and slot. It changes with
// any of them, and a changed namespace hides what is stored. An error matches ErrInvalidUTF8. Callers check IsKnown first.
func DefaultNamespace(d Deployment, node, slot string) (Namespace, error) {
	text := appendElement([]byte{'['}, defaultNamespaceTag)
	application, err := d.appendApplication(text)
	if err != nil {
		return "", err
	}
	text = appendElement(application, node)
	text = appendElement(text, slot)
	text[len(text)-1] = ']'
	if ecma.Valid(string(text)) != nil {
		return "", fmt.Errorf("%w: default namespace", ErrInvalidUTF8)
	}
	return Namespace(text), nil
}

// appendElement appends an element of a JSON array and the comma behind it.
func appendElement(dst []byte, s string) []byte { return append(ecma.AppendQuote(dst, s), ',') }

func (d Deployment) appendApplication(dst []byte) ([]byte, error) {
	if project := d.vercelProject(); project != "" {
		return d.appendVercel(dst, project), nil
	}
	if ecma.Valid(d.AppRoot) != nil {
		return nil, fmt.Errorf("%w: application root", ErrInvalidUTF8)
	}
	sum := sha256.Sum256([]byte(d.AppRoot))
	dst = appendElement(dst, "local")
	return appendElement(dst, base64.RawURLEncoding.EncodeToString(sum[:])), nil
}

func (d Deployment) appendVercel(dst []byte, project string) []byte {
	environment := d.firstOf("production", "VERCEL_TARGET_ENV", "VERCEL_ENV")
	dst = appendElement(dst, "vercel")
	dst = appendElement(dst, project)
	dst = appendElement(dst, environment)
	if environment == "preview" {
		dst = appendElement(dst, d.firstOf("unknown-preview", "VERCEL_GIT_COMMIT_REF", "VERCEL_DEPLOYMENT_ID", "VERCEL_URL"))
	} else {
		dst = append(dst, "null,"...)
	}
	if prefix := d.routePrefix(); prefix != "" {
		dst = appendElement(dst, prefix)
	}
	return dst
}

// routePrefix tells apart the agents of one Vercel workspace, which share a project. It has one leading slash and no
// trailing one.
func (d Deployment) routePrefix() string {
	if d.env("EVE_INTERNAL_AGENT_WORKSPACE_MEMBER") != "1" {
		return ""
	}
	prefix := d.env("EVE_PUBLIC_ROUTE_PREFIX")
	if !strings.HasPrefix(prefix, "/") {
		prefix = "/" + prefix
	}
	return strings.TrimRight(prefix, "/")
}

func (d Deployment) vercelProject() string {
	if project := d.env("VERCEL_PROJECT_ID"); project != "" {
		return project
	}
	return projectClaim(d.env("VERCEL_OIDC_TOKEN"))
}

// projectClaim returns the project that a token names, or "" for a token that cannot be read or names none. The token
// selects a namespace and authenticates nobody, so its signature does not matter.
func projectClaim(token string) string {
	segments := strings.Split(token, ".")
	if len(segments) < 2 {
		return ""
	}
	payload, err := decodeBase64(segments[1])
	if err != nil || ecma.ValidJSON(payload) != nil {
		return ""
	}
	var claims map[string]json.RawMessage
	if json.Unmarshal(payload, &claims) != nil {
		return ""
	}
	var project string
	if json.Unmarshal(claims["project_id"], &project) != nil || ecma.IsBlank(project) {
		return ""
	}
	return project
}

// decodeBase64 takes either alphabet, with or without padding, as eve's decoder does.
func decodeBase64(s string) ([]byte, error) {
	s = strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(s)
	return base64.RawURLEncoding.DecodeString(s)
}

// firstOf returns the first of the named variables that is set, or otherwise.
func (d Deployment) firstOf(otherwise string, names ...string) string {
	for _, name := range names {
		if value := d.env(name); value != "" {
			return value
		}
	}
	return otherwise
}

// env returns a variable without the spaces around it; blank is unset.
func (d Deployment) env(name string) string {
	if d.LookupEnv == nil {
		return ""
	}
	value, _ := d.LookupEnv(name)
	return ecma.Trim(value)
}
