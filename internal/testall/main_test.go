package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

func TestReportCountsTestsAndKeepsTheReasonOfASkip(t *testing.T) {
	t.Parallel()
	const events = `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: no server\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:9: wrong\n"}
{"Action":"fail","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p","Elapsed":1.5}
{"Action":"pass","Package":"q","Elapsed":0.25}
`
	var r report
	var out strings.Builder
	require.NoError(t, r.read(strings.NewReader(events), &out))
	r.print(&out)
	assert.Equal(t, "    c_test.go:9: wrong\nFAIL\tp\t1.500s\nok  \tq\t0.250s\n"+
		"skipped p.TestA: a_test.go:7: no server\n1 passed, 1 failed, 1 skipped\n", out.String())
}

func TestBuildErrorsArePrinted(t *testing.T) {
	t.Parallel()
	var r report
	var out strings.Builder
	require.NoError(t, r.read(strings.NewReader(`{"ImportPath":"p","Action":"build-output","Output":"p.go:1: broken\n"}
{"Action":"fail","Package":"p","FailedBuild":"p"}
not json
`), &out))
	assert.Equal(t, "p.go:1: broken\nFAIL\tp\t0.000s\nnot json\n", out.String())
}
