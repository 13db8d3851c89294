package leak

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain is Main with less patience, since the tests wait for leaks.
func TestMain(m *testing.M) { os.Exit(run(m, time.Second)) }

// behaviour names the environment variable that tells the functions named Child what to do in a process of their own.
const behaviour = "LEAK_TEST_BEHAVIOUR"

func behave() {
	switch os.Getenv(behaviour) {
	case "leak":
		go forgotten(make(chan struct{}))
	case "linger":
		go time.Sleep(300 * time.Millisecond)
	}
}

func forgotten(c chan struct{}) { <-c }

func TestChild(t *testing.T) {
	t.Parallel()
	t.Run("subtest", func(t *testing.T) {
		t.Parallel()
		behave()
	})
}

func BenchmarkChild(b *testing.B) {
	behave()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			_ = allStacks
		}
	})
}

func FuzzChild(f *testing.F) {
	f.Add(1)
	var once sync.Once
	f.Fuzz(func(*testing.T, int) { once.Do(behave) })
}

// child runs this test binary again and returns its output.
func child(t *testing.T, does string, args ...string) (output string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), behaviour+"="+does)
	cmd.Dir = t.TempDir()
	text, err := cmd.CombinedOutput()
	return string(text), err
}

func TestMainExits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fuzz := []string{"-test.run=^$", "-test.fuzz=^FuzzChild$", "-test.fuzztime=20x", "-test.parallel=1", "-test.fuzzcachedir=" + filepath.Join(dir, "fuzz")}
	modes := map[string][]string{
		"tests":                  {"-test.run=^TestChild$"},
		"tests with timeout":     {"-test.run=^TestChild$", "-test.timeout=1m"},
		"profiled tests":         {"-test.run=^TestChild$", "-test.cpuprofile=" + filepath.Join(dir, "cpu"), "-test.trace=" + filepath.Join(dir, "trace")},
		"benchmarks":             {"-test.run=^$", "-test.bench=^BenchmarkChild$", "-test.benchtime=10x", "-test.cpu=1,2"},
		"seeds of a fuzz target": {"-test.run=^FuzzChild$"},
	}
	for mode, args := range modes {
		t.Run(mode+" that leak fail with the stack", func(t *testing.T) {
			t.Parallel()
			output, err := child(t, "leak", args...)
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, output)
			assert.Equal(t, 1, exit.ExitCode())
			assert.Contains(t, output, "goroutines outlived the tests")
			assert.Contains(t, output, "leak.forgotten(")
		})
	}
	modes["fuzzing"] = fuzz
	for mode, args := range modes {
		t.Run(mode+" that leak nothing pass", func(t *testing.T) {
			t.Parallel()
			output, err := child(t, "nothing", args...)
			require.NoError(t, err, output)
			assert.NotContains(t, output, "outlived")
		})
	}
	t.Run("goroutines on their way out pass", func(t *testing.T) {
		t.Parallel()
		output, err := child(t, "linger", modes["tests"]...)
		require.NoError(t, err, output)
	})
}

func TestMainKeepsTheCodeOfFailedTests(t *testing.T) {
	t.Parallel()
	output, err := child(t, "leak", "-test.run=^TestChild$", "-test.nosuchflag")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, output)
	assert.Equal(t, 2, exit.ExitCode())
	assert.NotContains(t, output, "outlived")
}

func TestRunningSeesAGoroutineUntilItEnds(t *testing.T) {
	release, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		forgotten(release)
	}()
	sees := func() bool {
		return slices.ContainsFunc(running(), func(stack string) bool { return strings.Contains(stack, "leak.forgotten(") })
	}
	assert.Eventually(t, sees, patience, time.Millisecond)
	close(release)
	<-ended
	assert.Eventually(t, func() bool { return !sees() }, patience, time.Millisecond)
}

// TestRunningInABubble: a goroutine of a bubble is seen while it lives, and the wait for it is over as soon as the bubble's clock says so.
func TestRunningInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		go forgottenFor(time.Hour)
		synctest.Wait()
		sees := func() bool {
			return slices.ContainsFunc(running(), func(stack string) bool { return strings.Contains(stack, "leak.forgottenFor(") })
		}
		assert.True(t, sees())
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		assert.False(t, sees())
	})
}

func forgottenFor(d time.Duration) { time.Sleep(d) }
