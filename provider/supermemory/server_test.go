package supermemory_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/provider/supermemory"
)

const apiKey = "sm_s3cret_KEY9"

// server behaves as the reference says: an unknown member, a missing one or one of another type is refused with a 400. It digests
// what it is given at once, unless it is told to be slow: a conversation becomes the memory of what was said, any other text a memory of itself.
type server struct {
	*httptest.Server

	mu        sync.Mutex
	documents []*document
	memories  []*entry
	static    map[string][]string // by container tag
	slow      bool                // documents stay queued
	keeps     bool                // refuses to delete, but says that it did
	log       []string            // "<METHOD> <path>"
	faults    []fault
	next      int
	clock     time.Time
}

type document struct {
	ID            string         `json:"id"`
	CustomID      *string        `json:"customId"`
	ConnectionID  *string        `json:"connectionId"`
	Content       *string        `json:"content"`
	ContainerTags []string       `json:"containerTags"`
	Metadata      map[string]any `json:"metadata"`
	Title         *string        `json:"title"`
	Type          string         `json:"type"`
	Summary       *string        `json:"summary"`
	Status        string         `json:"status"`
	TaskType      string         `json:"taskType"`
	CreatedAt     string         `json:"createdAt"`
	UpdatedAt     string         `json:"updatedAt"`
	tag           string
	raw           string
}

type entry struct {
	ID          string   `json:"id"`
	Memory      string   `json:"memory"`
	Version     int      `json:"version"`
	IsLatest    bool     `json:"isLatest"`
	IsForgotten bool     `json:"isForgotten"`
	IsStatic    bool     `json:"isStatic"`
	IsInference bool     `json:"isInference"`
	CreatedAt   string   `json:"createdAt"`
	UpdatedAt   string   `json:"updatedAt"`
	DocumentIDs []string `json:"documentIds"`
	tag         string
}

type fault struct {
	endpoint string
	act      func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc)
}

func newServer(t testing.TB) *server {
	t.Helper()
	s := startServer()
	t.Cleanup(s.Close)
	return s
}

func startServer() *server {
	s := &server{static: map[string][]string{}, clock: time.Date(2026, 3, 1, 23, 30, 0, 0, time.UTC)}
	s.Server = httptest.NewServer(s)
	return s
}

// fail arranges for the next requests of an endpoint, such as "POST /v4/search".
func (s *server) fail(endpoint string, acts ...func(http.ResponseWriter, *http.Request, http.HandlerFunc)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, act := range acts {
		s.faults = append(s.faults, fault{endpoint, act})
	}
}

func (s *server) count(endpoint string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, entry := range s.log {
		if entry == endpoint {
			n++
		}
	}
	return n
}

func (s *server) tick() string {
	s.clock = s.clock.Add(time.Minute)
	return s.clock.Format("2006-01-02T15:04:05.000Z")
}

func (s *server) id(kind string) string {
	s.next++
	return fmt.Sprintf("%s%d", kind, s.next)
}

var documentPath = regexp.MustCompile(`^/v3/documents/([^/]+)$`)

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+apiKey {
		refuse(w, http.StatusUnauthorized, "Unauthorized")
		return
	}
	endpoint := r.Method + " " + r.URL.Path
	serve := map[string]http.HandlerFunc{
		"POST /v4/profile":                  s.profile,
		"POST /v4/search":                   s.search,
		"POST /v4/memories/list":            s.listMemories,
		"POST /v4/memories/forget-matching": s.forgetMatching,
		"DELETE /v4/memories":               s.forget,
		"POST /v3/documents":                s.add,
		"POST /v3/documents/list":           s.listDocuments,
	}[endpoint]
	if serve == nil && documentPath.MatchString(r.URL.Path) {
		switch r.Method {
		case http.MethodGet:
			endpoint, serve = "GET /v3/documents/{id}", s.getDocument
		case http.MethodDelete:
			endpoint, serve = "DELETE /v3/documents/{id}", s.deleteDocument
		}
	}
	if serve == nil {
		refuse(w, http.StatusNotFound, "no such endpoint")
		return
	}
	hasBody := r.ContentLength > 0
	if hasBody != (r.Header.Get("Content-Type") == "application/json") || r.URL.RawQuery != "" {
		refuse(w, http.StatusBadRequest, "content type or query")
		return
	}
	s.mu.Lock()
	s.log = append(s.log, endpoint)
	act := s.takeFault(endpoint)
	s.mu.Unlock()
	if act != nil {
		act(w, r, serve)
		return
	}
	serve(w, r)
}

func (s *server) takeFault(endpoint string) func(http.ResponseWriter, *http.Request, http.HandlerFunc) {
	for i, f := range s.faults {
		if f.endpoint == endpoint {
			s.faults = slices.Delete(s.faults, i, i+1)
			return f.act
		}
	}
	return nil
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"error": message})
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(body)
}

// decode reads a strict body, or answers with a 400.
func decode(w http.ResponseWriter, r *http.Request, v any, required ...string) bool {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(v)
	}
	var members map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(body, &members)
	}
	for _, name := range required {
		if err == nil && members[name] == nil {
			err = fmt.Errorf("%s is required", name)
		}
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return false
	}
	return true
}

var tagGrammar = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,100}$`)

func validTag(w http.ResponseWriter, tags ...string) bool {
	for _, tag := range tags {
		if !tagGrammar.MatchString(tag) {
			refuse(w, http.StatusBadRequest, "invalid container tag")
			return false
		}
	}
	return len(tags) > 0
}

func (s *server) profile(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ContainerTag string `json:"containerTag"`
	}
	if !decode(w, r, &in, "containerTag") || !validTag(w, in.ContainerTag) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	static := append([]string{}, s.static[in.ContainerTag]...)
	answer(w, map[string]any{"profile": map[string]any{"static": static, "dynamic": []string{}}})
}

type filters struct {
	AND []struct {
		Key   *string `json:"key"`
		Value *string `json:"value"`
	} `json:"AND"`
}

func (f *filters) match(metadata map[string]any) bool {
	if f == nil {
		return true
	}
	for _, condition := range f.AND {
		if condition.Key == nil || condition.Value == nil || metadata[*condition.Key] != *condition.Value {
			return false
		}
	}
	return true
}

type listing struct {
	ContainerTags  []string `json:"containerTags"`
	Filters        *filters `json:"filters"`
	IncludeContent *bool    `json:"includeContent"`
	Page           int      `json:"page"`
	Limit          int      `json:"limit"`
	Sort           string   `json:"sort"`
	Order          string   `json:"order"`
}

func (l *listing) valid(w http.ResponseWriter) bool {
	if l.Page < 1 || l.Limit < 1 || l.Limit > 200 || l.Sort != "createdAt" && l.Sort != "updatedAt" || l.Order != "asc" && l.Order != "desc" {
		refuse(w, http.StatusBadRequest, "invalid listing")
		return false
	}
	return validTag(w, l.ContainerTags...)
}

// page sorts by time and cuts out a page.
func page[T any](l *listing, all []T, at func(T) string) ([]T, map[string]int) {
	slices.SortStableFunc(all, func(a, b T) int { return strings.Compare(at(a), at(b)) })
	if l.Order == "desc" {
		slices.Reverse(all)
	}
	pages := (len(all) + l.Limit - 1) / l.Limit
	from := min((l.Page-1)*l.Limit, len(all))
	to := min(from+l.Limit, len(all))
	return all[from:to], map[string]int{"currentPage": l.Page, "totalItems": len(all), "totalPages": pages, "limit": l.Limit}
}

func (s *server) listDocuments(w http.ResponseWriter, r *http.Request) {
	var in listing
	if !decode(w, r, &in, "containerTags", "page", "limit", "sort", "order") || !in.valid(w) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []document{}
	for _, d := range s.documents {
		if slices.Contains(in.ContainerTags, d.tag) && in.Filters.match(d.Metadata) {
			copied := *d
			if in.IncludeContent == nil || !*in.IncludeContent {
				copied.Content = nil
			}
			found = append(found, copied)
		}
	}
	found, pages := page(&in, found, func(d document) string {
		if in.Sort == "createdAt" {
			return d.CreatedAt
		}
		return d.UpdatedAt
	})
	answer(w, map[string]any{"memories": found, "pagination": pages})
}

func (s *server) listMemories(w http.ResponseWriter, r *http.Request) {
	var in listing
	if !decode(w, r, &in, "containerTags", "page", "limit", "sort", "order") || !in.valid(w) {
		return
	}
	if in.Filters != nil || in.IncludeContent != nil || in.Sort != "createdAt" {
		refuse(w, http.StatusBadRequest, "unknown member")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []entry{}
	for _, m := range s.memories {
		if slices.Contains(in.ContainerTags, m.tag) {
			found = append(found, *m)
		}
	}
	found, pages := page(&in, found, func(m entry) string { return m.CreatedAt })
	answer(w, map[string]any{"memoryEntries": found, "pagination": pages})
}

func (s *server) add(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ContainerTag  string         `json:"containerTag"`
		Content       string         `json:"content"`
		CustomID      string         `json:"customId"`
		Dreaming      *string        `json:"dreaming"`
		EntityContext string         `json:"entityContext"`
		Metadata      map[string]any `json:"metadata"`
		TaskType      string         `json:"taskType"`
	}
	if !decode(w, r, &in, "containerTag", "content", "customId", "metadata", "taskType") || !validTag(w, in.ContainerTag, in.CustomID) {
		return
	}
	switch {
	case in.TaskType != "memory" && in.TaskType != "superrag", in.Dreaming != nil && *in.Dreaming != "instant" && *in.Dreaming != "dynamic",
		len([]rune(in.EntityContext)) > 1500, in.Content == "":
		refuse(w, http.StatusBadRequest, "invalid value")
		return
	}
	for _, value := range in.Metadata {
		switch value.(type) {
		case string, float64, bool, []any:
		default:
			refuse(w, http.StatusBadRequest, "metadata holds strings, numbers, booleans and lists of strings")
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.documents {
		if *d.CustomID != in.CustomID {
			continue
		}
		if d.tag != in.ContainerTag {
			refuse(w, http.StatusConflict, "customId is used elsewhere")
			return
		}
		d.UpdatedAt = s.tick()
		if d.raw != in.Content {
			d.raw = in.Content
			s.digest(d)
		}
		answer(w, map[string]string{"id": d.ID, "status": d.Status})
		return
	}
	d := &document{
		ID: s.id("doc"), CustomID: &in.CustomID, ContainerTags: []string{in.ContainerTag}, Metadata: in.Metadata, Type: "text", Status: "queued",
		TaskType: in.TaskType, CreatedAt: s.tick(), tag: in.ContainerTag, raw: in.Content,
	}
	d.UpdatedAt = d.CreatedAt
	s.documents = append(s.documents, d)
	status := d.Status
	if !s.slow {
		s.digest(d)
	}
	answer(w, map[string]string{"id": d.ID, "status": status})
}

// digest makes the memory of a document and the document readable.
func (s *server) digest(d *document) {
	whole := d.raw
	d.Content, d.Status = &whole, "done"
	s.memories = slices.DeleteFunc(s.memories, func(m *entry) bool { return slices.Contains(m.DocumentIDs, d.ID) })
	if d.TaskType != "memory" {
		return
	}
	content := whole
	if said, ok := strings.CutPrefix(whole, "[user]\n"); ok {
		content, _, _ = strings.Cut(said, "\n\n[assistant]\n")
		content = strings.TrimSpace(content)
	}
	now := s.tick()
	s.memories = append(s.memories, &entry{
		ID: s.id("mem"), Memory: content, Version: 1, IsLatest: true, CreatedAt: now, UpdatedAt: now, DocumentIDs: []string{d.ID}, tag: d.tag,
	})
}

func (s *server) digestAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.documents {
		s.digest(d)
	}
}

func (s *server) find(id string) *document {
	for _, d := range s.documents {
		if d.ID == id || *d.CustomID == id {
			return d
		}
	}
	return nil
}

func (s *server) getDocument(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.find(documentPath.FindStringSubmatch(r.URL.Path)[1]); d != nil {
		answer(w, d)
		return
	}
	refuse(w, http.StatusNotFound, "Document not found")
}

func (s *server) deleteDocument(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.find(documentPath.FindStringSubmatch(r.URL.Path)[1])
	if d == nil {
		refuse(w, http.StatusNotFound, "Document not found")
		return
	}
	if !s.keeps {
		s.documents = slices.DeleteFunc(s.documents, func(other *document) bool { return other == d })
	}
	w.WriteHeader(http.StatusNoContent) // its memories stay, which the reference leaves open
}

func (s *server) search(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Q            string   `json:"q"`
		ContainerTag string   `json:"containerTag"`
		SearchMode   string   `json:"searchMode"`
		Limit        int      `json:"limit"`
		Filters      *filters `json:"filters"`
		Include      struct {
			Documents bool `json:"documents"`
		} `json:"include"`
	}
	if !decode(w, r, &in, "q", "containerTag", "searchMode", "limit", "include") || !validTag(w, in.ContainerTag) {
		return
	}
	if in.Q == "" || in.Limit < 1 || in.Limit > 100 || !slices.Contains([]string{"hybrid", "memories", "documents"}, in.SearchMode) {
		refuse(w, http.StatusBadRequest, "invalid search")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var hits []map[string]any
	add := func(id, member, text, updated string, documents ...*document) {
		related := []map[string]any{}
		for _, d := range documents {
			if !in.Filters.match(d.Metadata) {
				return
			}
			related = append(related, map[string]any{
				"id": d.ID, "createdAt": d.CreatedAt, "updatedAt": d.UpdatedAt, "metadata": d.Metadata, "title": d.Title, "type": d.Type, "summary": d.Summary,
			})
		}
		if len(documents) == 0 && in.Filters != nil {
			return
		}
		if score := similarity(in.Q, text); score > 0 {
			hits = append(hits, map[string]any{
				"id": id, member: text, "similarity": score, "metadata": nil, "updatedAt": updated, "version": 1, "documents": related,
			})
		}
	}
	for _, m := range s.memories {
		if in.SearchMode == "documents" || m.tag != in.ContainerTag || m.IsForgotten || !m.IsLatest {
			continue
		}
		var documents []*document
		for _, id := range m.DocumentIDs {
			if d := s.find(id); d != nil {
				documents = append(documents, d)
			}
		}
		add(m.ID, "memory", m.Memory, m.UpdatedAt, documents...)
	}
	for _, d := range s.documents {
		if in.SearchMode != "memories" && d.tag == in.ContainerTag && d.Content != nil {
			add("chunk-"+d.ID, "chunk", *d.Content, d.UpdatedAt, d)
		}
	}
	slices.SortStableFunc(hits, func(a, b map[string]any) int {
		switch x, y := a["similarity"].(float64), b["similarity"].(float64); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	results := append([]map[string]any{}, hits[:min(in.Limit, len(hits))]...)
	answer(w, map[string]any{"results": results, "timing": 1, "total": len(hits)})
}

// similarity is the part of the query's words that a text has.
func similarity(query, text string) float64 {
	words := map[string]bool{}
	for _, word := range strings.Fields(strings.ToLower(text)) {
		words[word] = true
	}
	asked := map[string]bool{}
	for _, word := range strings.Fields(strings.ToLower(query)) {
		asked[word] = true
	}
	n := 0
	for word := range maps.Keys(asked) {
		if words[word] {
			n++
		}
	}
	return float64(n) / float64(len(asked))
}

func (s *server) forget(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ContainerTag string `json:"containerTag"`
		ID           string `json:"id"`
		Reason       string `json:"reason"`
	}
	if !decode(w, r, &in, "containerTag", "id") || !validTag(w, in.ContainerTag) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.memories {
		if m.ID == in.ID && m.tag == in.ContainerTag {
			m.IsForgotten = !s.keeps
			answer(w, map[string]any{"id": m.ID, "forgotten": true})
			return
		}
	}
	refuse(w, http.StatusNotFound, "Memory not found")
}

func (s *server) forgetMatching(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ContainerTag string   `json:"containerTag"`
		DryRun       *bool    `json:"dryRun"`
		Query        *string  `json:"query"`
		IDs          []string `json:"ids"`
		Threshold    *float64 `json:"threshold"`
		MaxForget    *int     `json:"maxForget"`
		Reason       string   `json:"reason"`
	}
	if !decode(w, r, &in, "containerTag", "dryRun") || !validTag(w, in.ContainerTag) {
		return
	}
	if *in.DryRun == (in.Query == nil) || *in.DryRun == (len(in.IDs) > 0) || !*in.DryRun && (in.Threshold != nil || in.MaxForget != nil) {
		refuse(w, http.StatusBadRequest, "query or ids")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []map[string]any{}
	for _, m := range s.memories {
		if m.tag != in.ContainerTag || m.IsForgotten {
			continue
		}
		score := 1.0
		if *in.DryRun {
			if score = similarity(*in.Query, m.Memory); score == 0 || in.Threshold != nil && score < *in.Threshold {
				continue
			}
		} else if !slices.Contains(in.IDs, m.ID) {
			continue
		}
		if in.MaxForget != nil && len(found) == *in.MaxForget {
			break
		}
		m.IsForgotten = !*in.DryRun
		found = append(found, map[string]any{"id": m.ID, "memory": m.Memory, "score": score})
	}
	reply := map[string]any{"dryRun": *in.DryRun, "count": len(found), "summary": "done"}
	if *in.DryRun {
		reply["forgetBatchId"], reply["candidates"] = nil, found
	} else {
		reply["forgetBatchId"], reply["forgotten"] = "batch1", found
	}
	answer(w, reply)
}

// Faults.

func says(status int, body string, header ...string) func(http.ResponseWriter, *http.Request, http.HandlerFunc) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func losesReply(_ http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
	serve(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// quick retries without making a test wait.
var quick = supermemory.Retry{Attempts: 3, FirstDelay: time.Millisecond, MaxDelay: 2 * time.Second}

func (s *server) provider(t testing.TB, change ...func(*supermemory.Options)) *supermemory.Provider {
	t.Helper()
	secret, err := supermemory.APIKey(apiKey)
	require.NoError(t, err)
	opts := &supermemory.Options{BaseURL: s.URL, HTTPClient: s.Client(), Retry: quick}
	for _, f := range change {
		f(opts)
	}
	p, err := supermemory.New(secret, opts)
	require.NoError(t, err)
	return p
}
