// Package leak fails a package's tests when goroutines outlive them.
package leak

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience is how long goroutines that are on their way out may take.
const patience = 5 * time.Second

// Main runs the tests of m, then exits: with their code, or with 1 when goroutines are left. Call it from TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if left := wait(); len(left) > 0 {
			fmt.Fprintf(os.Stderr, "goroutines outlived the tests:\n\n%s\n", strings.Join(left, "\n\n"))
			code = 1
		}
	}
	os.Exit(code)
}

func wait() []string {
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		left := leaked()
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
	}
}

// leaked returns the stacks of all goroutines but this one and those of the runtime and the testing package.
func leaked() []string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	stacks := strings.Split(string(buf), "\n\n")
	var left []string
	for _, stack := range stacks[1:] {
		if stack != "" && !expected(stack) {
			left = append(left, stack)
		}
	}
	return left
}

func expected(stack string) bool {
	for _, known := range []string{
		"testing.RunTests(",
		"testing.(*T).Run(",
		"testing.(*M).",
		"testing.runFuzzing(",
		"os/signal.signal_recv(",
		"os/signal.loop(",
		"runtime.ensureSigM(",
		"runtime.MemProfile",
		"runtime/pprof.profileWriter(",
	} {
		if strings.Contains(stack, known) {
			return true
		}
	}
	return false
}
