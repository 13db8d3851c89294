package memory

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rawjson"
)

// attributionName is the member of a message's metadata that makes it a record. Only the library writes it.
const attributionName = "eve.memory"

// attributionVersion is the only version there is.
const attributionVersion = 1

// maxSafeInteger is the largest integer that every reader of JSON keeps exactly.
const maxSafeInteger = 1<<53 - 1

// attribution says which slot recalled a record, for whom and when.
type attribution struct {
	identity
	operationID string
	batchIndex  int64
}

// identity is what a later record of the same item has in common with an earlier one. itemKey is "" for an item without an
// id, and such a record is never replaced.
type identity struct {
	slot, namespaceKey, scopeKey, itemKey string
}

// appendMetadata writes the metadata of a record, with its members in eve's order.
func (a *attribution) appendMetadata(dst []byte) []byte {
	dst = append(dst, `{"eve.memory":{"batchIndex":`...)
	dst = strconv.AppendInt(dst, a.batchIndex, 10)
	if a.itemKey != "" {
		dst = append(dst, `,"itemKey":`...)
		dst = ecma.AppendQuote(dst, a.itemKey)
	}
	dst = append(dst, `,"namespaceKey":`...)
	dst = ecma.AppendQuote(dst, a.namespaceKey)
	dst = append(dst, `,"operationId":`...)
	dst = ecma.AppendQuote(dst, a.operationID)
	dst = append(dst, `,"scopeKey":`...)
	dst = ecma.AppendQuote(dst, a.scopeKey)
	dst = append(dst, `,"slot":`...)
	dst = ecma.AppendQuote(dst, a.slot)
	return append(dst, `,"version":1}}`...)
}

// decodeAttribution reads the object under attributionName. Members it does not know are allowed.
func decodeAttribution(value []byte) (*attribution, error) {
	members, err := rawjson.Members(value)
	if err != nil {
		return nil, err
	}
	var a attribution
	version, err := integer(members, "version")
	if err != nil || version != attributionVersion {
		return nil, errors.New("unknown version")
	}
	if a.batchIndex, err = integer(members, "batchIndex"); err != nil {
		return nil, err
	}
	for _, text := range []struct {
		name string
		into *string
	}{
		{"namespaceKey", &a.namespaceKey}, {"operationId", &a.operationID}, {"scopeKey", &a.scopeKey}, {"slot", &a.slot},
	} {
		if *text.into, err = required(members, text.name); err != nil {
			return nil, err
		}
	}
	if rawjson.Find(members, "itemKey") == nil {
		return &a, nil
	}
	a.itemKey, err = required(members, "itemKey")
	return &a, err
}

func required(members []rawjson.Member, name string) (string, error) {
	text, err := rawjson.String(rawjson.Find(members, name))
	if err != nil || text == "" {
		return "", fmt.Errorf("%s is no text", name)
	}
	return text, nil
}

func integer(members []rawjson.Member, name string) (int64, error) {
	n, err := strconv.ParseFloat(string(rawjson.Find(members, name)), 64)
	if err != nil || n != math.Trunc(n) || n < 0 || n > maxSafeInteger {
		return 0, fmt.Errorf("%s is no integer", name)
	}
	return int64(n), nil
}

// itemKey returns the key of an item's id: "memitem1_" and a digest.
func itemKey(id string) string {
	const tag = "item-v1\x00"
	var space [256]byte
	text := append(space[:0], tag...)
	text = binary.BigEndian.AppendUint32(text, uint32(len(id)))
	text = append(text, id...)
	return digest("memitem1_", text)
}

// digest returns a prefix and the unpadded base64url text of a SHA-256.
func digest(prefix string, data []byte) string {
	var space [64]byte
	sum := sha256.Sum256(data)
	return string(base64.RawURLEncoding.AppendEncode(append(space[:0], prefix...), sum[:]))
}
