package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// vectorsDir names another folder of vectors.
const vectorsDir = "VECTORS_DIR"

// vector is one recorded case. Want and WantError exclude each other.
type vector struct {
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Want      json.RawMessage `json:"want"`
	WantError *failure        `json:"wantError"`
}

// failure is an error as the vectors write it.
type failure struct {
	Code string `json:"code"`
}

// bundle is one file of vectors and how to run a case of it.
type bundle struct {
	file string
	// skips is the number of cases in testdata that have no form in Go.
	skips int
	// partial says that a want leaves out members that its case does not determine.
	partial bool
	// run returns what the case gives, in the form of its want, or its error, which is an inexpressible when the input has no form in Go.
	run func(t *testing.T, input json.RawMessage) (got any, err error)
}

// inexpressible says why an input has no form in Go.
type inexpressible string

func (i inexpressible) Error() string { return string(i) }

func isInexpressible(err error) bool { return errors.As(err, new(inexpressible)) }

func (b bundle) test(t *testing.T) {
	t.Parallel()
	vectors, builtIn := b.load(t)
	ran, skipped := 0, 0
	for i, v := range vectors {
		t.Run(fmt.Sprintf("%03d %s", i, v.Name), func(t *testing.T) {
			ran++
			if err := b.check(t, v); err != nil {
				skipped++
				t.Skipf("no form in Go: %v", err)
			}
		})
	}
	t.Logf("%s: %d cases, %d of them skipped", b.file, ran, skipped)
	if builtIn && ran == len(vectors) {
		assert.Equal(t, b.skips, skipped, "cases skipped")
	}
}

// load reads the file, from testdata unless another folder is named.
func (b bundle) load(t *testing.T) (vectors []vector, builtIn bool) {
	dir := os.Getenv(vectorsDir)
	builtIn = dir == ""
	if !builtIn && !filepath.IsAbs(dir) {
		dir = filepath.Join("..", "..", dir)
	}
	if builtIn {
		dir = "testdata"
	}
	data, err := os.ReadFile(filepath.Join(dir, b.file))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &vectors))
	return vectors, builtIn
}

// check runs a case and fails the test unless it gives what it should. It returns why the input has no form in Go, if so.
func (b bundle) check(t *testing.T, v vector) error {
	if err := ecma.ValidJSON(v.Input); err != nil {
		return err
	}
	got, err := b.run(t, v.Input)
	switch {
	case isInexpressible(err):
		return err
	case v.WantError != nil:
		if code := codeOf(err); code != v.WantError.Code {
			t.Errorf("input: %s\nwant error: %s\ngot error: %s (%v)\ngot: %s", v.Input, v.WantError.Code, code, err, encode(t, got))
		}
	case err != nil:
		t.Errorf("input: %s\nwant: %s\ngot error: %v", v.Input, v.Want, err)
	default:
		if encoded := encode(t, got); !b.same(t, v.Want, encoded) {
			t.Errorf("input: %s\nwant: %s\ngot:  %s", v.Input, v.Want, encoded)
		}
	}
	return nil
}

// same reports whether what a case gave is what it should: the same JSON value, with strings equal byte for byte.
func (b bundle) same(t *testing.T, want, got []byte) bool {
	t.Helper()
	var x, y any
	require.NoError(t, json.Unmarshal(want, &x))
	require.NoError(t, json.Unmarshal(got, &y))
	if b.partial {
		maps.DeleteFunc(y.(map[string]any), func(member string, _ any) bool {
			_, determined := x.(map[string]any)[member]
			return !determined
		})
	}
	return assert.ObjectsAreEqual(x, y)
}

// decode reads the input of a case. What does not fit into T has no form in Go.
func decode[T any](input json.RawMessage) (value T, err error) {
	decoder := json.NewDecoder(bytes.NewReader(input))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		return value, inexpressible(err.Error())
	}
	return value, nil
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	require.NoError(t, encoder.Encode(value))
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}
