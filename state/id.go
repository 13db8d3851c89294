package state

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// RootNode is the node of the agent at the root of a tree of agents.
const RootNode = "__root__"

const (
	keyPrefix   = "memstate1_"
	keyTag      = "state-v1\x00"
	childPrefix = "child1_"
	childTag    = "state-child-v1\x00"
)

// ID names a session of one agent.
type ID struct {
	Session string // required; unique over all users and tenants that share a store
	Node    string // one agent in a tree of agents; "" means RootNode
}

// Key returns the key of the session's checkpoint: "memstate1_" and the unpadded base64url SHA-256 of "state-v1\0", the
// session and the node, each preceded by its length as a big-endian uint32. It returns an error when the id is incomplete
// or not valid UTF-8. A key is no credential: who knows the id knows the key.
func (id ID) Key() (string, error) {
	id = id.withDefaults()
	if err := id.check(); err != nil {
		return "", err
	}
	return keyPrefix + digest(keyTag, lengthPrefixed(nil, id.Session, id.Node)), nil
}

func (id ID) withDefaults() ID {
	if id.Node == "" {
		id.Node = RootNode
	}
	return id
}

func (id ID) check() error {
	return errors.Join(checkText("session id", id.Session), checkText("node", id.Node))
}

// childID returns the id of the parent's child of that number at node. Numbers count a parent's children of one node from
// 0, so a parent that keeps only how many there were can name all of them. The seed is the parent's: where it was swept and
// its children were not, the next session of its id does not find them.
func childID(parent ID, seed, node string, number uint64) ID {
	input := lengthPrefixed(nil, parent.Session, parent.Node, node)
	input = binary.BigEndian.AppendUint64(input, number)
	if seed != "" { // the first checkpoints had none
		input = lengthPrefixed(input, seed)
	}
	return ID{Session: childPrefix + digest(childTag, input), Node: node}
}

// isCheckpointKey reports whether key can be that of a checkpoint. A store may be shared with documents of other kinds.
func isCheckpointKey(key string) bool { return strings.HasPrefix(key, keyPrefix) }

func digest(tag string, input []byte) string {
	hash := sha256.New()
	hash.Write([]byte(tag))
	hash.Write(input)
	return base64.RawURLEncoding.EncodeToString(hash.Sum(nil))
}

func lengthPrefixed(dst []byte, parts ...string) []byte {
	for _, part := range parts {
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(part)))
		dst = append(dst, part...)
	}
	return dst
}

// checkText refuses names that could not be stored and compared exactly.
func checkText(what, text string) error {
	if text == "" {
		return fmt.Errorf("state: %s is empty", what)
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("state: %s is not valid UTF-8", what)
	}
	return nil
}
