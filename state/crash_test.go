package state_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/state"
)

// The environment that makes the test binary a victim, which commits steps until it is killed.
const (
	victimRoot = "RECOLLECT_STATE_VICTIM_ROOT"
	victimTurn = "RECOLLECT_STATE_VICTIM_TURN"
)

var crashed = state.ID{Session: "crashed"}

// victimState is large enough that its file is written in more than one piece.
type victimState struct {
	Done int
	Pad  [3000]int
}

func victimHandle() (*state.Handle[victimState], error) {
	return state.DefineIn(new(state.Registry), "crash.victim", zero[victimState])
}

// victim commits steps without end and acknowledges each on standard output.
func victim(root, turn string) {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, "victim:", err)
		os.Exit(3)
	}
	h, s, ctx, err := openVictim(context.Background(), root, turn)
	if err != nil {
		fail(err)
	}
	for {
		done, err := state.Step(s.Context(ctx), "work", work(h))
		if err != nil {
			fail(err)
		}
		fmt.Println(done)
	}
}

func openVictim(ctx context.Context, root, turn string) (*state.Handle[victimState], *state.Session, context.Context, error) {
	store, err := state.Dir(root, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	context.AfterFunc(ctx, func() { _ = store.Close() })
	h, err := victimHandle()
	if err != nil {
		return nil, nil, nil, err
	}
	s, err := state.Open(ctx, store, crashed, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	return h, s, s.Context(ctx), s.BeginTurn(ctx, turn)
}

// work is a step that counts itself.
func work(h *state.Handle[victimState]) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		v, err := h.Update(ctx, func(v victimState) (victimState, error) {
			v.Done++
			for i := range v.Pad {
				v.Pad[i] = v.Done
			}
			return v, nil
		})
		return v.Done, err
	}
}

func TestAProcessKilledDuringCommitsLosesNoAcknowledgedStep(t *testing.T) {
	t.Parallel()
	kills := 200
	if testing.Short() {
		kills = 20
	}
	root := t.TempDir()
	total := 0
	for run := range kills {
		turn := fmt.Sprint("turn ", run)
		acknowledged := max(total, killVictim(t, root, turn))
		total = checkVictim(t, root, turn, total, acknowledged)
	}
	t.Logf("%d kills, %d steps", kills, total)
}

// killVictim runs a victim, kills it after a random time, and returns the last step that it acknowledged, or 0.
func killVictim(t *testing.T, root, turn string) int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimRoot+"="+root, victimTurn+"="+turn)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	require.NoError(t, err, "the victim commits a step")
	time.Sleep(rand.N(5 * time.Millisecond))
	require.NoError(t, cmd.Process.Kill())
	last := number(t, first)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
		last = number(t, line)
	}
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	require.Equal(t, -1, exit.ExitCode(), "the victim was killed, and did not fail")
	return last
}

func number(t *testing.T, line string) int {
	t.Helper()
	n, err := strconv.Atoi(line[:len(line)-1])
	require.NoError(t, err)
	return n
}

var errEnd = errors.New("nothing more is recorded")

// checkVictim resumes a victim's turn and returns how many steps all victims have completed.
func checkVictim(t *testing.T, root, turn string, before, acknowledged int) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	h, s, ctx, err := openVictim(ctx, root, turn)
	require.NoError(t, err, "no checkpoint is torn")

	recorded := before
	for {
		done, err := state.Step(ctx, "work", func(context.Context) (int, error) { return 0, errEnd })
		if errors.Is(err, errEnd) {
			break
		}
		require.NoError(t, err)
		require.Equal(t, recorded+1, done, "steps are recorded in order")
		recorded = done
	}
	v, err := h.Get(ctx)
	require.NoError(t, err)
	require.Equal(t, recorded, v.Done, "a step's result and its change are stored together")
	for _, pad := range v.Pad {
		require.Equal(t, v.Done, pad, "the value is whole")
	}
	require.GreaterOrEqual(t, recorded, acknowledged, "every acknowledged step is there")
	require.LessOrEqual(t, recorded, acknowledged+1)

	require.NoError(t, s.BeginTurn(ctx, turn+" checked"))
	done, err := state.Step(ctx, "work", work(h))
	require.NoError(t, err, "no lock is left behind")
	return done
}
