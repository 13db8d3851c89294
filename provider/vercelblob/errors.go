package vercelblob

import (
	"errors"
	"fmt"

	"github.com/recollect-go/recollect/internal/rest"
)

// Error is a failed request. errors.Is tells what kind; RetryAfter is set where the service said how long to wait.
type Error = rest.Error

// Kinds of errors. A write or delete whose outcome is unknown matches filememory.ErrUnknownOutcome as well.
var (
	// ErrUnauthorized: no credential, or one that the service refuses for this store or environment.
	ErrUnauthorized = rest.ErrUnauthorized
	// ErrRateLimited: too many requests. It is not tried again; RetryAfter of the *Error says when it may be.
	ErrRateLimited = rest.ErrRateLimited
	// ErrUnavailable: the service failed, also after the retries.
	ErrUnavailable = rest.ErrUnavailable
	// ErrNoReply: no answer came, also after the retries.
	ErrNoReply = rest.ErrNoReply
	// ErrRefused: the service will not carry out the request, whoever sends it.
	ErrRefused = rest.ErrRefused
	// ErrTooLarge: the document is larger than Options.MaxBytes or than the service takes.
	ErrTooLarge = rest.ErrTooLarge
	// ErrBadReply: the answer is not that of the API.
	ErrBadReply = rest.ErrBadReply
	// ErrSuspended: the store is suspended.
	ErrSuspended = errors.New("store is suspended")
	// ErrStoreNotFound: there is no such store.
	ErrStoreNotFound = errors.New("store does not exist")
	// ErrWeakETag: the object came with a weak ETag, or none, so that it cannot be replaced safely. Something between the
	// service and this process compresses or rewrites replies.
	ErrWeakETag = errors.New("object has no strong ETag")
	// ErrEmpty: the service has no empty objects.
	ErrEmpty = errors.New("document is empty, which the service refuses")
)

var (
	// errCondition is a condition that did not hold. Callers see a *filememory.ConflictError instead.
	errCondition = fmt.Errorf("%w: its condition does not hold", ErrRefused)
	// errAbsent is an object that does not exist. Readers see fs.ErrNotExist instead.
	errAbsent = fmt.Errorf("%w: object does not exist", ErrRefused)
)

// kinds says what the service's error codes mean; reference: error codes of Vercel's client, version 2.8.
var kinds = map[string]error{
	"forbidden":                ErrUnauthorized,
	"client_token_not_allowed": ErrUnauthorized,
	"store_suspended":          ErrSuspended,
	"store_not_found":          ErrStoreNotFound,
	"not_found":                errAbsent,
	"precondition_failed":      errCondition,
	"rate_limited":             ErrRateLimited,
	"bad_request":              ErrRefused,
	"not_allowed":              ErrRefused,
	"service_unavailable":      ErrUnavailable,
	"internal_server_error":    ErrUnavailable,
	"unknown_error":            ErrUnavailable,
}
