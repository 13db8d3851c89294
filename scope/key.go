package scope

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// Keys are the derived identifiers of one namespace and scope. Each ends in the 43 characters of an unpadded base64url
// SHA-256 digest.
type Keys struct {
	Key       string // partition key of every read and write, "memscope1_…"
	Namespace string // digest of the namespace alone, "memns1_…"
	Scope     string // digest of the scope alone, "memscope1_…"; never a partition key, since it ignores the namespace
}

// Parts of the encodings whose digests the keys are.
const (
	namespaceTag = "namespace-v1\x00"
	stringTag    = "scope-scalar-v1\x00"
	tupleTag     = "scope-tuple-v1\x00"
	compositeTag = "eve-memory-composite-v1\x00"
	wordSize     = 4 // a big-endian uint32: the length of a text, or the number of components
)

const (
	namespacePrefix = "memns1_"
	keyPrefix       = "memscope1_"
	digestSize      = 43
	keySize         = len(keyPrefix) + digestSize
	keysSize        = len(namespacePrefix) + digestSize + 2*keySize
)

// smallEncoding is more than ordinary identities need. Scratch space of MaxEncodedBytes would cost each of them time to
// clear.
const smallEncoding = 512

// Derive returns the keys of a namespace and a scope, or a *LimitError. Both must be valid UTF-8 and not blank; a namespace
// has at most MaxNamespaceBytes, a tuple 1 to MaxComponents components, a component at most MaxComponentBytes, and both
// encodings together at most MaxEncodedBytes. The zero Namespace and the zero Scope, which disable a slot, have no keys.
// Nothing is trimmed, folded or normalized: different bytes are different keys.
func Derive(n Namespace, s Scope) (Keys, error) {
	if err := checkNamespace(n); err != nil {
		return Keys{}, err
	}
	if err := checkScope(s); err != nil {
		return Keys{}, err
	}
	size := namespaceSize(n) + scopeSize(s)
	if size > MaxEncodedBytes {
		return Keys{}, &LimitError{Limit: ErrKeyTooLarge, Component: noComponent, Size: size, Max: MaxEncodedBytes}
	}
	if size > smallEncoding {
		return deriveLarge(n, s), nil
	}
	return deriveSmall(n, s), nil
}

func deriveSmall(n Namespace, s Scope) Keys {
	var scratch [smallEncoding]byte
	return derive(scratch[:0], n, s)
}

// deriveLarge is not inlined, since its scratch space would then be cleared for small encodings too.
//
//go:noinline
func deriveLarge(n Namespace, s Scope) Keys {
	var scratch [MaxEncodedBytes]byte
	return derive(scratch[:0], n, s)
}

// derive builds all three keys in one text, so that they cost one allocation. buf is scratch space.
func derive(buf []byte, n Namespace, s Scope) Keys {
	var array [keysSize]byte
	text := array[:0]

	text = append(text, namespacePrefix...)
	text = appendDigest(text, appendNamespace(buf, n))
	namespaceEnd := len(text)

	text = append(text, keyPrefix...)
	text = appendDigest(text, appendScope(buf, s))
	scopeEnd := len(text)

	composite := append(buf, compositeTag...)
	composite = appendBytes(composite, text[:namespaceEnd])
	composite = appendBytes(composite, text[namespaceEnd:scopeEnd])
	text = append(text, keyPrefix...)
	text = appendDigest(text, composite)

	all := string(text)
	return Keys{Namespace: all[:namespaceEnd], Scope: all[namespaceEnd:scopeEnd], Key: all[scopeEnd:]}
}

func appendDigest(dst, encoding []byte) []byte {
	sum := sha256.Sum256(encoding)
	return base64.RawURLEncoding.AppendEncode(dst, sum[:])
}

func namespaceSize(n Namespace) int { return len(namespaceTag) + wordSize + len(n) }

func appendNamespace(dst []byte, n Namespace) []byte {
	dst = append(dst, namespaceTag...)
	return appendText(dst, string(n))
}

func scopeSize(s Scope) int {
	if s.form == formString {
		return len(stringTag) + wordSize + len(s.text)
	}
	size := len(tupleTag) + wordSize
	for _, part := range s.parts {
		size += wordSize + len(part)
	}
	return size
}

func appendScope(dst []byte, s Scope) []byte {
	if s.form == formString {
		dst = append(dst, stringTag...)
		return appendText(dst, s.text)
	}
	dst = append(dst, tupleTag...)
	dst = appendWord(dst, len(s.parts))
	for _, part := range s.parts {
		dst = appendText(dst, part)
	}
	return dst
}

func appendText(dst []byte, s string) []byte { return append(appendWord(dst, len(s)), s...) }

func appendBytes(dst, b []byte) []byte { return append(appendWord(dst, len(b)), b...) }

func appendWord(dst []byte, n int) []byte { return binary.BigEndian.AppendUint32(dst, uint32(n)) }
