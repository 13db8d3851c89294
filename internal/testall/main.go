// Command testall runs the tests of every module of the workspace under the race detector and in random order, and ends with the
// list of the tests that were skipped and why. Its arguments go to go test: go run ./internal/testall -short
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "testall:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	modules, err := modules(ctx)
	if err != nil {
		return err
	}
	var all report
	var failed []error
	for _, dir := range modules {
		fmt.Fprintln(out, "#", dir)
		if err := all.test(ctx, dir, args, out); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", dir, err))
		}
	}
	all.print(out)
	if all.passed+all.failed == 0 {
		failed = append(failed, errors.New("no test ran"))
	}
	return errors.Join(failed...)
}

// modules returns the folders of the workspace's modules.
func modules(ctx context.Context) ([]string, error) {
	list, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("listing the modules: %w", err)
	}
	return strings.Split(strings.TrimSpace(string(list)), "\n"), nil
}

// report is what became of the tests so far.
type report struct {
	passed, failed int
	skipped        []skip
}

type skip struct{ name, reason string }

// event is one line of go test -json; see go doc test2json.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

func (e *event) name() string { return e.Package + "." + e.Test }

// test runs the tests of the module in dir. It returns an error when one of them failed or did not build.
func (r *report) test(ctx context.Context, dir string, args []string, out io.Writer) error {
	args = append([]string{"test", "-json", "-race", "-shuffle=on", "-timeout=20m"}, args...)
	cmd := exec.CommandContext(ctx, "go", append(args, "./...")...)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := r.read(stdout, out)
	return errors.Join(readErr, cmd.Wait())
}

func (r *report) read(events io.Reader, out io.Writer) error {
	output := map[string][]string{}
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			fmt.Fprintf(out, "%s", line)
			continue
		}
		r.apply(&e, output, out)
	}
}

// apply counts one event. output holds what each test has printed until its verdict is known.
func (r *report) apply(e *event, output map[string][]string, out io.Writer) {
	name := e.name()
	switch e.Action {
	case "build-output":
		fmt.Fprint(out, e.Output)
	case "output":
		output[name] = append(output[name], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			r.endPackage(e, output[name], out)
		} else {
			r.endTest(e, output[name], out)
		}
		delete(output, name)
	}
}

func (r *report) endTest(e *event, output []string, out io.Writer) {
	switch e.Action {
	case "pass":
		r.passed++
	case "fail":
		r.failed++
		fmt.Fprint(out, strings.Join(output, ""))
	case "skip":
		r.skipped = append(r.skipped, skip{e.name(), reason(output)})
	}
}

// endPackage prints the closing line of a package, and all of its own output when it failed.
func (r *report) endPackage(e *event, output []string, out io.Writer) {
	if e.Action == "fail" {
		fmt.Fprint(out, strings.Join(output, ""))
		fmt.Fprintf(out, "FAIL\t%s\t%.3fs\n", e.Package, e.Elapsed)
		return
	}
	if e.Action == "pass" {
		fmt.Fprintf(out, "ok  \t%s\t%.3fs\n", e.Package, e.Elapsed)
	}
}

// reason returns what a skipped test said, without the framing lines of go test.
func reason(output []string) string {
	var said []string
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			said = append(said, line)
		}
	}
	return strings.Join(said, " ")
}

func (r *report) print(out io.Writer) {
	for _, s := range r.skipped {
		fmt.Fprintf(out, "skipped %s: %s\n", s.name, s.reason)
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", r.passed, r.failed, len(r.skipped))
}
