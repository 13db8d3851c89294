package upstash

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestIDsAreThoseOfAgentKit compares with ids that Node computed by AgentKit's rule.
func TestIDsAreThoseOfAgentKit(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "c1c17b9fc4e1", factID("User likes cucumber."))
	assert.Equal(t, "1f730c39cdfb", factID("a \"<&>\u2028😀\x01\\"))
	assert.Equal(t, "58fdd87f38fb", messageID(&record{SessionID: "s_1", Sequence: 3, Source: sourceUser, Text: "What do you remember?"}))
}
