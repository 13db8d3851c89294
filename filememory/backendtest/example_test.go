package backendtest_test

import (
	"testing"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/filememory/backendtest"
)

// The body of a test function. It has no output to compare: what it prints is the tests.
func ExampleRun() {
	testBackend := func(t *testing.T) {
		open := func(*testing.T) filememory.Backend { return filememory.InMemory() }
		backendtest.Run(t, open, &backendtest.Options{
			MaxBytes: 8 << 20,
			Skip:     map[string]string{"content-bytes": "this backend is for text, as its documentation says"},
		})
	}
	_ = testBackend
}
