package vercelblob

import "strings"

// isStrong reports whether etag is a strong entity tag (RFC 9110, 8.8.3): quoted, without W/.
func isStrong(etag string) bool {
	if len(etag) < 3 || etag[0] != '"' || etag[len(etag)-1] != '"' {
		return false
	}
	for _, c := range []byte(etag[1 : len(etag)-1]) {
		if c <= ' ' || c == '"' || c > '~' {
			return false
		}
	}
	return true
}

func isWeak(etag string) bool { return strings.HasPrefix(etag, "W/") }
