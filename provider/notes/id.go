package notes

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"strings"
)

var lower32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// noteID returns the id of a note: its number and five characters that depend on the scope's own number, so that an id from
// another scope, or from before an erasure, is none.
func noteID(scope, seq int64) string {
	var in [16]byte
	binary.BigEndian.PutUint64(in[:8], uint64(scope))
	binary.BigEndian.PutUint64(in[8:], uint64(seq))
	sum := sha256.Sum256(append([]byte("recollect-note-v1\x00"), in[:]...))
	return "n" + strconv.FormatInt(seq, 10) + "-" + lower32.EncodeToString(sum[:])[:5]
}

// numberOf returns the number in an id of the scope, and false for everything else.
func numberOf(scope int64, id string) (int64, bool) {
	rest, ok := strings.CutPrefix(id, "n")
	if !ok {
		return 0, false
	}
	digits, _, _ := strings.Cut(rest, "-")
	seq, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || seq < 1 || noteID(scope, seq) != id {
		return 0, false
	}
	return seq, true
}

// digest returns 32 characters that stand for the parts, each with its length before it.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:24])
}

// threadOf returns a number that stands for a session, 0 for none.
func threadOf(session string) int64 {
	if session == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(session))
	return int64(binary.BigEndian.Uint64(sum[:8]) | 1)
}
