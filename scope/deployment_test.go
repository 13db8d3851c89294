package scope

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func environment(pairs ...string) func(string) (string, bool) {
	values := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
	}
	return func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	}
}

func token(payload string, encoding *base64.Encoding) string {
	return "h." + encoding.EncodeToString([]byte(payload)) + ".s"
}

func TestDefaultNamespace(t *testing.T) {
	t.Parallel()
	const local = `["eve-memory-default-namespace-v1","local","2uZo5AhPB7bLlG-ygJ8PgmSSZrzja0IEQjW7kCavqA0","__root__","profile"]`
	vercel := func(middle string) string {
		return `["eve-memory-default-namespace-v1","vercel",` + middle + `,"__root__","profile"]`
	}
	for _, c := range []struct {
		rule string
		env  []string
		want string
	}{
		{"no environment is local", nil, local},
		{"the variable VERCEL alone is local", []string{"VERCEL", "1", "VERCEL_ENV", "production"}, local},
		{"a blank project is none", []string{"VERCEL_PROJECT_ID", "\u3000"}, local},
		{"a project", []string{"VERCEL_PROJECT_ID", "\ufeffprj_1\n"}, vercel(`"prj_1","production",null`)},
		{"a project of a token", []string{"VERCEL_OIDC_TOKEN", token(`{"project_id":"prj_t"}`, base64.RawURLEncoding)}, vercel(`"prj_t","production",null`)},
		{"a padded token", []string{"VERCEL_OIDC_TOKEN", token(`{"project_id":"prj_t>>?"}`, base64.StdEncoding)}, vercel(`"prj_t>>?","production",null`)},
		{"a token without signature", []string{"VERCEL_OIDC_TOKEN", "h.eyJwcm9qZWN0X2lkIjoicHJqX3QifQ"}, vercel(`"prj_t","production",null`)},
		{"the variable goes before the token", []string{"VERCEL_PROJECT_ID", "prj_1", "VERCEL_OIDC_TOKEN", token(`{"project_id":"prj_t"}`, base64.RawURLEncoding)}, vercel(`"prj_1","production",null`)},
		{"claims are named exactly", []string{"VERCEL_OIDC_TOKEN", token(`{"Project_ID":"prj_t"}`, base64.RawURLEncoding)}, local},
		{"a claim that is no string", []string{"VERCEL_OIDC_TOKEN", token(`{"project_id":7}`, base64.RawURLEncoding)}, local},
		{"a null claim", []string{"VERCEL_OIDC_TOKEN", token(`{"project_id":null}`, base64.RawURLEncoding)}, local},
		{"a blank claim", []string{"VERCEL_OIDC_TOKEN", token(`{"project_id":" "}`, base64.RawURLEncoding)}, local},
		{"claims without UTF-8", []string{"VERCEL_OIDC_TOKEN", token("{\"project_id\":\"\xff\"}", base64.RawURLEncoding)}, local},
		{"claims that are null", []string{"VERCEL_OIDC_TOKEN", token(`null`, base64.RawURLEncoding)}, local},
		{"claims that are a list", []string{"VERCEL_OIDC_TOKEN", token(`[{"project_id":"p"}]`, base64.RawURLEncoding)}, local},
		{"a token that is no token", []string{"VERCEL_OIDC_TOKEN", "garbage"}, local},
		{"a token of odd length", []string{"VERCEL_OIDC_TOKEN", "h.a.s"}, local},
		{"a preview without identity", []string{"VERCEL_PROJECT_ID", "p", "VERCEL_ENV", "preview"}, vercel(`"p","preview","unknown-preview"`)},
		{"a preview of a branch", []string{"VERCEL_PROJECT_ID", "p", "VERCEL_ENV", "preview", "VERCEL_GIT_COMMIT_REF", " b ", "VERCEL_DEPLOYMENT_ID", "d"}, vercel(`"p","preview","b"`)},
		{"a preview of a deployment", []string{"VERCEL_PROJECT_ID", "p", "VERCEL_ENV", "preview", "VERCEL_GIT_COMMIT_REF", " ", "VERCEL_DEPLOYMENT_ID", "d", "VERCEL_URL", "u"}, vercel(`"p","preview","d"`)},
		{"a preview of an address", []string{"VERCEL_PROJECT_ID", "p", "VERCEL_ENV", "preview", "VERCEL_URL", "u"}, vercel(`"p","preview","u"`)},
		{"the target goes before the environment", []string{"VERCEL_PROJECT_ID", "p", "VERCEL_TARGET_ENV", "staging", "VERCEL_ENV", "preview", "VERCEL_URL", "u"}, vercel(`"p","staging",null`)},
		{"a workspace member", []string{"VERCEL_PROJECT_ID", "p", "EVE_INTERNAL_AGENT_WORKSPACE_MEMBER", "1", "EVE_PUBLIC_ROUTE_PREFIX", " a/b// "}, vercel(`"p","production",null,"/a/b"`)},
		{"a workspace member at the root", []string{"VERCEL_PROJECT_ID", "p", "EVE_INTERNAL_AGENT_WORKSPACE_MEMBER", "1", "EVE_PUBLIC_ROUTE_PREFIX", "//"}, vercel(`"p","production",null`)},
		{"a prefix of no workspace member", []string{"VERCEL_PROJECT_ID", "p", "EVE_INTERNAL_AGENT_WORKSPACE_MEMBER", "true", "EVE_PUBLIC_ROUTE_PREFIX", "/a"}, vercel(`"p","production",null`)},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			d := Deployment{AppRoot: "/srv/app", LookupEnv: environment(c.env...)}
			got, err := DefaultNamespace(d, RootNode, "profile")
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
			assert.Equal(t, c.want != local, d.OnVercel())
			assert.True(t, d.IsKnown())
		})
	}
}

func TestDeploymentIsKnownByRootOrProject(t *testing.T) {
	t.Parallel()
	assert.False(t, Deployment{}.IsKnown())
	assert.False(t, Deployment{LookupEnv: environment("VERCEL", "1", "VERCEL_PROJECT_ID", " ")}.IsKnown())
	assert.True(t, Deployment{AppRoot: "/srv/app"}.IsKnown())
	assert.True(t, Deployment{LookupEnv: environment("VERCEL_PROJECT_ID", "prj_1")}.IsKnown())
	assert.False(t, Deployment{AppRoot: "/srv/app"}.OnVercel())
}

func TestDefaultNamespaceRefusesTextThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		deployment Deployment
		node, slot string
	}{
		{Deployment{AppRoot: "/srv/\xff"}, RootNode, "profile"},
		{Deployment{AppRoot: "/srv"}, "\xff", "profile"},
		{Deployment{AppRoot: "/srv"}, RootNode, "\xff"},
		{Deployment{LookupEnv: environment("VERCEL_PROJECT_ID", "p\xff")}, RootNode, "profile"},
	} {
		_, err := DefaultNamespace(c.deployment, c.node, c.slot)
		require.ErrorIs(t, err, ErrInvalidUTF8)
	}
}

func FuzzProjectClaim(f *testing.F) {
	f.Add("h.eyJwcm9qZWN0X2lkIjoicHJqX3QifQ.s")
	f.Add("h.e30=.s")
	f.Add("garbage")
	f.Add("..")
	f.Fuzz(func(t *testing.T, text string) {
		project := projectClaim(text)
		again := projectClaim(token(`{"project_id":`+string(mustQuote(t, project))+`}`, base64.RawURLEncoding))
		require.Equal(t, project, again)
	})
}

func mustQuote(t *testing.T, s string) []byte {
	t.Helper()
	quoted, err := appendJSON(nil, s)
	require.NoError(t, err)
	return quoted
}
