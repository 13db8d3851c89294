package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

const (
	startPatience = 30 * time.Second
	stopPatience  = 10 * time.Second
)

// start runs cmd until the test ends and returns once ready does. The output of a server that does not become ready is in
// the failure.
func start(t testing.TB, cmd *exec.Cmd, ready func(context.Context) error) {
	t.Helper()
	var output lockedBuffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", cmd.Path, err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	t.Cleanup(func() { stop(t, cmd, exited) })

	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	if err := await(ctx, ready, exited); err != nil {
		t.Fatalf("%s did not become ready: %v\n%s", cmd.Path, err, output.String())
	}
}

func await(ctx context.Context, ready func(context.Context) error, exited chan error) error {
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case code := <-exited:
			exited <- code
			return fmt.Errorf("it exited (%v): %w", code, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// stop asks the server to end and kills it when it does not.
func stop(t testing.TB, cmd *exec.Cmd, exited chan error) {
	_ = cmd.Process.Signal(os.Interrupt)
	select {
	case <-exited:
	case <-time.After(stopPatience):
		t.Logf("%s did not stop in %v and was killed", cmd.Path, stopPatience)
		_ = cmd.Process.Kill()
		<-exited
	}
}

// freePort returns a loopback port that nothing listens on at the moment.
func freePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// folder returns a new folder that the test's own user and only it can use, removed when the test ends.
func folder(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "recollect-"+name+"-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("removing the data folder: %v", err)
		}
	})
	return dir
}

// lockedBuffer collects the output of a running process.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
