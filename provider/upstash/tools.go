package upstash

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/memory"
)

// Names of the tools, which are those of Upstash AgentKit. The model sees them behind the slot's name and two underscores.
const (
	saveName   = "save_memory"
	searchName = "search_memory"
	forgetName = "forget_memory"
	readName   = "read_session"
)

const (
	maxSearched = 25
	maxRead     = 50
)

const saveDescription = "Save one fact that will still matter in later conversations: a lasting preference, a decision, who or what somebody " +
	"works with. Write one short self-contained sentence. Never save passwords, tokens, keys, payment data or one-time codes. " +
	"A fact that is saved already is not saved twice."

const searchDescription = "Search everything that is remembered, saved facts and messages of earlier conversations alike. Facts that fit the current message are " +
	"shown by themselves; search when you need another one, or what was said. Words that occur in the text find it best."

const forgetDescription = "Forget one entry, by the id that recalled facts, search results and conversations show. Its text is erased for good, and only a " +
	"mark stays where it was. Nothing else is forgotten: when a subject is to be forgotten, search for it and forget every entry that is found."

const readDescription = "Read an earlier conversation, oldest message first, by the name behind `session=` at a recalled fact or a search result. Entries that were " +
	"forgotten are shown as removed. With `next`, go on from there."

var (
	saveSchema = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","minLength":1,"description":"The fact, in one sentence."}},` +
		`"required":["text"],"additionalProperties":false}`)
	searchSchema = json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","minLength":1,"description":"What to look for."},` +
		`"limit":{"type":"integer","minimum":1,"maximum":25,"description":"How many entries at most; 5 if left out."}},` +
		`"required":["query"],"additionalProperties":false}`)
	forgetSchema = json.RawMessage(`{"type":"object","properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9_-]{1,64}$","description":"The entry's id."}},` +
		`"required":["id"],"additionalProperties":false}`)
	readSchema = json.RawMessage(`{"type":"object","properties":{"conversation":{"type":"string","minLength":1,"description":"The name behind session=."},` +
		`"from":{"type":"integer","minimum":0,"description":"How many entries to skip; none if left out."},` +
		`"limit":{"type":"integer","minimum":1,"maximum":50,"description":"How many entries at most; 50 if left out."}},` +
		`"required":["conversation"],"additionalProperties":false}`)
)

// tools returns the tools of a turn, bound to its key.
func (p *Provider) tools(ctx context.Context, r *memory.ToolsRequest) ([]memory.Tool, error) {
	if err := accept(ctx, "tools", r.Key); err != nil {
		return nil, err
	}
	b := &bound{provider: p, operation: r.Operation, sequence: r.Turn.Sequence}
	save, err1 := memory.NewTool(saveName, saveDescription, saveSchema, b.save)
	search, err2 := memory.NewTool(searchName, searchDescription, searchSchema, b.search)
	forget, err3 := memory.NewTool(forgetName, forgetDescription, forgetSchema, b.forget)
	read, err4 := memory.NewTool(readName, readDescription, readSchema, b.read)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, failed("tools", err)
	}
	save.Approval, forget.Approval = p.opts.ApproveSave, p.opts.ApproveForget
	if p.opts.Capture == CaptureModel || p.opts.Capture == CaptureAll {
		return []memory.Tool{save, search, read}, nil
	}
	return []memory.Tool{save, search, forget, read}, nil
}

// bound is what the tools of one turn share.
type bound struct {
	provider  *Provider
	operation memory.Operation
	sequence  int64
}

type saveInput struct {
	Text string `json:"text"`
}

type saveOutput struct {
	ID    string `json:"id"`
	Saved bool   `json:"saved"`
	// Searchable is false when the fact is stored but the service did not say that it is indexed.
	Searchable bool `json:"searchable"`
}

func (b *bound) save(ctx context.Context, in saveInput) (saveOutput, error) {
	text := normalize(in.Text)
	if text == "" {
		return saveOutput{}, input("text is blank; write the fact")
	}
	if n := ecma.UTF16Len(text); n > b.provider.opts.MaxMemoryCharacters {
		return saveOutput{}, input(fmt.Sprintf("text has %d characters, at most %d; say it shorter or save several facts", n, b.provider.opts.MaxMemoryCharacters))
	}
	id := factID(text)
	if err := b.store(ctx, id, b.provider.newRecord(&b.operation, b.sequence, sourceFact, 0, text)); err != nil {
		return saveOutput{}, err
	}
	return saveOutput{ID: id, Saved: true, Searchable: b.provider.waitIndexing(ctx, "save") == nil}, nil
}

// store keeps a fact. When that may have happened and no answer says so, it is not sent again, which would bring back a fact
// that was forgotten or erased in between: that the fact is there is success.
func (b *bound) store(ctx context.Context, id string, fact *record) error {
	document, err := fact.encode()
	if err != nil {
		return failed("save", err)
	}
	s := &sending{once: true}
	_, err = b.provider.client.send(ctx, "save", s, command{"JSON.SET", b.at(id), "$", document})
	if !s.doubt {
		return err
	}
	if ctx.Err() == nil {
		stored, readErr := b.stored(ctx, "save", id)
		if readErr == nil && stored != nil && !stored.Deleted && stored.Text == fact.Text {
			return nil
		}
	}
	return unknown("save", err)
}

// at returns where the record with an id lies.
func (b *bound) at(id string) string { return b.provider.recordPrefix(b.operation.Key) + id }

type searchInput struct {
	Query string `json:"query"`
	Limit *int   `json:"limit,omitempty"`
}

type searchOutput struct {
	Memories []entry `json:"memories"`
}

type entry struct {
	ID      string `json:"id"`
	Source  source `json:"source"`
	Text    string `json:"text"`
	Removed bool   `json:"removed,omitempty"`
	Session string `json:"session,omitempty"`
}

func (b *bound) search(ctx context.Context, in searchInput) (searchOutput, error) {
	query := normalize(in.Query)
	if query == "" {
		return searchOutput{}, input("query is blank; say what to look for")
	}
	n, err := between("limit", in.Limit, b.provider.opts.TopK, 1, maxSearched)
	if err != nil {
		return searchOutput{}, err
	}
	cmd, err := b.provider.query(of(b.operation.Key).matching(query).alive(), limit(n, 0)...)
	if err != nil {
		return searchOutput{}, failed("search", err)
	}
	hits, err := b.ask(ctx, "search", cmd)
	if err != nil {
		return searchOutput{}, err
	}
	out := searchOutput{Memories: []entry{}}
	for _, h := range b.provider.relevant(hits, query) {
		out.Memories = append(out.Memories, entry{ID: h.id, Source: h.Source, Text: h.Text, Session: h.SessionID})
	}
	return out, nil
}

func (b *bound) ask(ctx context.Context, operation string, cmd command) ([]hit, error) {
	replies, err := b.provider.search(ctx, operation, cmd)
	if err != nil {
		return nil, err
	}
	return b.provider.hits(b.operation.Key, operation, replies[0])
}

type forgetInput struct {
	ID string `json:"id"`
}

type forgetOutput struct {
	ID        string `json:"id"`
	Forgotten bool   `json:"forgotten"` // false: there is no such entry
}

// forget replaces the text by nothing and marks the record, so that a conversation shows that something is missing.
func (b *bound) forget(ctx context.Context, in forgetInput) (forgetOutput, error) {
	if !idGrammar.MatchString(in.ID) {
		return forgetOutput{}, input("id is not one that was shown")
	}
	stored, err := b.stored(ctx, "forget", in.ID)
	if err != nil || stored == nil {
		return forgetOutput{ID: in.ID}, err
	}
	if replaced, err := b.redact(ctx, in.ID, stored); err != nil || !replaced {
		return forgetOutput{ID: in.ID}, err
	}
	// What is not indexed yet would still be found with its text.
	if err := b.provider.waitIndexing(ctx, "forget"); err != nil {
		return forgetOutput{}, err
	}
	return forgetOutput{ID: in.ID, Forgotten: true}, nil
}

// redact replaces a record by its mark, and reports whether it was still there: an erasure in between stays one. It can be
// repeated, since it only takes away.
func (b *bound) redact(ctx context.Context, id string, r *record) (bool, error) {
	r.Text, r.Deleted = "", true
	document, err := r.encode()
	if err != nil {
		return false, failed("forget", err)
	}
	result, err := b.provider.client.run(ctx, "forget", command{"JSON.SET", b.at(id), "$", document, "XX"})
	return err == nil && !result.isNull(), err
}

// stored returns the record with an id, nil when there is none.
func (b *bound) stored(ctx context.Context, operation, id string) (*record, error) {
	result, err := b.provider.client.run(ctx, operation, command{"JSON.GET", b.at(id), "$"})
	if err != nil {
		return nil, err
	}
	stored, err := parseStored(b.operation.Key, result)
	if err != nil {
		return nil, badReply(operation, err)
	}
	return stored, nil
}

type readInput struct {
	Conversation string `json:"conversation"`
	From         *int   `json:"from,omitempty"`
	Limit        *int   `json:"limit,omitempty"`
}

type readOutput struct {
	Entries []entry `json:"entries"`
	Next    int     `json:"next,omitempty"` // where to go on; left out at the end
}

const removed = "[removed]"

func (b *bound) read(ctx context.Context, in readInput) (readOutput, error) {
	if ecma.IsBlank(in.Conversation) {
		return readOutput{}, input("conversation is blank; give the name behind session=")
	}
	from, err1 := between("from", in.From, 0, 0, 1<<30)
	n, err2 := between("limit", in.Limit, maxRead, 1, maxRead)
	if err := errors.Join(err1, err2); err != nil {
		return readOutput{}, err
	}
	// One more than wanted tells whether there are more.
	cmd, err := b.provider.query(of(b.operation.Key).said(in.Conversation), append(limit(n+1, from), "ORDERBY", "sequence", "ASC")...)
	if err != nil {
		return readOutput{}, failed("read", err)
	}
	hits, err := b.ask(ctx, "read", cmd)
	if err != nil {
		return readOutput{}, err
	}
	out := readOutput{Entries: []entry{}}
	if len(hits) > n {
		hits, out.Next = hits[:n], from+n
	}
	slices.SortStableFunc(hits, inOrder)
	for _, h := range hits {
		e := entry{ID: h.id, Source: h.Source, Text: h.Text}
		if h.Deleted {
			e.Text, e.Removed = removed, true
		}
		out.Entries = append(out.Entries, e)
	}
	return out, nil
}

// inOrder compares two entries of a conversation by when they were said.
func inOrder(a, b hit) int {
	switch {
	case a.Sequence != b.Sequence:
		return cmp.Compare(a.Sequence, b.Sequence)
	case a.Source != b.Source:
		return a.Source.rank() - b.Source.rank()
	}
	return a.SubIndex - b.SubIndex
}

// between returns an optional number of the model's.
func between(name string, given *int, absent, least, most int) (int, error) {
	if given == nil {
		return absent, nil
	}
	if *given < least || *given > most {
		return 0, input(fmt.Sprintf("%s is not between %d and %d", name, least, most))
	}
	return *given, nil
}

// input is an error that the model can act on.
func input(problem string) error { return fmt.Errorf("%w: %s", memory.ErrToolInput, problem) }
