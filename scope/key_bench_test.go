package scope

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
)

// BenchmarkDerive measures the derivation beside its floor: the three digests that it contains, of the same bytes. The bar
// is a ratio of at most 1.5 and at most 2 allocations.
func BenchmarkDerive(b *testing.B) {
	for _, c := range []struct {
		name      string
		namespace Namespace
		scope     Scope
	}{
		{"string", "acme-support-v1", String("u_42")},
		{"tuple", "acme-support-v1", Tuple("acme", "u_42")},
		{"principal", "acme-support-v1", String(`["user","app","https://id.example.com","1f0c3c54-8d0b-4a35-9d58-8f1a2a2f3b11"]`)},
		{"largest", Namespace(strings.Repeat("n", 1024)), Tuple(strings.Repeat("s", 1000), strings.Repeat("s", 1000), strings.Repeat("s", 1000))},
	} {
		b.Run(c.name+"/subject", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Derive(c.namespace, c.scope); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/floor", func(b *testing.B) {
			encodings := [3][]byte{appendNamespace(nil, c.namespace), appendScope(nil, c.scope), make([]byte, len(compositeTag)+2*wordSize+keysSize-keySize)}
			text := make([]byte, 0, digestSize)
			b.ReportAllocs()
			for b.Loop() {
				for _, encoding := range encodings {
					sum := sha256.Sum256(encoding)
					text = base64.RawURLEncoding.AppendEncode(text[:0], sum[:])
				}
			}
		})
	}
}
