package filememory_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
)

// childWork names the environment variable with what a child process is to do, as JSON.
const childWork = "FILEMEMORY_CHILD"

// work is what a child process does: its writers save short texts that begin with its name into one document, and it
// prints a line for each: "saved" and the text once the save was acknowledged, "refused" and the error otherwise.
type work struct {
	Root    string
	Key     string
	Name    string
	Writers int
	Saves   int  // of each writer
	Plain   bool // hides what a Dir can do beyond Backend
}

func runChild(encoded string) {
	var w work
	if err := json.Unmarshal([]byte(encoded), &w); err != nil {
		panic(err)
	}
	dir, err := filememory.Dir(w.Root)
	if err != nil {
		panic(err)
	}
	var backend filememory.Backend = dir
	if w.Plain {
		backend = struct{ filememory.Backend }{dir}
	}
	provider, err := filememory.New(backend, &filememory.Options{MaxCharacters: 1 << 20})
	if err != nil {
		panic(err)
	}
	slot := provider.Slot("profile")
	var group sync.WaitGroup
	for writer := range w.Writers {
		group.Go(func() {
			for n := range w.Saves {
				text := fmt.Sprintf("%s-%d-%d", w.Name, writer, n)
				if _, err := slot.Save(context.Background(), w.Key, text); err != nil {
					fmt.Println("refused", err)
					continue
				}
				fmt.Println("saved", text) // one write: lines of several writers do not mix
			}
		})
	}
	group.Wait()
}

// child is a started process.
type child struct {
	cmd *exec.Cmd
	out *bufio.Scanner
}

func startChild(t *testing.T, w work) *child {
	t.Helper()
	encoded, err := json.Marshal(w)
	require.NoError(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childWork+"="+string(encoded))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // of a child that is still there
		_ = cmd.Wait()
	})
	return &child{cmd: cmd, out: bufio.NewScanner(out)}
}

// results reads what the child prints until it ends.
func (c *child) results() (saved, refused []string) {
	for c.out.Scan() {
		if text, ok := strings.CutPrefix(c.out.Text(), "saved "); ok {
			saved = append(saved, text)
		} else {
			refused = append(refused, c.out.Text())
		}
	}
	return saved, refused
}

func openProvider(t *testing.T, root string) *filememory.Provider {
	t.Helper()
	dir, err := filememory.Dir(root)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dir.Close()) })
	return newProvider(t, dir, &filememory.Options{MaxCharacters: 1 << 20})
}

// requireEachOnce fails unless every text is in the document exactly once, and no other text twice.
func requireEachOnce(t *testing.T, provider *filememory.Provider, k string, texts []string) {
	t.Helper()
	entries, err := provider.Slot("profile").List(t.Context(), k)
	require.NoError(t, err)
	count, indexes := map[string]int{}, map[int64]bool{}
	for _, entry := range entries {
		count[entry.Text]++
		require.Equal(t, 1, count[entry.Text], "times that %q is there", entry.Text)
		require.False(t, indexes[entry.Index], "index %d occurs twice", entry.Index)
		indexes[entry.Index] = true
	}
	for _, text := range texts {
		require.Equal(t, 1, count[text], "times that %q is there, whose save was acknowledged", text)
	}
}

func TestTwoProcessesLoseNoSaveAndRefuseNearlyNone(t *testing.T) {
	t.Parallel()
	saves := 500
	if testing.Short() {
		saves = 100
	}
	const processes, writers = 2, 8
	for name, plain := range map[string]bool{"a Dir": false, "a Dir behind a wrapper": true} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			var children []*child
			for i := range processes {
				children = append(children, startChild(t, work{
					Root: root, Key: key, Name: fmt.Sprintf("p%d", i), Writers: writers, Saves: (saves + 15) / 16, Plain: plain,
				}))
			}
			var saved, refused []string
			for _, c := range children {
				s, r := c.results()
				require.NoError(t, c.cmd.Wait())
				saved, refused = append(saved, s...), append(refused, r...)
			}
			t.Logf("%d saved, %d refused", len(saved), len(refused))
			require.GreaterOrEqual(t, len(saved)+len(refused), saves)
			require.Less(t, 100*len(refused), len(saved), "%v", refused)
			requireEachOnce(t, openProvider(t, root), key, saved)
		})
	}
}

func TestAKilledProcessLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	kills := 200
	if testing.Short() {
		kills = 20
	}
	const lanes = 4 // side by side, because a process mostly waits for the disk
	for lane := range lanes {
		t.Run(fmt.Sprintf("lane %d", lane), func(t *testing.T) {
			t.Parallel()
			killRepeatedly(t, kills/lanes)
		})
	}
}

func killRepeatedly(t *testing.T, kills int) {
	const killsPerDocument = 10 // so that the document stays under its limit
	root := t.TempDir()
	provider := openProvider(t, root)
	var saved []string
	var k string
	for kill := range kills {
		if kill%killsPerDocument == 0 {
			k = fmt.Sprintf("memscope1_%043d", kill)
			saved = nil
		}
		saved = append(saved, saveUntilKilled(t, work{Root: root, Key: k, Name: fmt.Sprintf("k%d", kill), Writers: 4, Saves: 60})...)
		requireEachOnce(t, provider, k, saved)

		// No lock and no file is left: the next writer is not held up, and cleans up.
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		text := fmt.Sprintf("after kill %d", kill)
		_, err := provider.Slot("profile").Save(ctx, k, text)
		cancel()
		require.NoError(t, err, "save after kill %d", kill)
		saved = append(saved, text)
		requireOnlyTheDocument(t, filepath.Join(root, k))
	}
}

func requireOnlyTheDocument(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, filememory.FileName, entries[0].Name())
}

// saveUntilKilled starts a process that saves, kills it at some time after its first save, and returns what it acknowledged.
func saveUntilKilled(t *testing.T, w work) []string {
	t.Helper()
	c := startChild(t, w)
	require.True(t, c.out.Scan(), "the process ended before it saved anything")
	first, ok := strings.CutPrefix(c.out.Text(), "saved ")
	require.True(t, ok, c.out.Text())
	time.AfterFunc(rand.N(20*time.Millisecond), func() { _ = c.cmd.Process.Kill() })
	saved, refused := c.results()
	var exit *exec.ExitError
	if err := c.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	require.Empty(t, refused)
	return append(saved, first)
}
