package memory_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

// restored takes a session through its snapshot into a memory that another process would have made.
func (b *sessionBundle) restored(t testing.TB, s *memory.Session, opts *memory.SessionOptions) *memory.Session {
	t.Helper()
	snapshot, err := s.Snapshot()
	require.NoError(t, err)
	b.rebuild(t)
	again, err := b.memory.RestoreSession(snapshot, opts)
	require.NoError(t, err)
	twice, err := again.Snapshot()
	require.NoError(t, err)
	require.Equal(t, string(snapshot), string(twice), "a snapshot of what was restored is the same")
	return again
}

func TestSnapshotRestoresASessionBetweenTurns(t *testing.T) {
	t.Parallel()
	b := newSessionBundle(t)
	b.book.add(keyFor(t, "app", "acme"), "likes tea")
	s := b.session(t, nil)
	exchange(t, s, member("acme"), "hello", "hi")
	again := b.restored(t, s, nil)
	assert.Equal(t, s.ID(), again.ID())
	assert.Empty(t, again.Unfinished())
	assert.Equal(t, texts(s.History()), texts(again.History()))
	exchange(t, again, member("acme"), "what do I like?", "tea")
	recalls := b.book.of("recall")
	assert.Contains(t, recalls[1].operation, ":1:", "the sequence goes on")
	assert.Equal(t, "acme", *recalls[1].session.Initiator.Issuer)
}

func TestSnapshotOfAnOpenTurnResumesElsewhereWithoutRecall(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newSessionBundle(t)
	acme := keyFor(t, "app", "acme")
	b.book.add(acme, "likes tea")
	s := b.session(t, nil)
	turn := begin(t, s, said("turn-1", member("acme"), "what do I like?"))
	require.NoError(t, turn.Append(call("1")))
	require.NoError(t, turn.Deliver(said("", member("globex"), "from somebody else")))

	// The process dies here. Before another one resumes, the provider's content changes.
	b.book.add(acme, "likes coffee")
	again := b.restored(t, s, nil)
	require.Equal(t, "turn-1", again.Unfinished())
	_, err := again.Compact(ctx, nil)
	assert.ErrorIs(t, err, memory.ErrTurnOpen)
	_, err = again.Begin(ctx, &memory.Delivery{TurnID: "turn-1", Current: member("globex")})
	assert.ErrorIs(t, err, memory.ErrInvalidRequest, "another caller cannot take the turn over")
	_, err = again.Begin(ctx, said("turn-1", member("acme"), "something else"))
	assert.ErrorIs(t, err, memory.ErrInvalidRequest, "another input would be lost")

	resumed := begin(t, again, said("turn-1", member("acme"), "what do I like?"))
	assert.Empty(t, again.Unfinished())
	assert.Equal(t, []string{"likes tea", "what do I like?", ""}, texts(resumed.View()), "as it was when the turn began")
	require.Len(t, resumed.Pending(), 1)
	assert.Equal(t, "1", resumed.Pending()[0].CallID)
	assert.Len(t, b.book.of("recall"), 1, "no provider is asked for a recall")
	_, err = resumed.Tools()[0].Call(ctx, &memory.ToolCall{Input: json.RawMessage(`{"line":"likes water"}`)})
	require.NoError(t, err)
	assert.Equal(t, []string{"likes tea", "likes coffee", "likes water"}, b.book.lines[acme], "resumed tools keep their key")
	assert.Empty(t, b.book.lines[keyFor(t, "app", "globex")])
	require.NoError(t, resumed.Append(toolText("1", "ok")))
	assert.Equal(t, "from somebody else", resumed.View()[4].Text())
	require.NoError(t, resumed.Append(memory.AssistantMessage("tea")))

	last := b.restored(t, again, nil)
	finished := begin(t, last, &memory.Delivery{TurnID: "turn-1", Current: member("acme")})
	require.NoError(t, finished.Complete(ctx))
	captures := b.book.of("capture")
	require.Len(t, captures, 1)
	assert.Equal(t, []string{"what do I like?", "", "", "tea"}, texts(captures[0].messages[captures[0].turn.Start:]),
		"without what another caller said, also after a restart")
	assert.Contains(t, captures[0].operation, ":0:turn-1:")
}

func TestSnapshotOfAnOpenTurnIsGivenUpByAnother(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newSessionBundle(t)
	s := b.session(t, nil)
	turn := begin(t, s, said("turn-1", member("acme"), "first"))
	require.NoError(t, turn.Append(call("1")))
	again := b.restored(t, s, nil)
	next := begin(t, again, said("turn-2", member("acme"), "second"))
	requireWhole(t, next.View(), 0)
	assert.Equal(t, []string{"first", "", "", "second"}, texts(next.View()))
	next.Fail()
	assert.Empty(t, b.book.of("capture"))

	cleared := b.restored(t, s, nil)
	require.NoError(t, cleared.Clear(ctx))
	assert.Empty(t, cleared.Unfinished())
}

func TestSnapshotRemembersCompactions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	opts := &memory.SessionOptions{Summarize: func(context.Context, *memory.SummaryRequest) (string, error) { return "summary", nil }}
	b := newSessionBundle(t)
	s := b.session(t, opts)
	for range 3 {
		exchange(t, s, member("acme"), "hello"+strings.Repeat(" word", 100), "hi")
	}
	report, err := s.Compact(ctx, &memory.CompactCall{Current: member("acme")})
	require.NoError(t, err)
	require.Equal(t, memory.CompactSummarized, report.Outcome)
	again := b.restored(t, s, opts)
	_, err = again.Compact(ctx, &memory.CompactCall{Current: member("acme")})
	require.NoError(t, err)
	assert.Equal(t, memory.KindCheckpoint, again.History()[0].Kind())
}

func TestSnapshotRemembersThatACompactionFreedNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newSessionBundle(t)
	c := &counting{}
	opts := &memory.SessionOptions{Policy: small(), Summarize: c.summarize}
	s := b.session(t, opts)
	turn := begin(t, s, said("turn", member("acme"), words(5000)))
	report, err := turn.Compact(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, memory.CompactNothingFreed, report.Outcome)
	require.NoError(t, turn.Append(memory.AssistantMessage(words(5000))))

	turn = begin(t, b.restored(t, s, opts), &memory.Delivery{TurnID: "turn", Current: member("acme")})
	report, err = turn.Compact(ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, memory.CompactNothingFreed, report.Outcome)
	assert.Empty(t, c.prompts)
}

func TestSnapshotRemembersThatACompactionWasNotEnough(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newSessionBundle(t)
	c := &counting{}
	opts := &memory.SessionOptions{Policy: small(), Summarize: c.summarize}
	s := b.session(t, opts)
	exchange(t, s, member("acme"), words(500), words(500))
	turn := begin(t, s, said("turn", member("acme"), words(5000)))
	report, err := turn.Compact(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, memory.CompactSummarized, report.Outcome)
	asked := len(c.prompts)
	require.NoError(t, turn.Append(memory.AssistantMessage("a step")))

	turn = begin(t, b.restored(t, s, opts), &memory.Delivery{TurnID: "turn", Current: member("acme")})
	require.NoError(t, turn.Append(memory.AssistantMessage("another step")))
	report, err = turn.Compact(ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, memory.CompactNotDue, report.Outcome)
	assert.Len(t, c.prompts, asked, "another process asks for no summary either")
}

func TestSnapshotKeepsWhatThisBuildDoesNotKnow(t *testing.T) {
	t.Parallel()
	b := newSessionBundle(t)
	s := b.session(t, nil)
	begin(t, s, said("turn-1", member("acme"), "hello"))
	snapshot, err := s.Snapshot()
	require.NoError(t, err)
	var object map[string]any
	require.NoError(t, json.Unmarshal(snapshot, &object))
	object["future"] = map[string]any{"a": 1.0}
	object["turn"].(map[string]any)["future"] = "turn"
	object["bookkeeping"].(map[string]any)["future"] = "bookkeeping"
	object["history"].([]any)[0].(map[string]any)["future"] = "message"
	edited, err := json.Marshal(object)
	require.NoError(t, err)
	again, err := b.memory.RestoreSession(edited, nil)
	require.NoError(t, err)
	rewritten, err := again.Snapshot()
	require.NoError(t, err)
	assert.JSONEq(t, string(edited), string(rewritten))
}

func TestSnapshotOfAnotherSessionOrNodeIsRefused(t *testing.T) {
	t.Parallel()
	b := newSessionBundle(t)
	snapshot, err := b.session(t, nil).Snapshot()
	require.NoError(t, err)
	_, err = b.memory.RestoreSession(snapshot, &memory.SessionOptions{ID: "other"})
	assert.ErrorIs(t, err, memory.ErrInvalidRequest)
	child, err := memory.New(b.slots, &memory.Options{Node: "child"})
	require.NoError(t, err)
	_, err = child.RestoreSession(snapshot, nil)
	assert.ErrorIs(t, err, memory.ErrInvalidRequest)
}

func TestSnapshotThatIsDamagedOrNewerIsRefused(t *testing.T) {
	t.Parallel()
	b := newSessionBundle(t)
	valid := `{"format":"recollect-session","version":1,"id":"s","node":"__root__","history":[],"bookkeeping":null}`
	_, err := b.memory.RestoreSession([]byte(valid), nil)
	require.NoError(t, err)
	_, err = b.memory.RestoreSession([]byte(strings.Replace(valid, `"version":1`, `"version":2`, 1)), nil)
	assert.ErrorIs(t, err, memory.ErrVersion)
	open := `"sequence":1,"bookkeeping":{"format":"recollect-bookkeeping","version":1,"turn":{"id":"t","sequence":0},"locks":[],"digests":[]}`
	for name, text := range map[string]string{
		"nothing":             ``,
		"no JSON":             `{"format"`,
		"not UTF-8":           "{\"format\":\"\xff\"}",
		"null":                `null`,
		"another format":      strings.Replace(valid, "recollect-session", "recollect-bookkeeping", 1),
		"no version":          strings.Replace(valid, `"version":1,`, ``, 1),
		"version 0":           strings.Replace(valid, `"version":1`, `"version":0`, 1),
		"no id":               strings.Replace(valid, `"id":"s",`, ``, 1),
		"a member twice":      strings.Replace(valid, `"id":"s"`, `"id":"s","id":"s"`, 1),
		"history no array":    strings.Replace(valid, `"history":[]`, `"history":{}`, 1),
		"history no messages": strings.Replace(valid, `"history":[]`, `"history":[1]`, 1),
		"negative sequence":   strings.Replace(valid, `"node"`, `"sequence":-1,"node"`, 1),
		"fraction":            strings.Replace(valid, `"node"`, `"sequence":1.5,"node"`, 1),
		"turn without start":  strings.Replace(valid, `"node"`, `"turn":{"id":"t","sequence":0},"node"`, 1),
		"turn of another id": strings.Replace(valid, `"bookkeeping":null`,
			open+`,"turn":{"id":"u","sequence":0,"input":[]}`, 1),
		"input that is not there": strings.Replace(valid, `"bookkeeping":null`,
			open+`,"turn":{"id":"t","sequence":0,"input":[0]}`, 1),
		"first message that is not there": strings.Replace(valid, `"bookkeeping":null`,
			open+`,"turn":{"id":"t","sequence":0,"first":0}`, 1),
		"first message that is a record": strings.Replace(strings.Replace(valid, `"bookkeeping":null`,
			open+`,"turn":{"id":"t","sequence":0,"first":0}`, 1), `"history":[]`, `"history":[`+record(t)+`]`, 1),
		"forged input": strings.Replace(valid, `"bookkeeping":null`,
			open+`,"turn":{"id":"t","sequence":0,"held":[{"role":"user","content":"x","metadata":{"eve.memory":{"version":1}}}]}`, 1),
	} {
		_, err := b.memory.RestoreSession([]byte(text), nil)
		assert.Error(t, err, name)
		assert.NotErrorIs(t, err, memory.ErrVersion, name)
	}
	_, err = b.memory.RestoreSession([]byte(strings.Replace(valid, `"history":[]`,
		`"history":[{"role":"user","content":"x","metadata":{"eve.memory":{"version":7}}}]`, 1)), nil)
	assert.ErrorIs(t, err, memory.ErrAttribution)
}

// record returns the JSON of a recalled record.
func record(t testing.TB) string {
	t.Helper()
	records, _, err := memory.Bookkeeping{}.Commit(nil, []memory.Batch{{
		Slot: "profile", Namespace: "app", Scope: scope.String("u"), OperationID: "o", Items: []memory.Item{{Content: "likes tea"}},
	}})
	require.NoError(t, err)
	text, err := json.Marshal(records[0])
	require.NoError(t, err)
	return string(text)
}

// TestSnapshotsOfEveryReleaseAreRead keeps a sample of each released form readable for good. Add files, never change them.
func TestSnapshotsOfEveryReleaseAreRead(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/session/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			b := newSessionBundle(t)
			s, err := b.memory.RestoreSession(data, nil)
			require.NoError(t, err)
			rewritten, err := s.Snapshot()
			require.NoError(t, err)
			assert.JSONEq(t, string(data), string(rewritten))
			if id := s.Unfinished(); id != "" {
				turn := begin(t, s, &memory.Delivery{TurnID: id, Current: member("acme")})
				assert.NotEmpty(t, turn.View())
				assert.NotEmpty(t, turn.Tools())
				turn.Fail()
			}
			exchange(t, s, member("acme"), "still there?", "yes")
		})
	}
}

func FuzzSnapshot(f *testing.F) {
	files, err := filepath.Glob("testdata/session/*.json")
	require.NoError(f, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte(`{"format":"recollect-session","version":1,"id":"s","node":"__root__"}`))
	f.Add([]byte(`{"format":"recollect-session","version":2}`))
	f.Add([]byte(`[]`))
	b := newSessionBundle(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := b.memory.RestoreSession(data, nil)
		if err != nil {
			return
		}
		once, err := s.Snapshot()
		require.NoError(t, err)
		again, err := b.memory.RestoreSession(once, nil)
		require.NoError(t, err)
		twice, err := again.Snapshot()
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
		_, err = s.View()
		require.NoError(t, err)
	})
}
