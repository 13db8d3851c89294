package integration_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// contents are documents that an engine could damage.
func contents() map[string][]byte {
	everyByte := make([]byte, 256)
	for i := range everyByte {
		everyByte[i] = byte(i)
	}
	return map[string][]byte{
		"empty":               {},
		"NUL":                 []byte("a\x00b\x00"),
		"wildcards":           []byte(`100% of _ and %_% and \%`),
		"quotes":              []byte(`'single' "double" ` + "`back`" + ` $1 ?1 :name -- ; \' \\`),
		"line ends":           []byte("a\r\nb\rc\n\n"),
		"not UTF-8":           {0xff, 0xfe, 0xc3, 0x28},
		"every byte":          everyByte,
		"every plane":         everyPlane(),
		"a full document":     bytes.Repeat([]byte("0123456789abcde\n"), 65536/16),
		"an 8 MiB checkpoint": noise(8 << 20),
	}
}

// everyPlane returns every Unicode code point at the ends of each plane, and 256 from its middle.
func everyPlane() []byte {
	var text strings.Builder
	for plane := rune(0); plane <= 16; plane++ {
		base := plane << 16
		text.WriteRune(base + 1)
		for r := base + 0x4000; r < base+0x4100; r++ {
			text.WriteRune(r)
		}
		if last := base + 0xffff; utf8.ValidRune(last) {
			text.WriteRune(last)
		}
	}
	return []byte(text.String())
}

// noise returns bytes that do not compress.
func noise(n int) []byte {
	content := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(content)
	return content
}

// testContents guards that what is read is what was written, byte for byte, also when it replaces something else.
func testContents(t *testing.T, e engine) {
	store := e.openOne(t)
	for name, content := range contents() {
		t.Run(name, func(t *testing.T) {
			key := keyOf(name)
			version := create(t, store, key, content)
			requireContent(t, store, key, content)

			version, err := store.Write(t.Context(), key, []byte("short"), version)
			require.NoError(t, err)
			_, err = store.Write(t.Context(), key, content, version)
			require.NoError(t, err)
			requireContent(t, store, key, content)
		})
	}
}
