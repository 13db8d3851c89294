package notes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/memory"
)

// Names of the tools. The model sees them behind the slot's name and two underscores.
const (
	saveName   = "save"
	searchName = "search"
	readName   = "read"
	forgetName = "forget"

	longestTool = forgetName
)

const (
	defaultSearched = 5
	maxSearched     = 25

	// excerptBytes is how much of a note a list shows; read shows all of it.
	excerptBytes = 1000
)

const saveDescription = "Remember one fact that will still matter in later conversations: a lasting preference, a decision, who or what somebody works " +
	"with. Write one short self-contained sentence. Never save passwords, tokens, keys, payment data or one-time codes. A fact that is remembered already is not " +
	"saved twice. To correct a fact, give its id as `replaces`."

const searchDescription = "Search all that is remembered: facts, and what was said in earlier conversations. What fits the current message may have been shown by " +
	"itself; search when something else is needed. Words that occur in what is looked for find it best; names and dates help."

const readDescription = "Read one remembered note whole, with where it comes from, by the id that recalled notes and search results show."

const forgetDescription = "Forget for good. Give `id` to forget one note. To forget a whole subject give `query`: that removes nothing yet, " +
	"it lists the notes that have all of its words, and a code. When every note of the list is to go, call again with the same `query` and the code as `confirm`."

var (
	saveSchema = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","minLength":1,"description":"The fact, in one sentence."},` +
		`"replaces":{"type":"string","minLength":1,"description":"The id of the remembered fact that this one corrects."}},` +
		`"required":["text"],"additionalProperties":false}`)
	searchSchema = json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","minLength":1,"description":"What to look for."},` +
		`"limit":{"type":"integer","minimum":1,"maximum":25,"description":"How many facts, and how many utterances, at most; 5 if left out."}},` +
		`"required":["query"],"additionalProperties":false}`)
	readSchema = json.RawMessage(`{"type":"object","properties":{"id":{"type":"string","minLength":1,"description":"The id of the note."}},` +
		`"required":["id"],"additionalProperties":false}`)
	forgetSchema = json.RawMessage(`{"type":"object","properties":{"id":{"type":"string","minLength":1,"description":"The id of the one note to forget."},` +
		`"query":{"type":"string","minLength":1,"description":"The words that every note to forget has."},` +
		`"confirm":{"type":"string","minLength":1,"description":"The code that came with the list for this query."}},"additionalProperties":false}`)
)

// tools returns the tools of a turn, bound to its key.
func (p *Provider) tools(_ context.Context, r *memory.ToolsRequest) ([]memory.Tool, error) {
	b := &bound{Provider: p, operation: r.Operation, turn: r.Turn.ID}
	search, err1 := memory.NewTool(searchName, searchDescription, searchSchema, b.search)
	read, err2 := memory.NewTool(readName, readDescription, readSchema, b.read)
	save, err3 := memory.NewTool(saveName, saveDescription, saveSchema, b.save)
	forget, err4 := memory.NewTool(forgetName, forgetDescription, forgetSchema, b.forget)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	if p.opts.ReadOnly {
		return []memory.Tool{search, read}, nil
	}
	save.Approval, forget.Approval = p.opts.ApproveSave, b.approveForget
	return []memory.Tool{save, search, read, forget}, nil
}

// bound is what the tools of one turn share.
type bound struct {
	*Provider
	operation memory.Operation
	turn      string
}

type saveInput struct {
	Text     string `json:"text"`
	Replaces string `json:"replaces,omitempty"`
}

type saveOutput struct {
	ID    string `json:"id"`
	Saved bool   `json:"saved"` // false: it was remembered already
}

func (b *bound) save(ctx context.Context, in saveInput) (saveOutput, error) {
	if err := b.validate(ctx, &b.operation, Fact, SourceSaved, in.Text); err != nil {
		return saveOutput{}, failed(ctx, "save", err)
	}
	if in.Replaces != "" {
		id, err := b.store.Replace(ctx, b.operation.Key, in.Replaces, in.Text, SourceSaved)
		return saveOutput{id, err == nil}, err
	}
	added, err := b.store.Add(ctx, b.operation.Key, Draft{Kind: Fact, Text: in.Text, Provenance: Provenance{
		Source: SourceSaved, Session: b.operation.Session.ID, Turn: b.turn, Said: b.store.opts.Now().UTC(),
	}})
	if err != nil {
		return saveOutput{}, err
	}
	return saveOutput{added[0].ID, added[0].Added}, nil
}

type searchInput struct {
	Query string `json:"query"`
	Limit *int   `json:"limit,omitempty"`
}

type searchOutput struct {
	Facts      []excerpt `json:"facts"`
	Utterances []excerpt `json:"utterances"`
}

// excerpt is a note in a list.
type excerpt struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	By   string `json:"by,omitempty"`
	Date string `json:"date"`
	// Of is how many bytes the text has when only its beginning is given.
	Of int `json:"beginningOfBytes,omitempty"`
}

func (b *bound) search(ctx context.Context, in searchInput) (searchOutput, error) {
	if ecma.IsBlank(in.Query) {
		return searchOutput{}, badInput("query is blank; say what to look for")
	}
	limit := defaultSearched
	if in.Limit != nil {
		if limit = *in.Limit; limit < 1 || limit > maxSearched {
			return searchOutput{}, badInput(fmt.Sprintf("limit is not between 1 and %d", maxSearched))
		}
	}
	found, err := b.store.Search(ctx, b.operation.Key, &SearchRequest{Query: in.Query, Facts: limit, Utterances: limit})
	if err != nil {
		return searchOutput{}, err
	}
	return searchOutput{excerpts(found.Facts), excerpts(found.Utterances)}, nil
}

func excerpts(hits []Hit) []excerpt {
	out := make([]excerpt, len(hits))
	for i := range hits {
		out[i] = excerptOf(&hits[i].Note)
	}
	return out
}

func excerptOf(n *Note) excerpt {
	e := excerpt{ID: n.ID, Text: n.Text, By: n.Author, Date: n.Updated.Format("2006-01-02")}
	if e.By == "" {
		e.By = n.Role
	}
	if !n.Said.IsZero() {
		e.Date = n.Said.Format("2006-01-02")
	}
	if len(n.Text) > excerptBytes {
		e.Text, e.Of = n.Text[:boundary(n.Text, excerptBytes)], len(n.Text)
	}
	return e
}

// boundary returns the largest index up to n at which no character is cut.
func boundary(text string, n int) int {
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

type readInput struct {
	ID string `json:"id"`
}

func (b *bound) read(ctx context.Context, in readInput) (Note, error) {
	return b.store.Get(ctx, b.operation.Key, in.ID)
}

// badInput is an error that the model can act on.
func badInput(problem string) error { return fmt.Errorf("%w: %s", memory.ErrToolInput, problem) }
