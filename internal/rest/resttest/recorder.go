// Package resttest is what the tests of the hosted stores and services share: a record of the requests that were sent,
// compared with samples, and a transport that needs no network.
package resttest

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write the samples of requests in testdata anew")

// Recorder is a transport that keeps the text of every request.
type Recorder struct {
	Next http.RoundTripper // nil means http.DefaultTransport

	mu       sync.Mutex
	requests []string
}

// RoundTrip records r and sends it.
func (rec *Recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	rec.mu.Lock()
	rec.requests = append(rec.requests, render(r, body))
	rec.mu.Unlock()
	next := rec.Next
	if next == nil {
		next = http.DefaultTransport
	}
	return next.RoundTrip(r)
}

// Requests returns the text of every request so far.
func (rec *Recorder) Requests() []string {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return slices.Clone(rec.requests)
}

func render(r *http.Request, body []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", r.Method, r.URL.RequestURI())
	names := make([]string, 0, len(r.Header))
	for name := range r.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "%s: %s\n", strings.ToLower(name), strings.Join(r.Header[name], ", "))
	}
	if len(body) > 0 {
		fmt.Fprintf(&b, "\n%s\n", body)
	}
	return b.String()
}

// Golden compares requests, in order, with the sample testdata/<name>. Each pair in masks is a text and what stands for it.
func Golden(t *testing.T, name string, requests []string, masks ...string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	got := strings.NewReplacer(masks...).Replace(strings.Join(requests, "\n---\n"))
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("requests differ from %s (run the test with -update after a wanted change)\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// InMemory is a transport that hands requests to a handler, without network, so that it can be used in a synctest bubble.
// The handler runs to its end even when the request's context has ended.
type InMemory struct{ Handler http.Handler }

// RoundTrip answers r with the handler, unless its context has ended before.
func (m InMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if r.Body == nil {
		r = r.Clone(r.Context())
		r.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	m.Handler.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}
