package upstash_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/recollect-go/recollect/provider/upstash"
)

const token = "AYz-s3cret_tokEN"

// server answers the REST protocol as the reference says, with the commands that this package needs, and refuses whatever
// else it is asked.
type server struct {
	*httptest.Server

	mu      sync.Mutex
	values  map[string]any // string, map[string]string (a hash), json.RawMessage (a JSON value)
	ttl     map[string]int
	indexes map[string]*index
	faults  []fault
	log     [][]string // every command that arrived
	syncs   []string   // the sync token of every request
	tokens  int
	scans   []string // the last key that the scan with this cursor, counted from 1, has seen

	lag     bool // records become searchable by SEARCH.WAITINDEXING only
	pending map[string]bool
}

type index struct{ prefix string }

// fault answers the next request that contains a command in place of the service, or after it.
type fault struct {
	command  string
	args     []string // and its arguments; nil means any
	act      func(w http.ResponseWriter, serve func() []byte)
	repeated []func(http.ResponseWriter, func() []byte) // when the same is sent again
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := startServer()
	t.Cleanup(s.Close)
	return s
}

func startServer() *server {
	s := &server{values: map[string]any{}, ttl: map[string]int{}, indexes: map[string]*index{}, pending: map[string]bool{}}
	s.Server = httptest.NewServer(s)
	return s
}

func (s *server) next(command string, acts ...func(http.ResponseWriter, func() []byte)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, act := range acts {
		s.faults = append(s.faults, fault{command: command, act: act})
	}
}

// nextOfOne arranges for the next request that contains a command, and for its repetitions, if it has any.
func (s *server) nextOfOne(command string, first func(http.ResponseWriter, func() []byte), repeated ...func(http.ResponseWriter, func() []byte)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fault{command: command, act: first, repeated: repeated})
}

func (s *server) count(command string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, c := range s.log {
		if c[0] == command {
			n++
		}
	}
	return n
}

func (s *server) set(key string, value any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key] = value
}

func (s *server) remove(keys ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.del(keys)
}

func (s *server) get(key string) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[key]
}

func (s *server) keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.values))
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		fail(w, http.StatusBadRequest, "ERR failed to read the request")
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+token {
		fail(w, http.StatusUnauthorized, "WRONGPASS invalid or missing auth token")
		return
	}
	for name := range r.Header {
		if !slices.Contains([]string{"Authorization", "Content-Type", "Content-Length", "User-Agent", "Accept-Encoding", "Upstash-Encoding", "Upstash-Sync-Token"}, name) {
			fail(w, http.StatusBadRequest, "ERR unknown header")
			return
		}
	}
	commands, serve, problem := s.parse(r, body)
	if problem != "" {
		fail(w, http.StatusBadRequest, "ERR "+problem)
		return
	}
	s.mu.Lock()
	s.log = append(s.log, commands...)
	s.syncs = append(s.syncs, r.Header.Get("Upstash-Sync-Token"))
	s.tokens++
	sync := strconv.Itoa(s.tokens)
	act := s.takeFault(commands)
	s.mu.Unlock()
	if act != nil {
		act(w, serve)
		return
	}
	answer := serve()
	w.Header().Set("Upstash-Sync-Token", sync)
	w.Header().Set("Content-Type", "application/json")
	if strings.HasPrefix(string(answer), `{"error"`) {
		w.WriteHeader(http.StatusBadRequest)
	}
	w.Write(answer)
}

// parse returns the commands of a request and a function that carries them out and returns the body of the answer.
func (s *server) parse(r *http.Request, body []byte) (commands [][]string, serve func() []byte, problem string) {
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Upstash-Encoding") != "base64" {
		return nil, nil, "not a command in JSON whose answer is to be in base64"
	}
	if !utf8.Valid(body) {
		return nil, nil, "not UTF-8"
	}
	switch r.URL.RequestURI() {
	case "/":
		var command []string
		if err := json.Unmarshal(body, &command); err != nil || len(command) == 0 {
			return nil, nil, "a command is an array of strings"
		}
		return [][]string{command}, func() []byte { return encode(s.do(command)) }, ""
	case "/pipeline":
		if err := json.Unmarshal(body, &commands); err != nil || len(commands) == 0 {
			return nil, nil, "a pipeline is an array of commands"
		}
		return commands, func() []byte {
			var answers []json.RawMessage
			for _, command := range commands {
				answers = append(answers, encode(s.do(command)))
			}
			text, _ := json.Marshal(answers)
			return text
		}, ""
	}
	return nil, nil, "unknown endpoint"
}

func (s *server) takeFault(commands [][]string) func(http.ResponseWriter, func() []byte) {
	for i, f := range s.faults {
		for _, command := range commands {
			if command[0] == f.command && (f.args == nil || slices.Equal(command[1:], f.args)) {
				s.faults = slices.Delete(s.faults, i, i+1)
				for _, act := range f.repeated {
					s.faults = append(s.faults, fault{command: f.command, args: command[1:], act: act})
				}
				return f.act
			}
		}
	}
	return nil
}

func fail(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"error": text})
}

type redisError string

// encode writes the answer to one command.
func encode(result any) []byte {
	if text, ok := result.(redisError); ok {
		body, _ := json.Marshal(map[string]string{"error": string(text)})
		return body
	}
	body, _ := json.Marshal(map[string]any{"result": inBase64(result)})
	return body
}

type status string

func inBase64(v any) any {
	switch v := v.(type) {
	case status:
		if v == "OK" {
			return v
		}
		return base64.StdEncoding.EncodeToString([]byte(v))
	case string:
		return base64.StdEncoding.EncodeToString([]byte(v))
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = inBase64(v[i])
		}
		return list
	}
	return v
}

const wrongType = redisError("WRONGTYPE Operation against a key holding the wrong kind of value")

func syntax(command []string) redisError {
	return redisError(fmt.Sprintf("ERR unknown or wrong command, with args beginning with: %q", command))
}

func (s *server) do(command []string) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, args := command[0], command[1:]
	switch {
	case name == "HGETALL" && len(args) == 1:
		return s.hgetall(args[0])
	case name == "TYPE" && len(args) == 1:
		return s.kind(args[0])
	case name == "EVAL" && len(args) >= 3 && args[1] == "1":
		return s.eval(args[0], args[2], args[3:])
	case name == "SCAN" && len(args) == 5 && args[1] == "MATCH" && args[3] == "COUNT":
		return s.scan(args[0], args[2], args[4])
	case name == "DEL" && len(args) > 0:
		return s.del(args)
	case name == "EXISTS" && len(args) > 0:
		return s.exists(args)
	case name == "GET" && len(args) == 1:
		if text, ok := s.values[args[0]].(string); ok {
			return text
		}
		return nil
	case name == "SET" && len(args) == 5 && args[2] == "EX" && args[4] == "NX":
		return s.setNX(args[0], args[1], args[3])
	case name == "JSON.GET" && len(args) == 2 && args[1] == "$":
		if document, ok := s.values[args[0]].(json.RawMessage); ok {
			return "[" + string(document) + "]"
		}
		return nil
	case name == "JSON.SET" && (len(args) == 3 || len(args) == 4 && (args[3] == "NX" || args[3] == "XX")) && args[1] == "$":
		return s.jsonSet(args)
	case strings.HasPrefix(name, "SEARCH.") && len(args) > 0:
		return s.search(name, args)
	}
	return syntax(command)
}

func (s *server) hgetall(key string) any {
	hash, ok := s.values[key].(map[string]string)
	if !ok && s.values[key] != nil {
		return wrongType
	}
	list := []any{}
	for field, value := range hash {
		list = append(list, field, value)
	}
	return list
}

func (s *server) kind(key string) any {
	switch s.values[key].(type) {
	case nil:
		return status("none")
	case string:
		return status("string")
	case map[string]string:
		return status("hash")
	}
	return status("ReJSON-RL")
}

// eval does what the two scripts say. That they say it is tested against a real server elsewhere.
func (s *server) eval(script, key string, args []string) any {
	hash, isHash := s.values[key].(map[string]string)
	version := hash["version"]
	_, hasContent := hash["content"]
	switch {
	case !isHash && s.values[key] != nil:
		return []any{"shape", string(s.kind(key).(status))}
	case isHash && (version == "" || !hasContent):
		return []any{"shape", "hash"}
	case script == upstash.WriteScript && len(args) == 4:
		if version == args[2] {
			return []any{"done"}
		}
		if version != args[1] {
			return []any{"conflict", version}
		}
		s.values[key] = map[string]string{"content": args[0], "version": args[2]}
		s.ttl[key], _ = strconv.Atoi(args[3])
		return []any{"done"}
	case script == upstash.DeleteScript && len(args) == 1:
		if version == "" {
			return []any{"done"}
		}
		if version != args[0] {
			return []any{"conflict", version}
		}
		delete(s.values, key)
		return []any{"done"}
	}
	return redisError("ERR unknown script")
}

// scan gives one key more than was asked for, as a server may. A key that is there all the time is found whatever else is deleted.
func (s *server) scan(cursor, pattern, count string) any {
	at, err1 := strconv.Atoi(cursor)
	n, err2 := strconv.Atoi(count)
	if err1 != nil || err2 != nil || n < 1 || at < 0 || at > len(s.scans) {
		return redisError("ERR invalid cursor")
	}
	last := ""
	if at > 0 {
		last = s.scans[at-1]
	}
	found, looked := []any{}, 0
	for _, key := range slices.Sorted(maps.Keys(s.values)) {
		if key <= last {
			continue
		}
		if looked > n {
			s.scans = append(s.scans, last)
			return []any{strconv.Itoa(len(s.scans)), found}
		}
		looked, last = looked+1, key
		if ok, err := path.Match(pattern, key); err != nil {
			return redisError("ERR invalid pattern")
		} else if ok {
			found = append(found, key)
		}
	}
	return []any{"0", found}
}

func (s *server) del(keys []string) any {
	n := 0
	for _, key := range keys {
		if _, ok := s.values[key]; ok {
			delete(s.values, key)
			n++
		}
	}
	return n
}

func (s *server) exists(keys []string) any {
	n := 0
	for _, key := range keys {
		if s.values[key] != nil {
			n++
		}
	}
	return n
}

func (s *server) setNX(key, value, seconds string) any {
	ttl, err := strconv.Atoi(seconds)
	if err != nil || ttl < 1 {
		return redisError("ERR invalid expire time in 'set' command")
	}
	if _, ok := s.values[key]; ok {
		return nil
	}
	s.values[key], s.ttl[key] = value, ttl
	return status("OK")
}

// record is what the reference says that a record holds: exactly these members.
type record struct {
	Text      *string  `json:"text"`
	UserID    *string  `json:"userId"`
	CreatedAt *int64   `json:"createdAt"`
	SessionID *string  `json:"sessionId"`
	Source    *string  `json:"source"`
	Deleted   *bool    `json:"deleted"`
	Sequence  *float64 `json:"sequence"`
	SubIndex  *float64 `json:"subIndex"`
}

func (s *server) jsonSet(args []string) any {
	var r record
	decoder := json.NewDecoder(strings.NewReader(args[2]))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil || r.Text == nil || r.UserID == nil || r.CreatedAt == nil || r.SessionID == nil || r.Source == nil ||
		r.Deleted == nil || r.Sequence == nil || r.SubIndex == nil {
		return redisError("ERR not a record")
	}
	if exists := s.values[args[0]] != nil; len(args) == 4 && exists != (args[3] == "XX") {
		return nil
	}
	s.values[args[0]] = json.RawMessage(args[2])
	s.pending[args[0]] = s.lag
	return status("OK")
}

const schema = "SCHEMA text TEXT userId TEXT NOTOKENIZE sessionId TEXT NOTOKENIZE source TEXT NOTOKENIZE deleted BOOL sequence F64 FAST subIndex F64 FAST"

func (s *server) search(name string, args []string) any {
	ix := s.indexes[args[0]]
	switch {
	case name == "SEARCH.CREATE":
		if len(args) < 7 || strings.Join(args[1:6], " ") != "EXISTSOK ON JSON PREFIX 1" || strings.Join(args[7:], " ") != schema {
			return redisError("ERR unknown schema")
		}
		if ix != nil {
			return 0
		}
		s.indexes[args[0]] = &index{prefix: args[6]}
		return 1
	case name == "SEARCH.WAITINDEXING" && len(args) == 1:
		if ix == nil {
			return redisError("ERR index not found")
		}
		clear(s.pending)
		return 1
	case name == "SEARCH.COUNT" && len(args) == 2:
		if ix == nil {
			return -1
		}
		hits, problem := s.match(ix, args[1])
		if problem != "" {
			return redisError(problem)
		}
		return len(hits)
	case name == "SEARCH.QUERY" && len(args) >= 2:
		if ix == nil {
			return nil
		}
		return s.query(ix, args[1], args[2:])
	}
	return redisError("ERR unknown search command")
}

type hit struct {
	key    string
	score  float64
	record record
	raw    json.RawMessage
}

func (s *server) query(ix *index, filter string, options []string) any {
	hits, problem := s.match(ix, filter)
	if problem != "" {
		return redisError(problem)
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return int(math.Copysign(1, b.score-a.score)) })
	limit, offset := len(hits), 0
	for len(options) > 0 {
		switch {
		case len(options) >= 2 && options[0] == "LIMIT":
			limit, _ = strconv.Atoi(options[1])
			options = options[2:]
		case len(options) >= 2 && options[0] == "OFFSET":
			offset, _ = strconv.Atoi(options[1])
			options = options[2:]
		case len(options) >= 3 && options[0] == "ORDERBY" && options[1] == "sequence" && options[2] == "ASC":
			slices.SortStableFunc(hits, func(a, b hit) int { return int(*a.record.Sequence - *b.record.Sequence) })
			options = options[3:]
		default:
			return redisError("ERR unknown option")
		}
	}
	hits = hits[min(offset, len(hits)):]
	rows := []any{}
	for _, h := range hits[:min(limit, len(hits))] {
		rows = append(rows, []any{h.key, strconv.FormatFloat(h.score, 'f', -1, 64), []any{[]any{"$", string(h.raw)}}})
	}
	return rows
}

// match returns the records that a filter selects. $smart scores a record by the words that it shares with the query, rare ones more.
func (s *server) match(ix *index, filter string) ([]hit, string) {
	var f map[string]map[string]json.RawMessage
	if err := json.Unmarshal([]byte(filter), &f); err != nil || f["userId"] == nil {
		return nil, "ERR invalid filter, or one without userId"
	}
	var hits []hit
	for _, key := range slices.Sorted(maps.Keys(s.values)) {
		raw, ok := s.values[key].(json.RawMessage)
		if !ok || !strings.HasPrefix(key, ix.prefix) || s.pending[key] {
			continue
		}
		var r record
		if json.Unmarshal(raw, &r) != nil {
			continue
		}
		selected, problem := r.satisfies(f)
		if problem != "" {
			return nil, problem
		}
		if selected {
			hits = append(hits, hit{key, 0, r, raw})
		}
	}
	if f["text"] == nil {
		return hits, ""
	}
	var query string
	if err := json.Unmarshal(f["text"]["$smart"], &query); err != nil {
		return nil, "ERR invalid text filter"
	}
	return rank(hits, query), ""
}

func (r *record) satisfies(filter map[string]map[string]json.RawMessage) (bool, string) {
	for field, condition := range filter {
		if field == "text" {
			continue
		}
		want, ok := condition["$eq"]
		if !ok || len(condition) != 1 {
			return false, "ERR unknown operator"
		}
		var have any
		switch field {
		case "userId":
			have = *r.UserID
		case "sessionId":
			have = *r.SessionID
		case "source":
			have = *r.Source
		case "deleted":
			have = *r.Deleted
		default:
			return false, "ERR unknown field"
		}
		if text, _ := json.Marshal(have); string(text) != string(want) {
			return false, ""
		}
	}
	return true, ""
}

func rank(hits []hit, query string) []hit {
	having := map[string]int{}
	for _, h := range hits {
		for word := range words(*h.record.Text) {
			having[word]++
		}
	}
	var ranked []hit
	for _, h := range hits {
		for word := range words(*h.record.Text) {
			if words(query)[word] {
				h.score += 1 / float64(having[word])
			}
		}
		if h.score > 0 {
			ranked = append(ranked, h)
		}
	}
	return ranked
}

func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(strings.ToLower(text)) {
		set[strings.Trim(word, ".,?!:;")] = true
	}
	delete(set, "")
	return set
}

// Faults.

func b64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func hangsUp(http.ResponseWriter, func() []byte) { panic(http.ErrAbortHandler) }

func losesReply(_ http.ResponseWriter, serve func() []byte) {
	serve()
	panic(http.ErrAbortHandler)
}

// then does the work, then something else behind the client's back, and loses the answer.
func then(after func()) func(http.ResponseWriter, func() []byte) {
	return func(_ http.ResponseWriter, serve func() []byte) {
		serve()
		after()
		panic(http.ErrAbortHandler)
	}
}

func answers(code int, text string) func(http.ResponseWriter, func() []byte) {
	return func(w http.ResponseWriter, _ func() []byte) { fail(w, code, text) }
}

func says(code int, body string) func(http.ResponseWriter, func() []byte) {
	return func(w http.ResponseWriter, _ func() []byte) {
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

func thenSays(code int, body string) func(http.ResponseWriter, func() []byte) {
	return func(w http.ResponseWriter, serve func() []byte) {
		serve()
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// quick retries without making a test wait.
var quick = upstash.Retry{Attempts: 3, FirstDelay: time.Millisecond, MaxDelay: 2 * time.Millisecond}
