package supermemory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/memory"
)

// Names of the tools, which are those of the service's provider for eve. The model sees them behind the slot's name and two
// underscores.
const (
	searchName         = "search"
	readSessionName    = "read_session"
	readDocumentName   = "read_document"
	rememberName       = "remember"
	extractName        = "extract"
	forgetName         = "forget"
	forgetMatchingName = "forget_matching"
)

var toolNames = []string{searchName, readSessionName, readDocumentName, rememberName, extractName, forgetName, forgetMatchingName}

const (
	searchDescription = "Search what is remembered: memories, documents and earlier conversations. What fits the current message is shown by itself; " +
		"search when you need something else. Results have the ids that the other tools take."
	readSessionDescription = "Read an earlier conversation, oldest turn first, by its name, which the list of last conversations shows. " +
		"With `next_page`, go on from there; a turn that is too long has the id of a document to read instead."
	readDocumentDescription = "Read a document by its id. A long one comes in parts: with `next`, go on from there. One whose status is not done is " +
		"still being digested."
	rememberDescription = "Remember one fact that will still matter in later conversations: a lasting preference, a decision, who or what somebody works with. " +
		"What people say in conversations is remembered by itself; use this when they ask for it or when it must not be missed. Write a short self-contained " +
		"text. Never remember passwords, tokens, keys, payment data or one-time codes. It can be found after a while."
	extractDescription = "Hand over a text, or the address of a page, so that it is digested and can be searched and read later. This takes a while. To keep a fact from it, " +
		"read the document when it is done and use remember."
	forgetDescription         = "Forget one memory by its id, which search shows. To forget a whole subject use forget_matching."
	forgetMatchingDescription = "Forget every memory about a subject, in two steps. First call it with a query: it returns the memories that match and forgets nothing. " +
		"Then, if they are the right ones, call it with their ids: those are forgotten."
)

var (
	searchSchema = json.RawMessage(`{"type":"object","properties":{` +
		`"query":{"type":"string","minLength":1,"maxLength":2000,"description":"What to look for."},` +
		`"within":{"type":"string","enum":["all","memories","documents","conversations"],"description":"Where to look; everywhere if left out."},` +
		`"source":{"type":"string","minLength":1,"description":"Look only at what has this source id."}},` +
		`"required":["query"],"additionalProperties":false}`)
	readSessionSchema = json.RawMessage(`{"type":"object","properties":{` +
		`"conversation":{"type":"string","minLength":1,"description":"The conversation's name."},` +
		`"page":{"type":"integer","minimum":1,"description":"The page to read; the first if left out."}},` +
		`"required":["conversation"],"additionalProperties":false}`)
	readDocumentSchema = json.RawMessage(`{"type":"object","properties":{` +
		`"id":{"type":"string","pattern":"^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$","description":"The document's id."},` +
		`"offset":{"type":"integer","minimum":0,"description":"Where to go on; the beginning if left out."}},` +
		`"required":["id"],"additionalProperties":false}`)
	rememberSchema = json.RawMessage(`{"type":"object","properties":{` +
		`"memory":{"type":"string","minLength":1,"maxLength":3000,"description":"The fact, in at most 180 words."},` +
		`"document":{"type":"string","description":"The id of the extracted document that it comes from, if any."}},` +
		`"required":["memory"],"additionalProperties":false}`)
	extractSchema = json.RawMessage(`{"type":"object","properties":{` +
		`"kind":{"type":"string","enum":["text","url"]},` +
		`"value":{"type":"string","minLength":1,"description":"The text, or the address."},` +
		`"title":{"type":"string","description":"What it is, in a few words."}},` +
		`"required":["kind","value"],"additionalProperties":false}`)
	forgetSchema = json.RawMessage(`{"type":"object","properties":{` +
		`"id":{"type":"string","pattern":"^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$","description":"The memory's id."},` +
		`"reason":{"type":"string","description":"Why, in a few words."}},` +
		`"required":["id"],"additionalProperties":false}`)
	forgetMatchingSchema = json.RawMessage(`{"type":"object","properties":{` +
		`"query":{"type":"string","minLength":1,"maxLength":2000,"description":"The subject, in the first step."},` +
		`"ids":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":500,"description":"The memories to forget, in the second step."},` +
		`"threshold":{"type":"number","minimum":0,"maximum":1,"description":"How well a memory must match, in the first step."},` +
		`"limit":{"type":"integer","minimum":1,"maximum":500,"description":"How many memories at most, in the first step."},` +
		`"reason":{"type":"string","description":"Why, in a few words."}},"additionalProperties":false}`)
)

// tools returns the tools of a turn, bound to its key.
func (p *Provider) tools(_ context.Context, r *memory.ToolsRequest) ([]memory.Tool, error) {
	tags, err := p.tags("tools", r.Key)
	if err != nil {
		return nil, err
	}
	b := &bound{provider: p, tags: tags, session: r.Session.ID}
	search, err1 := memory.NewTool(searchName, searchDescription, searchSchema, b.search)
	readSession, err2 := memory.NewTool(readSessionName, readSessionDescription, readSessionSchema, b.readSession)
	readDocument, err3 := memory.NewTool(readDocumentName, readDocumentDescription, readDocumentSchema, b.readDocument)
	remember, err4 := memory.NewTool(rememberName, rememberDescription, rememberSchema, b.remember)
	extract, err5 := memory.NewTool(extractName, extractDescription, extractSchema, b.extract)
	forget, err6 := memory.NewTool(forgetName, forgetDescription, forgetSchema, b.forget)
	forgetMatching, err7 := memory.NewTool(forgetMatchingName, forgetMatchingDescription, forgetMatchingSchema, b.forgetMatching)
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7); err != nil {
		return nil, failed("tools", err)
	}
	remember.Approval, extract.Approval = p.opts.ApproveRemember, p.opts.ApproveExtract
	forget.Approval, forgetMatching.Approval = p.opts.ApproveForget, p.opts.ApproveForget
	return []memory.Tool{search, readSession, readDocument, remember, extract, forget, forgetMatching}, nil
}

// bound is what the tools of one turn share.
type bound struct {
	provider *Provider
	tags     tags
	session  string
}

type searchInput struct {
	Query  string `json:"query"`
	Within string `json:"within,omitempty"`
	Source string `json:"source,omitempty"`
}

type searchOutput struct {
	Results []searchResult `json:"results"`
}

type searchResult struct {
	ID         string   `json:"id"`
	Kind       string   `json:"kind"` // memory or document
	Text       string   `json:"text"`
	Similarity float64  `json:"similarity"`
	Updated    string   `json:"updated"`
	Documents  []source `json:"documents"`
}

type source struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	Type  string `json:"type,omitempty"`
}

const toolResults = 10

// modes are the service's names for where to look.
var modes = map[string]string{"": "hybrid", "all": "hybrid", "memories": "memories", "documents": "documents", "conversations": "hybrid"}

func (b *bound) search(ctx context.Context, in searchInput) (searchOutput, error) {
	query := ecma.Trim(in.Query)
	if err := checkQuery(query); err != nil {
		return searchOutput{}, err
	}
	mode, known := modes[in.Within]
	if !known {
		return searchOutput{}, input("within is none of all, memories, documents and conversations")
	}
	var conditions []condition
	if in.Within == "conversations" {
		conditions = append(conditions, condition{"source_type", "conversation"})
	}
	if in.Source != "" {
		conditions = append(conditions, condition{"source_id", in.Source})
	}
	found, err := b.provider.api.search(ctx, searchName, searchFor(b.tags.context, query, mode, toolResults, conditions...))
	if err != nil {
		return searchOutput{}, err
	}
	out := searchOutput{Results: make([]searchResult, len(found))}
	for i := range found {
		out.Results[i] = found[i].forModel()
	}
	return out, nil
}

func checkQuery(query string) error {
	if query == "" {
		return input("query is blank; say what to look for")
	}
	if n := ecma.UTF16Len(query); n > maxQueryCharacters {
		return input(fmt.Sprintf("query has %d characters, at most %d; use fewer words", n, maxQueryCharacters))
	}
	return nil
}

func (r *result) forModel() searchResult {
	out := searchResult{ID: r.ID, Kind: "document", Text: r.text(), Similarity: r.Similarity, Updated: r.UpdatedAt, Documents: []source{}}
	if !ecma.IsBlank(r.Memory) {
		out.Kind = "memory"
	}
	for _, d := range r.Documents {
		out.Documents = append(out.Documents, source{ID: d.ID, Title: orEmpty(d.Title), Type: orEmpty(d.Type)})
	}
	return out
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

type rememberInput struct {
	Memory   string `json:"memory"`
	Document string `json:"document,omitempty"`
}

type addOutput struct {
	Document string `json:"document"`
	Status   string `json:"status"`
}

const (
	maxMemoryCharacters = 3000
	maxMemoryWords      = 180
)

func (b *bound) remember(ctx context.Context, in rememberInput) (addOutput, error) {
	text := ecma.Trim(in.Memory)
	if err := checkMemory(text); err != nil {
		return addOutput{}, err
	}
	metadata := map[string]any{
		"source": metadataSource, "source_type": "memory", "source_id": "memory_" + b.session,
		"conversation_id": conversationID(b.session), "session_id": b.session,
	}
	if in.Document != "" {
		d, err := b.fetch(ctx, rememberName, in.Document, b.tags.extraction)
		if err != nil {
			return addOutput{}, err
		}
		if d.Status != statusDone {
			return addOutput{}, input("document is still being digested; read it again later, then remember")
		}
		metadata["source_document_id"] = d.ID
	}
	added, err := b.provider.api.add(ctx, rememberName, &addRequest{
		ContainerTag: b.tags.context, Content: text, CustomID: newID("memory"),
		Dreaming: DreamingInstant, Metadata: metadata, TaskType: TaskMemory,
	})
	if err != nil {
		return addOutput{}, err
	}
	return addOutput{Document: added.ID, Status: added.Status}, nil
}

func checkMemory(text string) error {
	switch {
	case text == "":
		return input("memory is blank; write the fact")
	case ecma.UTF16Len(text) > maxMemoryCharacters, len(strings.FieldsFunc(text, ecma.IsSpace)) > maxMemoryWords:
		return input(fmt.Sprintf("memory is too long, at most %d characters and %d words; say it shorter or remember several facts",
			maxMemoryCharacters, maxMemoryWords))
	case isAddress(text):
		// The service would fetch the page in place of the text.
		return input("memory is only an address; say what is to be remembered, or use extract")
	}
	return nil
}

// isAddress reports whether text is one web address and nothing else.
func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && strings.IndexFunc(text, ecma.IsSpace) < 0
}

type extractInput struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
	Title string `json:"title,omitempty"`
}

func (b *bound) extract(ctx context.Context, in extractInput) (addOutput, error) {
	value := ecma.Trim(in.Value)
	switch {
	case in.Kind != "text" && in.Kind != "url":
		return addOutput{}, input("kind is neither text nor url")
	case value == "":
		return addOutput{}, input("value is blank")
	case (in.Kind == "url") != isAddress(value):
		return addOutput{}, input("an address has the kind url, and nothing else has")
	}
	id := newID("extraction")
	metadata := map[string]any{
		"source": metadataSource, "source_type": "extraction", "source_id": id, "session_id": b.session, "input_type": in.Kind,
	}
	if in.Title != "" {
		metadata["title"] = in.Title
	}
	added, err := b.provider.api.add(ctx, extractName, &addRequest{
		ContainerTag: b.tags.extraction, Content: value, CustomID: id, Metadata: metadata, TaskType: TaskSuperRAG,
	})
	if err != nil {
		return addOutput{}, err
	}
	return addOutput{Document: added.ID, Status: added.Status}, nil
}

type forgetInput struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitempty"`
}

type forgetOutput struct {
	ID        string `json:"id"`
	Forgotten bool   `json:"forgotten"` // false: there is no such memory
}

func (b *bound) forget(ctx context.Context, in forgetInput) (forgetOutput, error) {
	if !idGrammar.MatchString(in.ID) {
		return forgetOutput{}, input("id is not one that was shown")
	}
	reply, err := b.provider.api.forget(ctx, forgetName, &forgetRequest{ContainerTag: b.tags.context, ID: in.ID, Reason: in.Reason})
	if errors.Is(err, ErrNotFound) {
		return forgetOutput{ID: in.ID}, nil
	}
	if err != nil {
		return forgetOutput{}, err
	}
	return forgetOutput{ID: in.ID, Forgotten: reply.Forgotten}, nil
}

type forgetMatchingInput struct {
	Query     string   `json:"query,omitempty"`
	IDs       []string `json:"ids,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"`
	Limit     *int     `json:"limit,omitempty"`
	Reason    string   `json:"reason,omitempty"`
}

type forgetMatchingOutput struct {
	Forgotten bool        `json:"forgotten"` // false: this is a preview
	Count     int         `json:"count"`
	Memories  []candidate `json:"memories"`
}

const maxForgotten = 500

func (b *bound) forgetMatching(ctx context.Context, in forgetMatchingInput) (forgetMatchingOutput, error) {
	query := ecma.Trim(in.Query)
	r := &matchingRequest{ContainerTag: b.tags.context, Reason: in.Reason}
	switch {
	case (query == "") == (len(in.IDs) == 0):
		return forgetMatchingOutput{}, input("give either a query, to see what matches, or the ids of what is to be forgotten")
	case query != "":
		if err := errors.Join(checkQuery(query), in.checkBounds()); err != nil {
			return forgetMatchingOutput{}, err
		}
		r.DryRun, r.Query, r.Threshold, r.MaxForget = true, query, in.Threshold, in.Limit
	default:
		if err := in.checkIDs(); err != nil {
			return forgetMatchingOutput{}, err
		}
		r.IDs = in.IDs
	}
	reply, err := b.provider.api.forgetMatching(ctx, r)
	if err != nil {
		return forgetMatchingOutput{}, err
	}
	found := reply.Candidates
	if !r.DryRun {
		found = reply.Forgotten
	}
	if found == nil {
		found = []candidate{}
	}
	return forgetMatchingOutput{Forgotten: !r.DryRun, Count: reply.Count, Memories: found}, nil
}

func (in *forgetMatchingInput) checkBounds() error {
	if in.Threshold != nil && (*in.Threshold < 0 || *in.Threshold > 1) {
		return input("threshold is not between 0 and 1")
	}
	if in.Limit != nil && (*in.Limit < 1 || *in.Limit > maxForgotten) {
		return input(fmt.Sprintf("limit is not between 1 and %d", maxForgotten))
	}
	return nil
}

func (in *forgetMatchingInput) checkIDs() error {
	if len(in.IDs) > maxForgotten {
		return input(fmt.Sprintf("more than %d ids; forget them in several calls", maxForgotten))
	}
	if in.Threshold != nil || in.Limit != nil {
		return input("threshold and limit belong to the first step")
	}
	for _, id := range in.IDs {
		if !idGrammar.MatchString(id) {
			return input("an id is not one that was shown")
		}
	}
	return nil
}

// idGrammar keeps an id from being anything but one part of a path.
var idGrammar = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$`)

// input is an error that the model can act on.
func input(problem string) error { return fmt.Errorf("%w: %s", memory.ErrToolInput, problem) }
