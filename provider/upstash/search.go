package upstash

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/recollect-go/recollect/internal/rest"
)

// hit is a record that a search found.
type hit struct {
	id    string
	score float64
	record
}

// filter selects records. The key is always part of it.
type filter struct {
	UserID    equals[string]  `json:"userId"`
	SessionID *equals[string] `json:"sessionId,omitempty"`
	Text      *smart          `json:"text,omitempty"`
	Source    *equals[source] `json:"source,omitempty"`
	Deleted   *equals[bool]   `json:"deleted,omitempty"`
}

type equals[T any] struct {
	Value T `json:"$eq"`
}

// smart ranks by phrases, words, similar words and beginnings of words.
type smart struct {
	Query string `json:"$smart"`
}

func of(key string) *filter { return &filter{UserID: equals[string]{key}} }

// matching ranks by a query; "" means no ranking.
func (f *filter) matching(query string) *filter {
	if query != "" {
		f.Text = &smart{query}
	}
	return f
}

func (f *filter) from(s source) *filter {
	f.Source = &equals[source]{s}
	return f
}

func (f *filter) alive() *filter {
	f.Deleted = &equals[bool]{false}
	return f
}

func (f *filter) said(session string) *filter {
	f.SessionID = &equals[string]{keyPart(session)}
	return f
}

// query returns the command for the best records.
func (p *Provider) query(f *filter, options ...string) (command, error) {
	text, err := rest.Encode(f)
	return append(command{"SEARCH.QUERY", p.index, string(text)}, options...), err
}

// count returns the command for the number of records.
func (p *Provider) count(f *filter) (command, error) {
	text, err := rest.Encode(f)
	return command{"SEARCH.COUNT", p.index, string(text)}, err
}

// search sends the commands in one request. When the index is not there it is created and waited for, and the commands are
// sent once more.
func (p *Provider) search(ctx context.Context, operation string, cmds ...command) ([]reply, error) {
	replies, err := p.client.pipeline(ctx, operation, cmds...)
	if !errors.Is(err, errNoIndex) && (err != nil || !anyMissing(replies)) {
		return replies, err
	}
	if err := p.createIndex(ctx, operation); err != nil {
		return nil, err
	}
	replies, err = p.client.pipeline(ctx, operation, cmds...)
	if err == nil && anyMissing(replies) {
		err = badReply(operation, fmt.Errorf("%w: index is missing after it was created", ErrBadReply))
	}
	return replies, err
}

// anyMissing reports whether a reply says that there is no index: null for a query, -1 for a count.
func anyMissing(replies []reply) bool {
	for _, r := range replies {
		if r.isNull() || string(r.raw) == "-1" {
			return true
		}
	}
	return false
}

// createIndex creates the index unless it is there, and waits until it holds the records that exist.
func (p *Provider) createIndex(ctx context.Context, operation string) error {
	create := strings.Fields("SCHEMA text TEXT userId TEXT NOTOKENIZE sessionId TEXT NOTOKENIZE source TEXT NOTOKENIZE deleted BOOL " +
		"sequence F64 FAST subIndex F64 FAST")
	_, err := p.client.pipeline(ctx, operation,
		append(command{"SEARCH.CREATE", p.index, "EXISTSOK", "ON", "JSON", "PREFIX", "1", p.opts.Prefix + ":"}, create...),
		command{"SEARCH.WAITINDEXING", p.index})
	return err
}

// waitIndexing waits until what was written can be found. An index that is not there yet finds it when it is created.
func (p *Provider) waitIndexing(ctx context.Context, operation string) error {
	if p.opts.NoIndexWait {
		return nil
	}
	_, err := p.client.run(ctx, operation, command{"SEARCH.WAITINDEXING", p.index})
	if errors.Is(err, errNoIndex) {
		return nil
	}
	return err
}

// hits reads the reply to a query. A record that is not one of key is an error: nothing of another key gets out, whatever
// the service answers.
func (p *Provider) hits(key, operation string, r reply) ([]hit, error) {
	rows, err := r.list()
	if err != nil {
		return nil, badReply(operation, err)
	}
	hits := make([]hit, len(rows))
	for i, row := range rows {
		if hits[i], err = p.parseHit(key, row); err != nil {
			return nil, badReply(operation, err)
		}
	}
	return hits, nil
}

// parseHit reads [key, score, [["$", document]]].
func (p *Provider) parseHit(key string, row reply) (hit, error) {
	parts, err := row.list()
	if err != nil {
		return hit{}, err
	}
	if len(parts) != 3 {
		return hit{}, fmt.Errorf("%w: a hit of %d parts", ErrBadReply, len(parts))
	}
	name, err := parts[0].must()
	if err != nil {
		return hit{}, err
	}
	h := hit{}
	if h.score, err = parts[1].number(); err != nil {
		return hit{}, err
	}
	if err := parseDocument(parts[2], &h.record); err != nil {
		return hit{}, err
	}
	id, own := strings.CutPrefix(name, p.recordPrefix(key))
	if !own || h.UserID != key {
		return hit{}, fmt.Errorf("%w: a record of another key", ErrBadReply)
	}
	h.id = id
	return h, nil
}

func parseDocument(r reply, v *record) error {
	fields, err := r.list()
	if err != nil {
		return err
	}
	for _, field := range fields {
		pair, err := field.list()
		if err != nil {
			return err
		}
		if len(pair) != 2 {
			return fmt.Errorf("%w: a field of %d parts", ErrBadReply, len(pair))
		}
		name, err := pair[0].must()
		if err != nil {
			return err
		}
		if name != "$" {
			continue
		}
		text, err := pair[1].must()
		if err != nil {
			return err
		}
		return rest.Decode([]byte(text), v)
	}
	return fmt.Errorf("%w: a hit without its document", ErrBadReply)
}

// limit returns the options that bound a query.
func limit(n, offset int) []string {
	options := []string{"LIMIT", strconv.Itoa(n)}
	if offset > 0 {
		options = append(options, "OFFSET", strconv.Itoa(offset))
	}
	return options
}
