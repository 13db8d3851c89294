package redisstore

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSendingAbandonedInTimeIsNeverSent(t *testing.T) {
	t.Parallel()
	s := &sending{text: "token"}
	require.True(t, s.abandon())
	_, err := s.MarshalBinary()
	require.ErrorIs(t, err, errAbandoned)
}

func TestSendingAbandonedTooLateMayHaveBeenSent(t *testing.T) {
	t.Parallel()
	s := &sending{text: "token"}
	text, err := s.MarshalBinary()
	require.NoError(t, err)
	require.Equal(t, "token", string(text))
	require.False(t, s.abandon())
	require.False(t, s.repeated())
}

// TestSendingOnceIsNotSentAgain guards that only a call which certainly was not carried out gets another sending.
func TestSendingOnceIsNotSentAgain(t *testing.T) {
	t.Parallel()
	s := &sending{once: true}
	send(t, s)
	_, err := s.MarshalBinary()
	require.ErrorIs(t, err, errOnce)
	require.False(t, s.repeated())
	require.False(t, s.abandon())
	s.retract()
	send(t, s)
}

// TestSendingRetractedOnceIsUnsent guards that only a call that was sent exactly once can be taken back: an earlier one
// may have been carried out.
func TestSendingRetractedOnceIsUnsent(t *testing.T) {
	t.Parallel()
	s := &sending{}
	send(t, s)
	s.retract()
	require.True(t, s.abandon())

	s = &sending{}
	send(t, s)
	send(t, s)
	require.True(t, s.repeated())
	s.retract()
	require.True(t, s.repeated())
	require.False(t, s.abandon())
}

func send(t *testing.T, s *sending) {
	t.Helper()
	_, err := s.MarshalBinary()
	require.NoError(t, err)
}
