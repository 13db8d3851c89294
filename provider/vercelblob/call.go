package vercelblob

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/recollect-go/recollect/internal/rest"
)

// apiVersion is the version of the control API that Vercel's client 2.8 speaks.
const apiVersion = "12"

// call is one request to the service and its repetitions.
type call struct {
	backend   *Backend
	operation string
	request   func(Credential) *rest.Request // built anew for each attempt, from the credential of the moment
	object    bool                           // goes to the object's own address and not to the control API
	once      bool                           // not sent again after an attempt that may have been carried out
	requestID string                         // of a control request, the same over all attempts
	doubt     bool                           // an attempt may have been carried out although no answer says so
}

// do sends the request until there is a definite answer, or a doubt if it is sent once, and returns the answer of status
// 200. Any other end is an *Error.
func (c *call) do(ctx context.Context) (*rest.Response, error) {
	var reply *rest.Response
	err := c.backend.retry.Do(ctx, func(n int) (rest.Verdict, error) {
		var err error
		reply, err = c.attempt(ctx, n)
		if c.once && c.doubt {
			return rest.Verdict{}, err
		}
		return rest.Vague(err), err
	})
	return reply, err
}

func (c *call) attempt(ctx context.Context, n int) (*rest.Response, error) {
	credential, err := c.backend.credentials.Credential(ctx)
	if err == nil {
		err = credential.check()
	}
	if err != nil {
		return nil, c.failed(unauthorized(ctx, err))
	}
	request := c.request(credential)
	request.Header.Set("Authorization", "Bearer "+credential.Token)
	if !c.object {
		c.setControlHeaders(request.Header, credential.StoreID, n)
	}
	reply, err := c.backend.client.Do(ctx, request)
	if err != nil {
		c.doubt = c.doubt || rest.InDoubt(err)
		return nil, c.failed(err)
	}
	if reply.Status == http.StatusOK {
		return reply, nil
	}
	c.doubt = c.doubt || rest.LeavesDoubt(reply.Status)
	return nil, c.refused(reply)
}

func (c *call) setControlHeaders(header http.Header, storeID string, n int) {
	if c.requestID == "" {
		c.requestID = newRequestID(storeID, c.backend.timeNow().UnixMilli())
	}
	header.Set("X-Api-Version", apiVersion)
	header.Set("X-Vercel-Blob-Store-Id", storeID)
	header.Set("X-Api-Blob-Request-Id", c.requestID)
	header.Set("X-Api-Blob-Request-Attempt", strconv.Itoa(n))
}

// unauthorized is the error of credentials that could not be had. A cancelled context stays a cancellation.
func unauthorized(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", ErrUnauthorized, err)
}

func (c *call) failed(err error) error {
	return &Error{Service: "vercelblob", Operation: c.operation, RequestID: c.requestID, Err: err}
}

// refused turns a reply other than 200 into an *Error.
func (c *call) refused(reply *rest.Response) error {
	code, kind := c.diagnose(reply)
	return &Error{
		Service:    "vercelblob",
		Operation:  c.operation,
		Status:     reply.Status,
		Code:       code,
		RetryAfter: rest.RetryAfter(reply.Header, c.backend.timeNow()),
		RequestID:  c.requestID,
		Err:        kind,
	}
}

// diagnose returns the error code of a reply and what it means. A reply without a code means what its status says. One with
// a code that is not known means that too, but is definite.
func (c *call) diagnose(reply *rest.Response) (code string, kind error) {
	var body struct {
		Error struct{ Code, Message string }
	}
	if err := rest.Decode(reply.Body, &body); err != nil || body.Error.Code == "" {
		if reply.Status == http.StatusNotFound && c.object {
			return "", errAbsent // the object's own address answers without a code
		}
		return "", byStatus(reply.Status)
	}
	code = rest.Code(body.Error.Code)
	if kind := byMessage(body.Error.Message); kind != nil {
		return code, kind
	}
	if kind, known := kinds[code]; known {
		return code, kind
	}
	if kind := byStatus(reply.Status); kind != ErrUnavailable {
		return code, kind
	}
	return code, ErrRefused
}

// byMessage knows the refusals that the service tells apart only in prose.
func byMessage(message string) error {
	switch {
	case message == "Token expired", strings.HasPrefix(message, "OIDC is enabled for this project, but not for the"):
		return ErrUnauthorized
	case strings.Contains(message, "the file length cannot be greater than"):
		return ErrTooLarge
	}
	return nil
}

// byStatus returns what a status means by itself. A 404 says nothing of an object: the path of the API may be wrong.
func byStatus(status int) error {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return ErrUnauthorized
	case status == http.StatusNotFound:
		return ErrRefused
	case status == http.StatusConflict, status == http.StatusPreconditionFailed:
		return errCondition
	case status == http.StatusRequestEntityTooLarge:
		return ErrTooLarge
	case status == http.StatusTooManyRequests:
		return ErrRateLimited
	case status < 400:
		return ErrBadReply
	}
	return ErrUnavailable
}

func newRequestID(storeID string, milliseconds int64) string {
	random := make([]byte, 7)
	rand.Read(random) // never fails
	return fmt.Sprintf("%s:%d:%s", storeID, milliseconds, hex.EncodeToString(random))
}
