package memory_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
	"github.com/recollect-go/recollect/state"
)

// The environment that makes the test binary a victim, which completes turns until it is killed.
const (
	victimRoot = "RECOLLECT_OUTBOX_VICTIM_ROOT"
	victimRun  = "RECOLLECT_OUTBOX_VICTIM_RUN"
)

var victimSlots = []string{"left", "right"}

// crashing is what a victim and its judge share: an outbox and a store of notes in one folder, and a memory over them.
type crashing struct {
	memories *memory.Memory
	outbox   *memory.Outbox
	notes    *state.DirStore
	queue    *state.DirStore
}

// openCrashing opens the memories of one run, in which each slot has a document.
func openCrashing(root, run string) (c *crashing, err error) {
	c = new(crashing)
	if c.notes, err = state.Dir(filepath.Join(root, "notes"), nil); err != nil {
		return nil, err
	}
	if c.queue, err = state.Dir(filepath.Join(root, "outbox"), nil); err != nil {
		return nil, err
	}
	if c.outbox, err = memory.NewOutbox(c.queue, nil); err != nil {
		return nil, err
	}
	h := captures(c.capture)
	var slots []memory.Slot
	for _, name := range victimSlots {
		slots = append(slots, memory.Slot{Name: name, Provider: h, Scope: scope.Tuple(run, name), Namespace: app})
	}
	c.memories, err = memory.New(slots, &memory.Options{Outbox: c.outbox})
	return c, err
}

func (c *crashing) close() error { return errors.Join(c.notes.Close(), c.queue.Close()) }

// capture is idempotent: it writes one line for an operation, and notes when it is asked to write another one for it.
func (c *crashing) capture(ctx context.Context, r *memory.TurnCompleted) error {
	line := r.ID + " " + strings.Join(texts(r.Messages), "|") + "\n"
	return docstore.NewUpdater(c.notes).Update(ctx, r.Key, func(current []byte) ([]byte, error) {
		switch {
		case strings.Contains(string(current), line):
			return nil, nil
		case strings.Contains(string(current), r.ID+" "):
			line = "another content: " + line
		}
		return append(append([]byte{}, current...), line...), nil
	})
}

// turn completes turn n, in a session of its own.
func (c *crashing) turn(ctx context.Context, n int) error {
	text := "turn " + strconv.Itoa(n)
	start := &memory.TurnStart{
		Session: memory.SessionInfo{ID: "victim"},
		Turn:    memory.Turn{ID: strconv.Itoa(n), Sequence: int64(n), Input: []memory.Message{memory.UserMessage(text)}},
	}
	view, err := c.memories.StartTurn(ctx, start)
	if err != nil {
		return err
	}
	start.History = append(view.Messages, memory.AssistantMessage("answer"))
	start.Bookkeeping = view.Bookkeeping
	_, err = c.memories.CompleteTurn(ctx, start)
	return err
}

// victim completes turns without end and acknowledges each on standard output.
func victim(root, run string) {
	c, err := openCrashing(root, run)
	for n := 0; err == nil; n++ {
		if err = c.turn(context.Background(), n); err == nil {
			fmt.Println(n)
		}
	}
	fmt.Fprintln(os.Stderr, "victim:", err)
	os.Exit(3)
}

func TestAProcessKilledDuringCapturesCapturesEveryTurnOnce(t *testing.T) {
	t.Parallel()
	kills := 200
	if testing.Short() {
		kills = 20
	}
	root := t.TempDir()
	total, recovered := 0, 0
	for run := range kills {
		acknowledged := killVictim(t, root, strconv.Itoa(run))
		turns, drained := judge(t, root, strconv.Itoa(run), acknowledged)
		total += turns
		recovered += drained
	}
	t.Logf("%d kills, %d turns, %d captures recovered from the outbox", kills, total, recovered)
}

// killVictim runs a victim, kills it after a random time, and returns how many turns it has acknowledged.
func killVictim(t *testing.T, root, run string) int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimRoot+"="+root, victimRun+"="+run)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(out)
	_, err = lines.ReadString('\n')
	require.NoError(t, err, "the victim completes a turn")
	time.Sleep(rand.N(6 * time.Millisecond))
	require.NoError(t, cmd.Process.Kill())
	acknowledged := 1
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
		require.Equal(t, strconv.Itoa(acknowledged), strings.TrimSpace(line))
		acknowledged++
	}
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	require.Equal(t, -1, exit.ExitCode(), "the victim was killed, and did not fail")
	return acknowledged
}

// judge starts again after a kill, and returns how many turns were captured, and how many captures were left to do.
func judge(t *testing.T, root, run string, acknowledged int) (turns, recovered int) {
	t.Helper()
	c, err := openCrashing(root, run)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.close()) }()
	report, err := c.memories.DrainOutbox(t.Context())
	require.NoError(t, err, "no record is torn")
	require.Zero(t, report.Failed)
	require.Empty(t, report.Unreadable)
	require.Empty(t, pending(t, c.outbox))

	left, right := c.lines(t, run, victimSlots[0]), c.lines(t, run, victimSlots[1])
	require.Equal(t, left, right, "a turn is recorded for all of its slots, or for none")
	require.GreaterOrEqual(t, len(left), acknowledged, "nothing is lost")
	require.LessOrEqual(t, len(left), acknowledged+1)
	return len(left), report.Done
}

// lines returns what a slot has captured, as turn numbers, and requires that each is there once.
func (c *crashing) lines(t *testing.T, run, slot string) []int {
	t.Helper()
	content, _, err := c.notes.Read(t.Context(), must(scope.Derive(app, scope.Tuple(run, slot))).Key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	var numbers []int
	for n, line := range strings.Split(strings.TrimSuffix(string(content), "\n"), "\n") {
		want := fmt.Sprintf("eve-memory-operation-v1:victim:%d:%d:turn.completed:%s turn %d|answer", n, n, slot, n)
		require.Equal(t, want, line, "in order, once, and with the content of the turn")
		numbers = append(numbers, n)
	}
	return numbers
}
