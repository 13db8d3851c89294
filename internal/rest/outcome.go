package rest

import (
	"errors"
	"net/http"
)

// Vague returns the verdict on a failed attempt of a request that can be repeated: another one is allowed after an *Error
// that says nothing definite, one that matches ErrUnavailable or ErrNoReply, and not before the service asks for it.
func Vague(err error) Verdict {
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrNoReply) {
		return Verdict{}
	}
	return Verdict{Again: true, After: e.RetryAfter}
}

// InDoubt reports whether a request may have been carried out although Client.Do returned err: unless it was certainly not
// sent.
func InDoubt(err error) bool {
	var transport *TransportError
	return !errors.As(err, &transport) || !transport.NotSent
}

// LeavesDoubt reports whether a status other than 200 leaves open whether the request was carried out.
func LeavesDoubt(status int) bool {
	return status < 300 || status >= 500 || status == http.StatusRequestTimeout
}
