package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/leak"
)

// childArgs holds the arguments of a process that runs the program instead of the tests.
const childArgs = "OPSBOT_TEST_ARGS"

func TestMain(m *testing.M) {
	if args, isChild := os.LookupEnv(childArgs); isChild {
		if err := run(context.Background(), strings.Split(args, "\n"), os.Getenv, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	leak.Main(m)
}

func noEnvironment(string) string { return "" }

// talk runs the program over lines and returns what it has printed.
func talk(t *testing.T, getenv func(string) string, args []string, lines ...string) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, run(t.Context(), args, getenv, strings.NewReader(strings.Join(lines, "\n")), &out))
	return out.String()
}

func TestAMemoryOutlivesItsSessionForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	args := []string{"-data", t.TempDir()}
	talk(t, noEnvironment, args, "remember that I prefer Chinese", "记住我在上海")

	mine := talk(t, noEnvironment, args, "what do I prefer?")
	assert.Contains(t, mine, "0: I prefer Chinese")

	forgotten := talk(t, noEnvironment, args, "forget 0", "忘记 1", "what do I prefer?")
	assert.Contains(t, forgotten, "I see no memory that helps")

	for _, other := range []string{"/as acme/u_99", "/as globex/u_42", "/anonymous"} {
		talk(t, noEnvironment, args, "remember that I prefer Chinese")
		assert.NotContains(t, talk(t, noEnvironment, args, other, "what do I prefer?"), "Chinese", other)
	}
}

func TestTheChineseColonIsNoPartOfAFact(t *testing.T) {
	t.Parallel()
	out := talk(t, noEnvironment, []string{"-data", t.TempDir()}, "请记住：我在上海", "团队记住，周二发布")
	assert.Contains(t, out, `{"text":"我在上海"}`)
	assert.Contains(t, out, `{"text":"周二发布"}`)
}

func TestTheWorkspaceIsSharedInsideATenantOnly(t *testing.T) {
	t.Parallel()
	args := []string{"-data", t.TempDir()}
	talk(t, noEnvironment, args, "remember for the team: deploys happen on Tuesday")

	assert.Contains(t, talk(t, noEnvironment, args, "/as acme/u_99", "when are deploys?"), "deploys happen on Tuesday")
	assert.NotContains(t, talk(t, noEnvironment, args, "/as globex/u_42", "when are deploys?"), "Tuesday")
}

func TestAFixedProfileScopeIsSharedByEverybodyAndAnnouncedAsSuch(t *testing.T) {
	t.Parallel()
	args := []string{"-data", t.TempDir(), "-profile-scope", "static:everyone"}
	talk(t, noEnvironment, args, "remember that my salary is secret")

	out := talk(t, noEnvironment, args, "/as globex/u_7", "what is my salary?")
	assert.Contains(t, out, "0: my salary is secret")
	assert.Contains(t, out, "warning: the profile's scope is fixed")
}

func TestACallerWhoChangesInsideASessionSeesNoRecordOfTheOtherAndKeepsTheIncident(t *testing.T) {
	t.Parallel()
	args := []string{"-data", t.TempDir()}
	talk(t, noEnvironment, args, "remember that I prefer Chinese")

	out := talk(t, noEnvironment, args, "start incident INC-7", "/as acme/u_99", "what do I prefer?", "show incident", "/view")
	_, after, found := strings.Cut(out, "caller acme/u_99")
	require.True(t, found)
	assert.NotContains(t, after, "I prefer Chinese")
	assert.Contains(t, after, `{"id":"INC-7","checked":[]}`)
}

func TestTheIncidentNeedsToBeOpenAndCountsAServiceOnce(t *testing.T) {
	t.Parallel()
	out := talk(t, noEnvironment, []string{"-data", t.TempDir()},
		"check db", "start incident INC-1", "check db", "check db", "check api", "show incident")
	assert.Contains(t, out, "no incident is open")
	assert.Contains(t, out, `show_incident done: {"id":"INC-1","checked":["db","api"]}`)
}

func TestASessionIsResumedByItsName(t *testing.T) {
	t.Parallel()
	args := []string{"-data", t.TempDir(), "-session", "night-shift"}
	first := talk(t, noEnvironment, args, "/as globex/u_7", "start incident INC-2")
	assert.Contains(t, first, "session night-shift (new)")

	second := talk(t, noEnvironment, args, "show incident", "/view")
	assert.Contains(t, second, "session night-shift (resumed), caller globex/u_7")
	assert.Contains(t, second, `"id":"INC-2"`)
	assert.Contains(t, second, "start incident INC-2", "the conversation goes on")
}

func TestClearKeepsTheIncidentAndResetDropsIt(t *testing.T) {
	t.Parallel()
	args := []string{"-data", t.TempDir(), "-session", "s1"}
	out := talk(t, noEnvironment, args, "remember that I prefer Chinese", "start incident INC-3", "/clear", "show incident", "/view", "/reset", "show incident", "what do I prefer?")
	cleared, ended, found := strings.Cut(out, "session ended")
	require.True(t, found)
	_, cleared, found = strings.Cut(cleared, "conversation cleared")
	require.True(t, found)
	assert.Contains(t, cleared, `"id":"INC-3"`)
	assert.NotContains(t, cleared, "start incident", "the history is gone")
	assert.Contains(t, ended, "no incident is open")
	assert.Contains(t, ended, "0: I prefer Chinese", "memories stay")
	assert.Contains(t, talk(t, noEnvironment, args), "session s1 (new)")
}

func TestCompactionReplacesWhatWasSaidByASummary(t *testing.T) {
	t.Parallel()
	out := talk(t, noEnvironment, []string{"-data", t.TempDir()},
		"the database is slow", "show incident", "check db", "show incident", "show incident", "since noon", "/compact", "anything else?", "/view")
	assert.Contains(t, out, "compaction: summarized")
	assert.Contains(t, out, "The user said: the database is slow")
	assert.Contains(t, out, `"kind":"context.compaction"`)
}

func TestKeysAreThePublishedOnesAndNothingIsInventedForNobody(t *testing.T) {
	t.Parallel()
	out := talk(t, noEnvironment, []string{"-data", t.TempDir()}, "/keys", "/as globex/u_42", "/keys", "/anonymous", "/keys")
	var keys []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "profile ") {
			keys = append(keys, strings.TrimSpace(line))
		}
	}
	require.Len(t, keys, 3)
	assert.NotEqual(t, keys[0], keys[1])
	assert.Equal(t, "profile disabled", keys[2])
}

func TestBadArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"profile scope":  {"-profile-scope", "everyone"},
		"static nothing": {"-profile-scope", "static:"},
		"caller":         {"-as", "u_42"},
		"argument":       {"extra"},
		"flag":           {"-what"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			assert.Error(t, run(t.Context(), append([]string{"-data", t.TempDir()}, args...), noEnvironment, strings.NewReader(""), &out))
		})
	}
}

func TestABadLineIsReportedAndTheConversationGoesOn(t *testing.T) {
	t.Parallel()
	out := talk(t, noEnvironment, []string{"-data", t.TempDir()}, "/what", "/as nobody", "forget 99999999999999999999", "", "/help", "hello")
	assert.Contains(t, out, "error: unknown command /what")
	assert.Contains(t, out, `error: "nobody" is not TENANT/USER`)
	assert.Contains(t, out, "That number is out of range.")
	assert.Contains(t, out, "I see no memory that helps")
}

func TestArgumentsThatAreNotJSONReachTheToolAsText(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		`{"id":"INC-1"}`: `{"id":"INC-1"}`,
		``:               `{}`,
		"\n":             `{}`,
		`{"id":`:         `"{\"id\":"`,
		"id: \xff":       `"id: \ufffd"`,
	} {
		require.Equal(t, want, string(callInput(arguments)), "%q", arguments)
	}
}
