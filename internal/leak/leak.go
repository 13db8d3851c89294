// Package leak fails a package's tests when goroutines outlive them.
package leak

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// patience is how long goroutines that are on their way out may take. It is long because a loaded machine with the race
// detector is slow; tests that leak nothing do not wait.
const patience = 5 * time.Second

// Main runs the tests, benchmarks or fuzz target of m, then exits: with their code, or with 1 when they passed and left
// goroutines behind, whose stacks it prints. Call it from TestMain; nothing after it runs. A goroutine of a synctest
// bubble is never left: the bubble itself fails.
func Main(m *testing.M) { os.Exit(run(m, patience)) }

func run(m *testing.M, patience time.Duration) (code int) {
	if code := m.Run(); code != 0 {
		return code
	}
	if left := wait(patience); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "goroutines outlived the tests:\n\n%s\n", strings.Join(left, "\n\n"))
		return 1
	}
	return 0
}

// wait returns the goroutines that are left after at most the given time.
func wait(patience time.Duration) []string {
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		left := running()
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
	}
}

// running returns the stacks of all goroutines but the calling one and those that a process keeps.
func running() []string {
	stacks := strings.Split(strings.TrimSpace(string(allStacks())), "\n\n")
	return slices.DeleteFunc(stacks[1:], kept) // the first is the caller's
}

func allStacks() []byte {
	buf := make([]byte, 1<<16)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			return buf[:n]
		}
		buf = make([]byte, 2*len(buf))
	}
}

// kept reports whether a goroutine lives as long as its process once it was started: os/signal has one, which package
// testing starts when it fuzzes, and the runtime one that serves it.
func kept(stack string) bool {
	return strings.Contains(stack, "os/signal.signal_recv(") || strings.Contains(stack, "os/signal.loop(") ||
		strings.Contains(stack, "runtime.ensureSigM")
}
