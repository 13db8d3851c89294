package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chatServer answers like a chat endpoint: one reply a request, in order. It holds a request for which there is no reply until its client has gone.
type chatServer struct {
	*httptest.Server
	requests chan chatRequest
	replies  chan string
	gone     chan struct{} // clients that went without a reply
}

func newChatServer(t *testing.T) *chatServer {
	s := &chatServer{requests: make(chan chatRequest, 100), replies: make(chan string, 100), gone: make(chan struct{}, 100)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request chatRequest
		decoder := json.NewDecoder(r.Body)
		decoder.DisallowUnknownFields()
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer sk-test" || decoder.Decode(&request) != nil {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		s.requests <- request
		select {
		case reply := <-s.replies:
			_, _ = io.WriteString(w, reply)
		case <-r.Context().Done():
			s.gone <- struct{}{}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *chatServer) environment(name string) string {
	return map[string]string{"OPENAI_BASE_URL": s.URL + "/v1", "OPENAI_API_KEY": "sk-test", "OPENAI_MODEL": "test-model"}[name]
}

const (
	textReply = `{"choices":[{"message":{"role":"assistant","content":"All good."}}]}`
	callReply = `{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[
		{"id":"c1","type":"function","function":{"name":"start_incident","arguments":"{\"id\":\"INC-9\"}"}},
		{"id":"c2","type":"function","function":{"name":"profile__save_memory","arguments":"{\"text\":\"On call this week.\"}"}}]}}]}`
)

// killInTurn runs the program as a process of its own, and kills it while the model is asked for the given time in a turn.
func killInTurn(t *testing.T, server *chatServer, args []string, line string, asked int) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childArgs+"="+strings.Join(args, "\n"))
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"} {
		child.Env = append(child.Env, name+"="+server.environment(name))
	}
	in, err := child.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	_, err = io.WriteString(in, line+"\n")
	require.NoError(t, err)
	for range asked {
		<-server.requests
	}
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	<-server.gone
}

func TestATurnWhoseProcessWasKilledIsFinishedByTheNextOne(t *testing.T) {
	t.Parallel()
	server := newChatServer(t)
	data := t.TempDir()
	args := []string{"-data", data, "-session", "s1", "-as", "globex/u_7"}
	server.replies <- callReply
	killInTurn(t, server, args, "open incident INC-9 and note that I am on call", 2) // the model has called its tools, and is asked again

	// Somebody else has changed the memory meanwhile. The turn goes on as it was.
	talk(t, noEnvironment, []string{"-data", data, "-session", "other", "-as", "globex/u_7"}, "forget 0", "remember that I am on holiday")

	server.replies <- textReply
	out := talk(t, server.environment, args, "")
	assert.Contains(t, out, "session s1 (resumed), caller globex/u_7")
	assert.Contains(t, out, "finishing the turn that was interrupted")
	assert.Contains(t, out, "All good.")
	assert.NotContains(t, out, "start_incident", "no tool runs twice")

	request := <-server.requests
	assert.Equal(t, "tool", request.Messages[len(request.Messages)-1].Role)
	assert.Contains(t, talk(t, noEnvironment, args, "show incident"), `"id":"INC-9"`)
}

func TestATurnThatCannotBeFinishedIsReportedAndTheConversationGoesOn(t *testing.T) {
	t.Parallel()
	server := newChatServer(t)
	args := []string{"-data", t.TempDir(), "-session", "s1"}
	killInTurn(t, server, args, "hello", 1)

	server.replies <- `<html>`
	server.replies <- textReply
	out := talk(t, server.environment, args, "again")
	assert.Contains(t, out, "finishing the turn that was interrupted\nerror: the turn is given up: ")
	assert.Contains(t, out, "All good.")
}

func TestTheModelSeesTheViewAndTheToolsOfTheCaller(t *testing.T) {
	t.Parallel()
	server := newChatServer(t)
	args := []string{"-data", t.TempDir()}
	server.replies <- callReply
	server.replies <- textReply
	talk(t, server.environment, args, "I am on call")
	<-server.requests
	second := <-server.requests
	require.Len(t, second.Messages, 5)
	assert.Equal(t, "system", second.Messages[0].Role)
	assert.Contains(t, second.Messages[0].Content, "never instructions")
	assert.Len(t, second.Messages[2].ToolCalls, 2)
	assert.Equal(t, chatMessage{Role: "tool", ToolCallID: "c2", Content: `{"index":0,"saved":true}`}, second.Messages[4])

	server.replies <- textReply
	talk(t, server.environment, args, "hello")
	third := <-server.requests
	assert.Contains(t, third.Messages[1].Content, "0: On call this week.")
	assert.Equal(t, "hello", third.Messages[2].Content)
	assert.Len(t, third.Tools, 7)

	server.replies <- textReply
	talk(t, server.environment, args, "/anonymous", "hello")
	assert.Len(t, (<-server.requests).Tools, 3, "without an identity there is no memory tool")
}

func TestAModelThatMakesNoSenseFailsTheTurnAndNotTheProgram(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]string{
		"no JSON":      `<html>`,
		"no choice":    `{"choices":[]}`,
		"empty answer": `{"choices":[{"message":{"content":""}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newChatServer(t)
			server.replies <- reply
			server.replies <- textReply
			out := talk(t, server.environment, []string{"-data", t.TempDir()}, "hello", "again")
			assert.Contains(t, out, "error: ")
			assert.Contains(t, out, "All good.")
			assert.NotContains(t, out, "sk-test")
		})
	}
}

func TestArgumentsThatAreNoJSONReachTheModelAsAnError(t *testing.T) {
	t.Parallel()
	server := newChatServer(t)
	server.replies <- `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"check_service","arguments":"db"}}]}}]}`
	server.replies <- textReply
	talk(t, server.environment, []string{"-data", t.TempDir()}, "check db")
	<-server.requests
	second := <-server.requests
	assert.Contains(t, second.Messages[len(second.Messages)-1].Content, "object")
}

func TestAnInterruptEndsTheProgramCleanlyInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	server := newChatServer(t)
	data := t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	in, typed := io.Pipe()
	var out strings.Builder
	done := make(chan error)
	go func() { done <- run(ctx, []string{"-data", data, "-session", "s1"}, server.environment, in, &out) }()
	_, err := io.WriteString(typed, "hello\n")
	require.NoError(t, err)
	<-server.requests
	interrupt()
	require.NoError(t, <-done)
	<-server.gone
	require.NoError(t, typed.Close())
	assert.Contains(t, out.String(), "error: the turn is given up: ")
	assert.Contains(t, out.String(), "interrupted; go on with -session s1")

	server.replies <- textReply
	again := talk(t, server.environment, []string{"-data", data, "-session", "s1"}, "hello again")
	assert.NotContains(t, again, "finishing the turn", "an interrupted turn is given up, not repeated")
	assert.Contains(t, again, "All good.")
}
