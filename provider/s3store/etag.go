package s3store

import (
	"crypto/fips140"
	"crypto/md5" //nolint:gosec // the protocol's, and no secret
	"encoding/hex"
	"strings"
)

// isStrong reports whether etag can be compared with (RFC 9110, 8.8.3): quoted as the standard says, or without quotes as
// some stores give it. What may stand for more than one version is not: a weak tag, the asterisk, a list.
func isStrong(etag string) bool {
	inner := etag
	if strings.HasPrefix(etag, `"`) {
		var closed bool
		inner, closed = strings.CutSuffix(etag[1:], `"`)
		if !closed {
			return false
		}
	}
	if inner == "" || inner == "*" {
		return false
	}
	for _, c := range []byte(inner) {
		if c <= ' ' || c > '~' || c == '"' || c == ',' {
			return false
		}
	}
	return !strings.HasPrefix(etag, "W/")
}

// isDigest reports whether etag is the MD5 digest of content, which is what most stores give to what is uploaded in one
// piece and is not encrypted with a key of the customer's.
func isDigest(etag string, content []byte) bool {
	if fips140.Enabled() { // which may forbid MD5
		return false
	}
	sum := md5.Sum(content) //nolint:gosec // see the import
	return strings.Trim(etag, `"`) == hex.EncodeToString(sum[:])
}
