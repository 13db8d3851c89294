package redisstore

import (
	"crypto/rand"
	"strings"
)

// The stored form, which Upstash AgentKit's redisDocuments defines.
const (
	contentField = "content"
	versionField = "version"
	marker       = "eve-memory-document-v1:"
)

// encode returns the stored form of content in memory of its own.
func encode(content []byte) []byte {
	stored := make([]byte, 0, len(marker)+len(content))
	return append(append(stored, marker...), content...)
}

// decode returns the content of a stored form, which may lack the marker, in memory of its own.
func decode(stored string) []byte { return []byte(strings.TrimPrefix(stored, marker)) }

// newVersion returns a token of at least 128 random bits. It begins with a letter that begins no JSON value.
func newVersion() string { return "r" + rand.Text() }

// foundHash describes a hash that is not a document.
const foundHash = "a hash without the fields " + contentField + " and " + versionField

// found describes a key by the type that the server names.
func found(kind string) string {
	if kind == "hash" {
		return foundHash
	}
	return "a " + kind
}
