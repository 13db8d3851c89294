package filememory_test

import (
	"os"
	"testing"

	"github.com/recollect-go/recollect/internal/leak"
)

// TestMain runs the tests, or is one of the processes that they start.
func TestMain(m *testing.M) {
	if work := os.Getenv(childWork); work != "" {
		runChild(work)
		return
	}
	leak.Main(m)
}
