package vercelblob_test

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	storeID = "Ab12cd34Ef56"
	token   = "vercel_blob_rw_" + storeID + "_s3cretS3cret"
)

// server behaves as the reference says, and refuses whatever the reference does not mention.
type server struct {
	*httptest.Server

	mu       sync.Mutex
	objects  map[string]object
	attempts map[string]int // next expected attempt by request id
	faults   []fault
	log      []string // "<METHOD> <operation>" of every request that got past the credentials
	tokens   []string // accepted credentials; the last one is the newest

	existsStatus int    // how a create of an existing object is refused
	existsCode   string // with which code
}

type object struct {
	content     []byte
	contentType string
	etag        string
}

// fault answers the next request of an operation in place of the service, or after it.
type fault struct {
	operation string
	requestID string // "" means any
	act       func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc)
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := startServer()
	t.Cleanup(s.Close)
	return s
}

func startServer() *server {
	s := &server{
		objects: map[string]object{}, attempts: map[string]int{}, tokens: []string{token},
		existsStatus: http.StatusBadRequest, existsCode: "bad_request",
	}
	s.Server = httptest.NewServer(s)
	return s
}

// next arranges for the next requests of operation (read, write, delete, list).
func (s *server) next(operation string, acts ...func(http.ResponseWriter, *http.Request, http.HandlerFunc)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, act := range acts {
		s.faults = append(s.faults, fault{operation: operation, act: act})
	}
}

// nextOf arranges for the next attempt of the call that r is one of.
func (s *server) nextOf(r *http.Request, act func(http.ResponseWriter, *http.Request, http.HandlerFunc)) {
	operation, _ := s.route(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fault{operation, r.Header.Get("X-Api-Blob-Request-Id"), act})
}

func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

func (s *server) count(operation string) int {
	n := 0
	for _, entry := range s.requests() {
		if entry == operation {
			n++
		}
	}
	return n
}

func (s *server) put(pathname, content string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store(pathname, []byte(content), "text/markdown; charset=utf-8")
}

func (s *server) get(pathname string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[pathname]
	return string(o.content), ok
}

func (s *server) remove(pathname string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, pathname)
}

// skipAttempt counts an attempt that does not arrive.
func (s *server) skipAttempt(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts[r.Header.Get("X-Api-Blob-Request-Id")]++
}

func (s *server) store(pathname string, content []byte, contentType string) string {
	digest := md5.Sum(content)
	etag := `"` + hex.EncodeToString(digest[:]) + `"`
	s.objects[pathname] = object{content, contentType, etag}
	return etag
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	operation, serve := s.route(r)
	if serve == nil {
		fail(w, http.StatusNotFound, "not_found", "no such endpoint")
		return
	}
	s.mu.Lock()
	known := slices.Contains(s.tokens, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	s.mu.Unlock()
	if !known {
		fail(w, http.StatusForbidden, "forbidden", "Access denied")
		return
	}
	if problem := s.checkHeaders(r, operation); problem != "" {
		fail(w, http.StatusBadRequest, "bad_request", problem)
		return
	}
	if act := s.takeFault(operation, r.Header.Get("X-Api-Blob-Request-Id")); act != nil {
		act(w, r, serve)
		return
	}
	serve(w, r)
}

func (s *server) route(r *http.Request) (string, http.HandlerFunc) {
	switch path := r.URL.Path; {
	case r.Method == http.MethodPut && path == "/api/blob/":
		return "write", s.servePut
	case r.Method == http.MethodGet && path == "/api/blob":
		return "list", s.serveList
	case r.Method == http.MethodPost && path == "/api/blob/delete":
		return "delete", s.serveDelete
	case r.Method == http.MethodGet && strings.HasPrefix(path, "/objects/"):
		return "read", s.serveGet
	}
	return "", nil
}

func (s *server) takeFault(operation, requestID string) func(http.ResponseWriter, *http.Request, http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, operation)
	for i, f := range s.faults {
		if f.operation == operation && (f.requestID == "" || f.requestID == requestID) {
			s.faults = slices.Delete(s.faults, i, i+1)
			return f.act
		}
	}
	return nil
}

// allowed are the headers that the reference mentions for an operation, besides those of every request.
var allowed = map[string][]string{
	"read":   {},
	"list":   control,
	"delete": append([]string{"Content-Type", "X-If-Match", "Content-Length"}, control...),
	"write": append([]string{"X-Vercel-Blob-Access", "X-Content-Type", "X-Add-Random-Suffix", "X-Allow-Overwrite", "X-If-Match",
		"X-Cache-Control-Max-Age", "Content-Length"}, control...),
}

var (
	everywhere = []string{"Authorization", "User-Agent", "Accept-Encoding"}
	control    = []string{"X-Api-Version", "X-Vercel-Blob-Store-Id", "X-Api-Blob-Request-Id", "X-Api-Blob-Request-Attempt"}
)

func (s *server) checkHeaders(r *http.Request, operation string) string {
	for name := range r.Header {
		if !slices.Contains(everywhere, name) && !slices.Contains(allowed[operation], name) {
			return "unknown header " + name
		}
	}
	if operation == "read" {
		return ""
	}
	if r.Header.Get("X-Api-Version") != "12" || r.Header.Get("X-Vercel-Blob-Store-Id") != storeID {
		return "version or store"
	}
	id, attempt := r.Header.Get("X-Api-Blob-Request-Id"), r.Header.Get("X-Api-Blob-Request-Attempt")
	parts := strings.Split(id, ":")
	if len(parts) != 3 || parts[0] != storeID {
		return "request id"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch attempt {
	case strconv.Itoa(s.attempts[id]):
		s.attempts[id]++
		return ""
	case strconv.Itoa(s.attempts[id] - 1):
		if r.Method == http.MethodGet {
			return "" // net/http repeats a GET by itself when a kept connection turns out to be closed
		}
	}
	return "request attempt"
}

func (s *server) servePut(w http.ResponseWriter, r *http.Request) {
	query, header := r.URL.Query(), r.Header
	pathname := query.Get("pathname")
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		fail(w, http.StatusBadRequest, "bad_request", "body ended early")
		return
	case len(query) != 1, pathname == "", strings.Contains(pathname, "//"), len(pathname) > 950, len(body) == 0:
		fail(w, http.StatusBadRequest, "bad_request", "invalid pathname or body")
		return
	case header.Get("X-Vercel-Blob-Access") != "private", header.Get("X-Add-Random-Suffix") != "0", header.Get("X-Content-Type") == "":
		fail(w, http.StatusBadRequest, "bad_request", "invalid options")
		return
	}
	overwrite, ifMatch := header.Get("X-Allow-Overwrite"), header.Get("X-If-Match")
	if overwrite != "1" && (overwrite != "0" || ifMatch != "") {
		fail(w, http.StatusInternalServerError, "internal_server_error", "contradictory options")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	current, exists := s.objects[pathname]
	switch {
	case overwrite == "0" && exists:
		fail(w, s.existsStatus, s.existsCode, "This blob already exists")
		return
	case ifMatch != "" && current.etag != ifMatch:
		fail(w, http.StatusPreconditionFailed, "precondition_failed", "ETag mismatch")
		return
	}
	etag := s.store(pathname, body, header.Get("X-Content-Type"))
	reply(w, map[string]any{
		"url": s.URL + "/objects/" + pathname, "downloadUrl": s.URL + "/objects/" + pathname + "?download=1",
		"pathname": pathname, "contentType": header.Get("X-Content-Type"), "contentDisposition": "inline", "etag": etag,
	})
}

func (s *server) serveGet(w http.ResponseWriter, r *http.Request) {
	if r.URL.RawQuery != "cache=0" {
		fail(w, http.StatusBadRequest, "bad_request", "the cache would answer")
		return
	}
	s.mu.Lock()
	o, ok := s.objects[strings.TrimPrefix(r.URL.Path, "/objects/")]
	s.mu.Unlock()
	if !ok {
		http.Error(w, "Not Found", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", o.contentType)
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && len(o.content) > 1024 {
		sendCompressed(w, o)
		return
	}
	w.Header().Set("Etag", o.etag)
	w.Write(o.content)
}

// sendCompressed does what the content network does to a larger object when a client allows it.
func sendCompressed(w http.ResponseWriter, o object) {
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Etag", "W/"+o.etag)
	z := gzip.NewWriter(w)
	z.Write(o.content)
	z.Close()
}

func (s *server) serveDelete(w http.ResponseWriter, r *http.Request) {
	var body struct {
		URLs []string `json:"urls"`
	}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil || len(body.URLs) != 1 || r.Header.Get("Content-Type") != "application/json" {
		fail(w, http.StatusBadRequest, "bad_request", "invalid body")
		return
	}
	pathname, ok := strings.CutPrefix(body.URLs[0], s.URL+"/objects/")
	if !ok {
		fail(w, http.StatusBadRequest, "bad_request", "not an object of the store")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	current, exists := s.objects[pathname]
	if ifMatch := r.Header.Get("X-If-Match"); exists && ifMatch != "" && ifMatch != current.etag {
		fail(w, http.StatusPreconditionFailed, "precondition_failed", "ETag mismatch")
		return
	}
	delete(s.objects, pathname)
	reply(w, nil)
}

func (s *server) serveList(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	for name := range query {
		if !slices.Contains([]string{"prefix", "limit", "cursor", "mode"}, name) {
			fail(w, http.StatusBadRequest, "bad_request", "unknown parameter")
			return
		}
	}
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil || limit < 1 || limit > 1000 || query.Get("mode") != "expanded" {
		fail(w, http.StatusBadRequest, "bad_request", "invalid parameter")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var pathnames []string
	for pathname := range s.objects {
		if strings.HasPrefix(pathname, query.Get("prefix")) && pathname > query.Get("cursor") {
			pathnames = append(pathnames, pathname)
		}
	}
	slices.Sort(pathnames)
	page := map[string]any{"hasMore": false}
	if len(pathnames) > limit {
		pathnames = pathnames[:limit]
		page = map[string]any{"hasMore": true, "cursor": pathnames[limit-1]}
	}
	blobs := []map[string]any{}
	for _, pathname := range pathnames {
		blobs = append(blobs, map[string]any{
			"url": s.URL + "/objects/" + pathname, "downloadUrl": s.URL + "/objects/" + pathname + "?download=1", "pathname": pathname,
			"size": len(s.objects[pathname].content), "uploadedAt": "2026-01-01T00:00:00.000Z", "etag": s.objects[pathname].etag,
		})
	}
	page["blobs"] = blobs
	reply(w, page)
}

func reply(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(body)
}

func fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"code":%q,"message":%q}}`, code, message)
}

// Faults.

// answers refuses the request with a code and nothing done.
func answers(status int, code, message string) func(http.ResponseWriter, *http.Request, http.HandlerFunc) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) { fail(w, status, code, message) }
}

// says answers with a body that is no JSON.
func says(status int, body string) func(http.ResponseWriter, *http.Request, http.HandlerFunc) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// hangsUp closes the connection with nothing done.
func hangsUp(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
	io.Copy(io.Discard, r.Body)
	panic(http.ErrAbortHandler)
}

// losesReply does the work and closes the connection without an answer.
func losesReply(_ http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
	serve(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// cutsReply does the work and closes the connection in the middle of the answer.
func cutsReply(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
	var whole httptest.ResponseRecorder
	whole.Body = new(bytes.Buffer)
	serve(&whole, r)
	w.Header().Set("Content-Length", strconv.Itoa(whole.Body.Len()))
	w.WriteHeader(http.StatusOK)
	w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// then does the work, then something else behind the client's back, and loses the answer.
func then(after func()) func(http.ResponseWriter, *http.Request, http.HandlerFunc) {
	return func(_ http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
		serve(httptest.NewRecorder(), r)
		after()
		panic(http.ErrAbortHandler)
	}
}
