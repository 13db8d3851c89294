package state_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/state"
)

func TestAKeyIsTheDigestOfSessionAndNode(t *testing.T) {
	t.Parallel()
	require.Equal(t, "memstate1_y0l6G28fZSTKDjrMKdkq78dODIkAn7d8ddcClvmYqjU", key(t, state.ID{Session: "s"}))
	require.Equal(t, key(t, state.ID{Session: "s"}), key(t, state.ID{Session: "s", Node: state.RootNode}))
	for _, id := range []state.ID{{Session: "s", Node: "n"}, {Session: "会话", Node: "节点\x00"}} {
		require.Equal(t, referenceKey(id), key(t, id))
	}
}

// referenceKey follows the published derivation step by step.
func referenceKey(id state.ID) string {
	lp := func(s string) string {
		var length [4]byte
		binary.BigEndian.PutUint32(length[:], uint32(len(s)))
		return string(length[:]) + s
	}
	sum := sha256.Sum256([]byte("state-v1\x00" + lp(id.Session) + lp(id.Node)))
	return "memstate1_" + base64.RawURLEncoding.EncodeToString(sum[:])
}

func TestAnIncompleteIDHasNoKey(t *testing.T) {
	t.Parallel()
	for _, id := range []state.ID{{}, {Node: "n"}, {Session: "\xff"}, {Session: "s", Node: "\xff"}} {
		_, err := id.Key()
		require.Error(t, err, "%q", id)
	}
}

func FuzzKey(f *testing.F) {
	f.Add("s", "n", "s", "N")
	f.Add("ab", "c", "a", "bc")
	f.Add("s\x00", "n", "s", "\x00n")
	f.Add("会", "话", "会话", "")
	f.Fuzz(func(t *testing.T, s1, n1, s2, n2 string) {
		a, b := state.ID{Session: s1, Node: n1}, state.ID{Session: s2, Node: n2}
		keyA, errA := a.Key()
		keyB, errB := b.Key()
		if errA != nil || errB != nil {
			return
		}
		if a.Node != "" {
			require.Equal(t, referenceKey(a), keyA)
		}
		require.Regexp(t, `^memstate1_[A-Za-z0-9_-]{43}$`, keyA)
		root := func(id state.ID) state.ID {
			id.Node = strings.Replace("|"+id.Node+"|", "||", "|"+state.RootNode+"|", 1)
			return id
		}
		require.Equal(t, root(a) == root(b), keyA == keyB)
	})
}
