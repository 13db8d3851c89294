package rest

import (
	"errors"
	"net/url"
	"strings"
)

// BaseURL returns address without trailing slashes, or an error unless it is an absolute http or https URL without user,
// query and fragment. The error does not quote it: an address may hold a secret.
func BaseURL(address string) (string, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return "", ErrBadURL
	case u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "":
		return "", errors.New("address is not an absolute http or https URL")
	case u.User != nil, strings.ContainsAny(address, "?#"):
		return "", errors.New("address has a user, a query or a fragment")
	}
	return strings.TrimRight(address, "/"), nil
}

// CheckSecret returns an error unless secret can be sent in a header: not empty, printable ASCII, no space. The error does
// not quote it.
func CheckSecret(secret string) error {
	if secret == "" {
		return errors.New("credential is empty")
	}
	for _, c := range []byte(secret) {
		if c <= ' ' || c > '~' {
			return errors.New("credential has a character outside printable ASCII")
		}
	}
	return nil
}
