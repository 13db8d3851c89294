package rest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/recollect-go/recollect/internal/docstore"
)

// What a caller can act on. The packages that export them say when they occur.
var (
	ErrUnauthorized = errors.New("credential refused")
	ErrRateLimited  = errors.New("too many requests")
	ErrUnavailable  = errors.New("service unavailable")
	ErrRefused      = errors.New("request refused")
	ErrTooLarge     = error(tooLarge{})
	ErrBadReply     = errors.New("reply not understood")
	ErrNoReply      = errors.New("no reply")

	// ErrNotUTF8 is part of the error for a text that JSON cannot carry.
	ErrNotUTF8 = errors.New("text is not valid UTF-8")
	// ErrBadURL is part of the error for an address that cannot be requested.
	ErrBadURL = errors.New("address is not valid")
)

// tooLarge is also what every other store says of a document over its limit, so that a sweep can go on past one.
type tooLarge struct{}

func (tooLarge) Error() string { return "too large" }

func (tooLarge) Is(target error) bool { return target == docstore.ErrTooLarge }

// Error is a failed call of a service. Its text holds no credential, no memory and no word of the service but its error code.
type Error struct {
	Service    string        // the package that reports it
	Operation  string        // what was asked of the service
	Status     int           // HTTP status; 0 when there was no reply
	Code       string        // the service's error code; "" when there was none
	RetryAfter time.Duration // how long the service asks to wait; 0 when it did not say
	RequestID  string        // for the service's support; "" when there is none
	Err        error         // why; it matches one of the package's sentinels or the context's error
}

// Error returns one line.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %v", e.Service, e.Operation, e.Err)
	var details []string
	if e.Status != 0 {
		details = append(details, fmt.Sprintf("status %d", e.Status))
	}
	if e.Code != "" {
		details = append(details, "code "+e.Code)
	}
	if e.RetryAfter != 0 {
		details = append(details, fmt.Sprintf("retry after %s", e.RetryAfter))
	}
	if e.RequestID != "" {
		details = append(details, "request "+e.RequestID)
	}
	if len(details) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(details, ", "))
	}
	return b.String()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// TransportError is an exchange that brought no reply.
type TransportError struct {
	Err     error // matches ErrNoReply, ErrRefused for a request that cannot be made, or the error of the caller's context
	NotSent bool  // certain that nothing was sent, so that nothing can have happened
}

// Error returns the text of Err.
func (e *TransportError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *TransportError) Unwrap() error { return e.Err }

// Code returns code if it is a short word of letters, "_" and "-", else "". Anything else may be prose, or quote a credential.
func Code(code string) string {
	if len(code) > 40 {
		return ""
	}
	for _, c := range []byte(code) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '-' {
			return ""
		}
	}
	return code
}
