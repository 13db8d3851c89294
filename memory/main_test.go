package memory_test

import (
	"os"
	"testing"

	"github.com/recollect-go/recollect/internal/leak"
)

func TestMain(m *testing.M) {
	if root := os.Getenv(victimRoot); root != "" {
		victim(root, os.Getenv(victimRun))
	}
	leak.Main(m)
}
