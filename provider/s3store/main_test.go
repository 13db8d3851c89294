package s3store

import (
	"testing"

	"github.com/recollect-go/recollect/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }
