package s3store

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"
)

const bucket = "bucket"

// hostile is a store of objects that can misbehave in every way that the package guards against. The integration tests
// run against a real one, which cannot be made to.
type hostile struct {
	*httptest.Server

	ignoresIfNoneMatch   bool
	ignoresIfMatch       bool
	ignoresMissing       bool // If-Match of an object that does not exist
	ignoresDeleteIfMatch bool
	forbidsMissing       bool
	etag                 func(content []byte) string // nil means the digest

	mu        sync.Mutex
	objects   map[string]stored
	requests  []string          // methods
	surprises []func(*exchange) // what becomes of the next requests
}

type stored struct {
	content  []byte
	etag     string
	metadata http.Header
}

// exchange is one request. A surprise either answers it or lets proceed do it.
type exchange struct {
	http.ResponseWriter
	request *http.Request
	proceed func(http.ResponseWriter)
}

func newHostile(t *testing.T, setUp func(*hostile)) *hostile {
	h := &hostile{objects: map[string]stored{}}
	if setUp != nil {
		setUp(h)
	}
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	return h
}

// client repeats requests as the client does by default, without waiting in between.
func (h *hostile) client(t *testing.T) *s3.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return s3.New(s3.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(h.URL), UsePathStyle: true, HTTPClient: &http.Client{Transport: transport},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
		}),
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			o.RateLimiter = ratelimit.None
		}),
	})
}

func (h *hostile) open(t *testing.T, opts *Options) *Store {
	t.Helper()
	store, err := New(t.Context(), h.client(t), bucket, opts)
	require.NoError(t, err)
	h.asked()
	return store
}

// surprise tells what becomes of the next requests, one each.
func (h *hostile) surprise(surprises ...func(*exchange)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.surprises = surprises
}

// asked returns the methods of the requests since it was last called.
func (h *hostile) asked() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	methods := h.requests
	h.requests = nil
	return methods
}

// answers is a surprise: the request is not carried out.
func answers(status int, code string) func(*exchange) {
	return func(e *exchange) { sendError(e, status, code) }
}

// loses is a surprise: the request is carried out and its answer is lost.
func loses(e *exchange) {
	e.proceed(httptest.NewRecorder())
	panic(http.ErrAbortHandler)
}

// hangsUp is a surprise: the request is not carried out and gets no answer.
func hangsUp(*exchange) { panic(http.ErrAbortHandler) }

// proceeds is no surprise.
func proceeds(e *exchange) { e.proceed(e.ResponseWriter) }

func (h *hostile) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	e := &exchange{ResponseWriter: w, request: r, proceed: func(w http.ResponseWriter) { h.carryOut(w, r, body) }}
	h.mu.Lock()
	h.requests = append(h.requests, r.Method)
	surprise := proceeds
	if len(h.surprises) > 0 {
		surprise, h.surprises = h.surprises[0], h.surprises[1:]
	}
	h.mu.Unlock()
	surprise(e)
}

func (h *hostile) carryOut(w http.ResponseWriter, r *http.Request, body []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	name := r.URL.Path
	found, exists := h.objects[name]
	switch r.Method {
	case http.MethodPut:
		if code := h.refusesWrite(r.Header, found, exists); code != "" {
			sendError(w, statuses[code], code)
			return
		}
		made := stored{content: body, etag: h.etagOf(body), metadata: http.Header{}}
		for field, values := range r.Header {
			if strings.HasPrefix(field, "X-Amz-Meta-") {
				made.metadata[field] = values
			}
		}
		h.objects[name] = made
		setETag(w, made.etag)
	case http.MethodDelete:
		if expected := r.Header.Get("If-Match"); expected != "" && exists && expected != found.etag && !h.ignoresDeleteIfMatch {
			sendError(w, http.StatusPreconditionFailed, codePrecondition)
			return
		}
		delete(h.objects, name)
		w.WriteHeader(http.StatusNoContent)
	default:
		h.send(w, found, exists)
	}
}

var statuses = map[string]int{codePrecondition: http.StatusPreconditionFailed, codeNoSuchKey: http.StatusNotFound}

// refusesWrite returns the error code of a write whose condition does not hold.
func (h *hostile) refusesWrite(header http.Header, found stored, exists bool) string {
	if header.Get("If-None-Match") == "*" && exists && !h.ignoresIfNoneMatch {
		return codePrecondition
	}
	expected := header.Get("If-Match")
	if expected == "" {
		return ""
	}
	if !exists && !h.ignoresMissing {
		return codeNoSuchKey
	}
	if exists && expected != found.etag && !h.ignoresIfMatch {
		return codePrecondition
	}
	return ""
}

func (h *hostile) send(w http.ResponseWriter, found stored, exists bool) {
	if !exists {
		if h.forbidsMissing {
			sendError(w, http.StatusForbidden, "AccessDenied")
			return
		}
		sendError(w, http.StatusNotFound, codeNoSuchKey)
		return
	}
	sendObject(w, found)
}

func sendObject(w http.ResponseWriter, found stored) {
	for field, values := range found.metadata {
		w.Header()[field] = values
	}
	setETag(w, found.etag)
	w.Header().Set("Content-Length", fmt.Sprint(len(found.content)))
	_, _ = w.Write(found.content)
}

func (h *hostile) etagOf(content []byte) string {
	if h.etag != nil {
		return h.etag(content)
	}
	return digestOf(content)
}

func digestOf(content []byte) string {
	sum := md5.Sum(content)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

func setETag(w http.ResponseWriter, etag string) {
	if etag != "" {
		w.Header().Set("ETag", etag)
	}
}

func sendError(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
}
