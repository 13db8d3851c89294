package ecma

import (
	"strconv"
	"strings"
	"testing"
)

// BenchmarkQuote measures quoting beside its floor, copying the same bytes.
func BenchmarkQuote(b *testing.B) {
	for _, text := range []string{"u_42", strings.Repeat("The user prefers short answers. ", 128), strings.Repeat("用户偏好中文回答。", 128), strings.Repeat("a line\n", 512)} {
		dst := make([]byte, 0, 2*len(text)+2)
		name := strconv.Quote(text[:4]) + "/" + strconv.Itoa(len(text))
		b.Run(name+"/subject", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				dst = AppendQuote(dst[:0], text)
			}
		})
		b.Run(name+"/floor", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				dst = append(dst[:0], text...)
			}
		})
	}
}
