package supermemory

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/recollect-go/recollect/internal/rest"
)

// api sends requests to the service.
type api struct {
	client *rest.Client
	retry  rest.Retry
	url    string
	key    Secret
}

func newAPI(key Secret, o *Options) *api {
	return &api{client: rest.NewClient(o.HTTPClient, o.Timeout, o.MaxBytes), retry: o.Retry, url: o.BaseURL, key: key}
}

// answer is what the service says, of which a type holds what this package needs.
type answer interface {
	// complete reports whether the members are there that every answer has. Without them it is the answer of something else,
	// and not that of an empty memory.
	complete() bool
}

// call sends body as JSON, unless it is nil, and reads the answer into out, unless that is nil. Every request of this
// package can be sent again: it reads, or it says what is to be.
func (a *api) call(ctx context.Context, operation, method, path string, body any, out answer) error {
	var encoded []byte
	if body != nil {
		var err error
		if encoded, err = rest.Encode(body); err != nil {
			return failed(operation, err)
		}
	}
	var reply *rest.Response
	err := a.retry.Do(ctx, func(int) (rest.Verdict, error) {
		var err error
		var verdict rest.Verdict
		reply, verdict, err = a.attempt(ctx, operation, &rest.Request{Method: method, URL: a.url + path, Body: encoded})
		return verdict, err
	})
	if err != nil || out == nil {
		return err
	}
	if err := rest.Decode(reply.Body, out); err != nil {
		return &Error{Service: "supermemory", Operation: operation, Err: err}
	}
	if !out.complete() {
		return badReply(operation)
	}
	return nil
}

func (a *api) attempt(ctx context.Context, operation string, r *rest.Request) (*rest.Response, rest.Verdict, error) {
	authorization, err := rest.Authorize(ctx, a.key)
	if err != nil {
		return nil, rest.Verdict{}, &Error{Service: "supermemory", Operation: operation, Err: err}
	}
	r.Header = http.Header{"Authorization": {authorization}, "Accept": {"application/json"}}
	if r.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	reply, err := a.client.Do(ctx, r)
	if err != nil {
		again := errors.Is(err, ErrNoReply)
		return nil, rest.Verdict{Again: again}, &Error{Service: "supermemory", Operation: operation, Err: err}
	}
	if reply.Status >= 200 && reply.Status < 300 {
		return reply, rest.Verdict{}, nil
	}
	after := rest.RetryAfter(reply.Header, time.Now())
	verdict := rest.Verdict{Again: again(reply), After: after}
	return nil, verdict, &Error{
		Service: "supermemory", Operation: operation, Status: reply.Status, RetryAfter: after, Err: kind(reply.Status),
	}
}

// again reports whether the service's client would send the request again: when the reply says so, or else for these statuses.
func again(reply *rest.Response) bool {
	switch reply.Header.Get("X-Should-Retry") {
	case "true":
		return true
	case "false":
		return false
	}
	switch reply.Status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return reply.Status >= 500
}

// kind returns what a status means. What the service says in its body stays there: it may quote a memory.
func kind(status int) error {
	switch {
	case status < 400:
		return ErrBadReply
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return ErrUnauthorized
	case status == http.StatusNotFound:
		return ErrNotFound
	case status == http.StatusRequestEntityTooLarge:
		return ErrTooLarge
	case status == http.StatusTooManyRequests:
		return ErrRateLimited
	case status == http.StatusRequestTimeout, status >= 500:
		return ErrUnavailable
	}
	return ErrRefused
}

// badReply is the error of an answer that does not hold what it must.
func badReply(operation string) error {
	return &Error{Service: "supermemory", Operation: operation, Err: ErrBadReply}
}
