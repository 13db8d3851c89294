package dialogue_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/recollect-go/recollect/internal/dialogue"
	"github.com/recollect-go/recollect/internal/leak"
	"github.com/recollect-go/recollect/memory"
)

func TestMain(m *testing.M) { leak.Main(m) }

var history = []memory.Message{
	memory.UserMessage("first"),
	memory.AssistantMessage("answer"),
	memory.NewMessage(memory.RoleUser, memory.KindRecord, "recalled"),
	memory.NewMessage(memory.RoleUser, memory.KindCheckpoint, "summary"),
	memory.UserMessage(" \ufeff"),
	memory.NewMessage(memory.RoleSystem, "", "system"),
	memory.UserMessage("second"),
	memory.AssistantMessage("", memory.ToolCallPart{CallID: "1", Name: "tool", Input: []byte(`{}`)}),
	memory.AssistantMessage("last answer"),
}

func TestOnlyPeopleSayAndOnlyTheModelAnswers(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"first", "second"}, dialogue.Said(history))
	assert.Equal(t, []string{"answer", "last answer"}, dialogue.Answered(history))
	assert.Empty(t, dialogue.Said(nil))
	assert.Equal(t, []string{"disk is full"}, dialogue.Said([]memory.Message{memory.NewMessage(memory.RoleUser, "alarm", "disk is full")}))
}

func TestTheQueryIsTheInputOrElseWhatWasSaidLast(t *testing.T) {
	t.Parallel()
	turn := &memory.Turn{Input: []memory.Message{memory.UserMessage("a"), memory.NewMessage(memory.RoleUser, "", " b ")}}
	assert.Equal(t, "a\n b", dialogue.Query(turn, history, 100))
	assert.Equal(t, "a", dialogue.Query(turn, history, 2))
	assert.Equal(t, "second", dialogue.Query(&memory.Turn{}, history, 100))
	assert.Equal(t, "second", dialogue.Query(nil, history, 100))
	assert.Empty(t, dialogue.Query(nil, nil, 100))
}

func TestOwnMessagesBeginAtTheStart(t *testing.T) {
	t.Parallel()
	for start, want := range map[int]int{0: 9, 6: 3, 9: 0, 99: 0, -1: 9} {
		assert.Len(t, dialogue.Own(&memory.Turn{Start: start}, history), want)
	}
}

func TestACutIsBetweenCharacters(t *testing.T) {
	t.Parallel()
	for limit, want := range []string{"", "a", "a", "a😀", "a😀é", "a😀é"} {
		assert.Equal(t, want, dialogue.Cut("a😀é", limit))
	}
}
