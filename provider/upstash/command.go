package upstash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/recollect-go/recollect/internal/rest"
)

// command is a Redis command and its arguments.
type command []string

// sending is what one request may do, and what becomes of it.
type sending struct {
	once  bool // not sent again after an attempt that may have been carried out
	doubt bool // an attempt may have been carried out although no answer says so
}

const syncHeader = "Upstash-Sync-Token"

// run sends a command that can be repeated and returns its result.
func (c *Client) run(ctx context.Context, operation string, cmd command) (reply, error) {
	return c.send(ctx, operation, &sending{}, cmd)
}

// send sends a command and returns its result.
func (c *Client) send(ctx context.Context, operation string, s *sending, cmd command) (reply, error) {
	body, err := c.post(ctx, operation, s, "", cmd)
	if err != nil {
		return reply{}, err
	}
	var answer answer
	if err := rest.Decode(body, &answer); err != nil {
		s.doubt = true
		return reply{}, badReply(operation, err)
	}
	result, err := answer.result(operation)
	s.doubt = s.doubt || errors.Is(err, ErrBadReply)
	return result, err
}

// pipeline sends commands that can be repeated in one request and returns their results in order. The commands are carried
// out one after the other, not as a whole; the first that fails is the error.
func (c *Client) pipeline(ctx context.Context, operation string, cmds ...command) ([]reply, error) {
	return c.sendAll(ctx, operation, &sending{}, cmds)
}

// sendAll is pipeline for commands that may not be repeated.
func (c *Client) sendAll(ctx context.Context, operation string, s *sending, cmds []command) ([]reply, error) {
	body, err := c.post(ctx, operation, s, "/pipeline", cmds)
	if err != nil {
		return nil, err
	}
	replies, err := parsePipeline(operation, body, len(cmds))
	s.doubt = s.doubt || errors.Is(err, ErrBadReply)
	return replies, err
}

// parsePipeline reads the results of n commands.
func parsePipeline(operation string, body []byte, n int) ([]reply, error) {
	var answers []answer
	if err := rest.Decode(body, &answers); err != nil {
		return nil, badReply(operation, err)
	}
	if len(answers) != n {
		return nil, badReply(operation, fmt.Errorf("%w: %d results for %d commands", ErrBadReply, len(answers), n))
	}
	replies := make([]reply, len(answers))
	for i := range answers {
		var err error
		if replies[i], err = answers[i].result(operation); err != nil {
			return nil, err
		}
	}
	return replies, nil
}

// post sends body until there is a definite answer, or a doubt if it is sent once, and returns the answer of status 200.
func (c *Client) post(ctx context.Context, operation string, s *sending, path string, body any) ([]byte, error) {
	encoded, err := rest.Encode(body)
	if err != nil {
		return nil, failed(operation, err)
	}
	var reply []byte
	err = c.retry.Do(ctx, func(int) (rest.Verdict, error) {
		var err error
		reply, err = c.attempt(ctx, operation, s, path, encoded)
		if s.once && s.doubt {
			return rest.Verdict{}, err
		}
		return rest.Vague(err), err
	})
	return reply, err
}

func (c *Client) attempt(ctx context.Context, operation string, s *sending, path string, body []byte) ([]byte, error) {
	authorization, err := rest.Authorize(ctx, c.token)
	if err != nil {
		return nil, &Error{Service: "upstash", Operation: operation, Err: err}
	}
	header := http.Header{}
	header.Set("Authorization", authorization)
	header.Set("Content-Type", "application/json")
	// Strings come back as the bytes that they are. Without it the service replaces what is not UTF-8.
	header.Set("Upstash-Encoding", "base64")
	if token := c.sync.Load(); token != nil {
		header.Set(syncHeader, *token)
	}
	reply, err := c.rest.Do(ctx, &rest.Request{Method: http.MethodPost, URL: c.url + path, Header: header, Body: body})
	if err != nil {
		s.doubt = s.doubt || rest.InDoubt(err)
		return nil, &Error{Service: "upstash", Operation: operation, Err: err}
	}
	if token := reply.Header.Get(syncHeader); token != "" {
		c.sync.Store(&token)
	}
	if reply.Status == http.StatusOK {
		return reply.Body, nil
	}
	s.doubt = s.doubt || rest.LeavesDoubt(reply.Status)
	return nil, refusal(operation, reply)
}

// refusal is the error of a reply other than 200.
func refusal(operation string, reply *rest.Response) error {
	var answer answer
	_ = rest.Decode(reply.Body, &answer) // without an error text the status decides
	code, kind := diagnose(answer.Error)
	if byStatus := statusKind(reply.Status); byStatus != nil {
		kind = byStatus
	}
	return &Error{
		Service: "upstash", Operation: operation, Status: reply.Status, Code: code,
		RetryAfter: rest.RetryAfter(reply.Header, time.Now()), Err: kind,
	}
}

// statusKind returns what a status means by itself, nil when the error text decides.
func statusKind(status int) error {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return ErrUnauthorized
	case status == http.StatusTooManyRequests:
		return ErrRateLimited
	case status == http.StatusRequestEntityTooLarge:
		return ErrTooLarge
	case status >= 500, status == http.StatusRequestTimeout:
		return ErrUnavailable
	case status < 400:
		return ErrBadReply
	}
	return nil
}

// answer is the reply to one command.
type answer struct {
	Result json.RawMessage `json:"result"`
	Error  string          `json:"error"`
}

func (a *answer) result(operation string) (reply, error) {
	if a.Error != "" {
		code, kind := diagnose(a.Error)
		return reply{}, &Error{Service: "upstash", Operation: operation, Code: code, Err: kind}
	}
	if a.Result == nil {
		return reply{}, badReply(operation, fmt.Errorf("%w: no result", ErrBadReply))
	}
	return reply{a.Result}, nil
}

// errNoIndex is a search in an index that was not created yet.
var errNoIndex = fmt.Errorf("%w: index does not exist", ErrRefused)

// diagnose returns the code of a Redis error, its first word, and what it means. The rest of the text stays here: it may quote
// arguments.
func diagnose(text string) (code string, kind error) {
	word, detail, _ := strings.Cut(text, " ")
	if strings.ToUpper(word) == word {
		code = rest.Code(word)
	}
	switch code {
	case "NOAUTH", "WRONGPASS", "NOPERM":
		return code, ErrUnauthorized
	case "LOADING", "BUSY", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN":
		return code, ErrUnavailable
	}
	switch detail = strings.ToLower(detail); {
	case strings.HasPrefix(detail, "max request size"), strings.HasPrefix(detail, "max record size"):
		return code, ErrTooLarge
	case strings.HasPrefix(detail, "max "):
		return code, ErrRateLimited
	}
	if namesMissingIndex(text) {
		return code, errNoIndex
	}
	return code, ErrRefused
}

// namesMissingIndex recognizes the ways in which the service says that there is no such index.
func namesMissingIndex(text string) bool {
	text = strings.ToLower(text)
	if !strings.Contains(text, "index") {
		return false
	}
	for _, phrase := range []string{"not found", "does not exist", "no such", "unknown index"} {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}

// badReply is the error of an answer that is not that of the protocol.
func badReply(operation string, err error) error {
	return &Error{Service: "upstash", Operation: operation, Err: err}
}
