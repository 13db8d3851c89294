package supermemory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

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
	extractDescription = "Hand over a text, or the address of a page, so that it is digested and can be read later, by the id that this returns. This takes a while. To keep a " +
		"fact from it, read the document when it is done and use remember: search finds what was remembered, and not the text."
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

// idGrammar keeps an id from being anything but one part of a path.
var idGrammar = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$`)

// input is an error that the model can act on.
func input(problem string) error { return fmt.Errorf("%w: %s", memory.ErrToolInput, problem) }

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
