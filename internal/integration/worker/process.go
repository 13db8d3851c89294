package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/recollect-go/recollect/internal/docstore"
)

// Variable tells the test program to run Serve, on the store that its value describes, instead of the tests.
const Variable = "RECOLLECT_WORKER"

var errKilled = errors.New("worker: the process was killed")

// Process is a store in a process of its own. Its methods may be called concurrently.
type Process struct {
	cmd      *exec.Cmd
	mu       sync.Mutex // guards requests, calls, last and dead
	requests *json.Encoder
	calls    map[uint64]chan *reply
	last     uint64
	dead     bool
	exited   chan struct{}
}

var _ docstore.Store = (*Process)(nil)

// Start runs this test program again as a worker on the store that description describes, and waits until it answers. The
// process ends with the test.
func Start(t testing.TB, description string) *Process {
	t.Helper()
	p, err := start(description)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

func start(description string) (*Process, error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), Variable+"="+description)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, requests: json.NewEncoder(in), calls: map[uint64]chan *reply{}, exited: make(chan struct{})}
	go p.receive(json.NewDecoder(out))
	if _, _, err := p.call(context.Background(), request{Method: "ping"}); err != nil {
		p.Kill()
		return nil, fmt.Errorf("worker: %q did not start: %w", description, err)
	}
	return p, nil
}

// Kill ends the process at once (SIGKILL), whatever it is doing, and waits until it is gone. Its pending and later calls fail.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

func (p *Process) receive(replies *json.Decoder) {
	defer close(p.exited)
	for {
		answer := new(reply)
		if err := replies.Decode(answer); err != nil {
			break
		}
		p.mu.Lock()
		p.calls[answer.ID] <- answer
		delete(p.calls, answer.ID)
		p.mu.Unlock()
	}
	_ = p.cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
	for id, call := range p.calls {
		close(call)
		delete(p.calls, id)
	}
}

// call returns errKilled when the process died before it answered, and sent tells whether it may have seen the request.
func (p *Process) call(ctx context.Context, req request) (answer *reply, sent bool, err error) {
	waiting, err := p.send(&req)
	if err != nil {
		return nil, false, err
	}
	select {
	case answer, ok := <-waiting:
		if !ok {
			return nil, true, errKilled
		}
		return answer, true, nil
	case <-ctx.Done():
		return nil, true, ctx.Err()
	}
}

func (p *Process) send(req *request) (<-chan *reply, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return nil, errKilled
	}
	p.last++
	req.ID = p.last
	waiting := make(chan *reply, 1)
	p.calls[req.ID] = waiting
	if err := p.requests.Encode(req); err != nil {
		delete(p.calls, req.ID)
		return nil, errKilled // a line that was cut short is not a request
	}
	return waiting, nil
}

// Read asks the process.
func (p *Process) Read(ctx context.Context, key string) ([]byte, string, error) {
	answer, _, err := p.call(ctx, request{Method: "read", Key: key})
	if err != nil {
		return nil, "", err
	}
	return answer.Content, answer.Version, answer.err()
}

// Write asks the process. Its outcome is unknown when the process dies first.
func (p *Process) Write(ctx context.Context, key string, content []byte, expected string) (string, error) {
	answer, sent, err := p.call(ctx, request{Method: "write", Key: key, Content: content, Expected: expected})
	if err != nil {
		return "", lost(sent, err)
	}
	return answer.Version, answer.err()
}

// Delete asks the process. Its outcome is unknown when the process dies first.
func (p *Process) Delete(ctx context.Context, key, expected string) error {
	answer, sent, err := p.call(ctx, request{Method: "delete", Key: key, Expected: expected})
	if err != nil {
		return lost(sent, err)
	}
	return answer.err()
}

func lost(sent bool, err error) error {
	if !sent {
		return err
	}
	return fmt.Errorf("%w: %w", docstore.ErrUnknownOutcome, err)
}
