package s3store

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// attempts watches how often the client sends a request and what comes of it, because it repeats requests and shows only
// the last answer.
type attempts struct {
	// doubt: an attempt may have been carried out, though the client was not told so.
	doubt bool
	// once: after a doubt the request is not sent again.
	once bool
}

// watch is an option of one call of the client.
func (a *attempts) watch(o *s3.Options) {
	// A store answers so when another request for the same object was faster by a moment; nothing was done.
	o.Retryer = retry.AddWithErrorCodes(o.Retryer, codeBusy)
	if a.once {
		o.Retryer = &retryUnlessInDoubt{Retryer: o.Retryer, seen: a}
	}
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("recollect-attempts", a.attempt), middleware.After)
	})
}

// retryUnlessInDoubt repeats a request only while it certainly was not carried out.
type retryUnlessInDoubt struct {
	aws.Retryer
	seen *attempts
}

// IsErrorRetryable is called between two attempts.
func (r *retryUnlessInDoubt) IsErrorRetryable(err error) bool {
	return !r.seen.doubt && r.Retryer.IsErrorRetryable(err)
}

// GetAttemptToken passes on what paces the attempts of an adaptive client (aws.RetryerV2).
func (r *retryUnlessInDoubt) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	if paced, ok := r.Retryer.(aws.RetryerV2); ok {
		return paced.GetAttemptToken(ctx)
	}
	return r.GetInitialToken(), nil
}

// attempt is the last thing before the network: it sees each attempt, and only those that are really sent.
func (a *attempts) attempt(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	if !refused(out.RawResponse, err) {
		a.doubt = true
	}
	return out, metadata, err
}

// refused reports whether an attempt certainly was not carried out: its connection was never made, or the store said that
// it will not do it. A success counts as doubt, since the rest of the answer may get lost; who sees the whole of it does
// not ask.
func refused(response any, err error) bool {
	if err != nil {
		var dialing *net.OpError
		return errors.As(err, &dialing) && dialing.Op == "dial"
	}
	reply, ok := response.(*smithyhttp.Response)
	return ok && reply.StatusCode >= 300 && reply.StatusCode < 500 && reply.StatusCode != http.StatusRequestTimeout
}

// Error codes of the protocol.
const (
	codeBusy         = "ConditionalRequestConflict"
	codePrecondition = "PreconditionFailed"
	codeNoSuchKey    = "NoSuchKey"
)

// isCondition reports whether err says that the condition of a request does not hold: the object is another, there, or
// not there. Busy is another request for the object that was not over when the last attempt was made.
func isCondition(err error) bool {
	code := codeOf(err)
	return code == codePrecondition || code == codeNoSuchKey || code == codeBusy || statusOf(err) == http.StatusPreconditionFailed
}

func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

func statusOf(err error) int {
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}
