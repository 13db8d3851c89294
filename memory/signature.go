package memory

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"github.com/recollect-go/recollect/internal/rawjson"
)

// The stored form of a signed binding:
//
//	{"format":"recollect-tool-signed","version":1,"binding":base64url,"signature":base64url}
//
// The signature is the HMAC-SHA256 of a tag and the binding's bytes, which travel as text so that no rewriting of the JSON
// changes them.
const (
	signedFormat  = "recollect-tool-signed"
	signedVersion = 1
	signatureTag  = "recollect-tool-signed-v1\x00"
)

func sign(key, text []byte) []byte {
	dst := appendFormat(nil, signedFormat, signedVersion)
	dst = append(dst, `,"binding":"`...)
	dst = base64.RawURLEncoding.AppendEncode(dst, text)
	dst = append(dst, `","signature":"`...)
	dst = base64.RawURLEncoding.AppendEncode(dst, signature(key, text))
	return append(dst, '"', '}')
}

func signature(key, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(signatureTag))
	mac.Write(text)
	return mac.Sum(nil)
}

// isSigned reports whether raw is a binding with a signature, of any version.
func isSigned(raw []byte) bool {
	members, err := rawjson.Members(raw)
	return err == nil && stringMember(members, "format") == signedFormat
}

// verify returns the text that was signed, compact, if the signature is right.
func verify(key, raw []byte) ([]byte, error) {
	if !isSigned(raw) {
		return nil, fmt.Errorf("%w: it is not signed", ErrBinding)
	}
	members, err := versioned(raw, signedFormat, signedVersion)
	if err != nil {
		return nil, err
	}
	text, err := base64.RawURLEncoding.DecodeString(stringMember(members, "binding"))
	if err != nil {
		return nil, malformed(err)
	}
	// The signature is compared as text, of which there is one; base64 has several for the same bytes.
	wanted := base64.RawURLEncoding.EncodeToString(signature(key, text))
	if !hmac.Equal([]byte(stringMember(members, "signature")), []byte(wanted)) {
		return nil, fmt.Errorf("%w: the signature is wrong", ErrBinding)
	}
	return rawjson.Compact(text)
}
