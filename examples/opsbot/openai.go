package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/recollect-go/recollect/memory"
)

const (
	chatTimeout      = 2 * time.Minute
	maxChatResponse  = 4 << 20
	maxErrorExcerpt  = 300
	completionsRoute = "/chat/completions"
)

// chatEndpoint is a Model behind any server that speaks OpenAI's chat completions.
type chatEndpoint struct {
	url    string
	apiKey string
	model  string
	client *http.Client
}

func newChatEndpoint(baseURL, apiKey, model string) *chatEndpoint {
	return &chatEndpoint{
		url:    strings.TrimRight(baseURL, "/") + completionsRoute,
		apiKey: apiKey,
		model:  model,
		client: &http.Client{Timeout: chatTimeout},
	}
}

type chatRequest struct {
	Model    string        `json:"model"`
	Messages []chatMessage `json:"messages"`
	Tools    []chatTool    `json:"tools,omitempty"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Type     string         `json:"type"`
	Function chatDefinition `json:"function"`
}

type chatDefinition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type chatResponse struct {
	Choices []struct {
		Message struct {
			Content   *string    `json:"content"`
			ToolCalls []chatCall `json:"tool_calls"`
		} `json:"message"`
	} `json:"choices"`
}

// Reply sends the prompt and returns the first choice.
func (e *chatEndpoint) Reply(ctx context.Context, r *Prompt) (*Reply, error) {
	body, err := json.Marshal(e.request(r))
	if err != nil {
		return nil, fmt.Errorf("encoding the prompt: %w", err)
	}
	answer, err := e.post(ctx, body)
	if err != nil {
		return nil, err
	}
	return decodeChat(answer)
}

func (e *chatEndpoint) request(r *Prompt) *chatRequest {
	request := &chatRequest{Model: e.model, Messages: []chatMessage{{Role: "system", Content: r.System}}}
	for _, m := range r.Messages {
		request.Messages = append(request.Messages, chatMessages(m)...)
	}
	for _, t := range r.Tools {
		request.Tools = append(request.Tools, chatTool{Type: "function", Function: chatDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.InputSchema,
		}})
	}
	return request
}

// chatMessages returns one message, or for tool results one for each of them.
func chatMessages(m memory.Message) []chatMessage {
	if results := m.ToolResults(); len(results) > 0 {
		messages := make([]chatMessage, len(results))
		for i, r := range results {
			messages[i] = chatMessage{Role: "tool", ToolCallID: r.CallID, Content: string(r.Output)}
		}
		return messages
	}
	message := chatMessage{Role: m.Role(), Content: m.Text()}
	for _, c := range m.ToolCalls() {
		message.ToolCalls = append(message.ToolCalls, chatCall{
			ID: c.CallID, Type: "function", Function: chatFunction{Name: c.Name, Arguments: string(c.Input)},
		})
	}
	return []chatMessage{message}
}

func (e *chatEndpoint) post(ctx context.Context, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+e.apiKey)
	response, err := e.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking the model: %w", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxChatResponse+1))
	if err != nil {
		return nil, fmt.Errorf("reading the model's answer: %w", err)
	}
	if len(answer) > maxChatResponse {
		return nil, fmt.Errorf("the model's answer is over %d bytes", maxChatResponse)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the model's server answered %s: %s", response.Status, excerpt(answer))
	}
	return answer, nil
}

func excerpt(body []byte) string {
	text := strings.ToValidUTF8(string(body), "?")
	if len(text) > maxErrorExcerpt {
		text = strings.ToValidUTF8(text[:maxErrorExcerpt], "") + "…"
	}
	return text
}

func decodeChat(answer []byte) (*Reply, error) {
	var response chatResponse
	if err := json.Unmarshal(answer, &response); err != nil {
		return nil, fmt.Errorf("the model's answer is not JSON: %w", err)
	}
	if len(response.Choices) == 0 {
		return nil, errors.New("the model's answer has no choice")
	}
	message := response.Choices[0].Message
	reply := &Reply{}
	if message.Content != nil {
		reply.Text = *message.Content
	}
	for _, c := range message.ToolCalls {
		reply.Calls = append(reply.Calls, memory.ToolCallPart{
			CallID: c.ID, Name: c.Function.Name, Input: callInput(c.Function.Arguments),
		})
	}
	return reply, nil
}

// callInput returns the arguments as JSON. Some servers send nothing where a tool takes none. A model may write anything;
// what is not JSON becomes a JSON string, which the tool then refuses with an error that the model sees.
func callInput(arguments string) json.RawMessage {
	if strings.TrimSpace(arguments) == "" {
		return json.RawMessage("{}")
	}
	if json.Valid([]byte(arguments)) {
		return json.RawMessage(arguments)
	}
	quoted, err := json.Marshal(arguments)
	if err != nil {
		return json.RawMessage("null")
	}
	return quoted
}
