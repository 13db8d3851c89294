package docstore

import (
	"regexp"
	"strings"
	"testing"
)

var keyGrammar = regexp.MustCompile(`^[a-z0-9]+_[A-Za-z0-9_-]{43}$`)

func FuzzCheckKeyIsTheGrammar(f *testing.F) {
	digest := strings.Repeat("aZ0-_", 8) + "abc"
	for _, key := range []string{
		"", "_", testKey, "memscope1_" + digest, "m_" + digest, "_" + digest, "memscope1" + digest, "Mem_" + digest, "a_b_" + digest,
		"memscope1_" + digest + "\n", "memscope1_" + digest[1:], "memscope1_" + digest + "x", "../" + testKey, "memscope1_" + digest[:42] + "é",
		"memscope1_" + digest[:42] + "/", "\x00_" + digest,
	} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		// In Go, $ without a flag matches at the end of the text only.
		if valid := keyGrammar.MatchString(key); valid != (CheckKey(key) == nil) {
			t.Errorf("%q: the grammar says %v, CheckKey says %v", key, valid, CheckKey(key))
		}
	})
}
