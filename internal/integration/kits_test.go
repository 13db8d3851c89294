package integration_test

import (
	"testing"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/filememory/backendtest"
	"github.com/recollect-go/recollect/state"
	"github.com/recollect-go/recollect/state/statetest"
)

// testBackend runs the conformance kit of document backends.
func testBackend(t *testing.T, e engine) {
	opts := &backendtest.Options{}
	if e.again != nil {
		opts.Reopen = func(t *testing.T, backend filememory.Backend) filememory.Backend { return e.again(t, backend) }
	}
	if e.loseReply != nil {
		opts.LoseReply = func(t *testing.T, backend filememory.Backend, applied bool) { e.loseReply(t, backend, applied) }
	}
	backendtest.Run(t, func(t *testing.T) filememory.Backend { return e.openOne(t) }, opts)
}

// testCheckpoints runs the conformance kit of checkpoint stores.
func testCheckpoints(t *testing.T, e engine) {
	opts := &statetest.Options{}
	if testing.Short() {
		opts.MaxBytes = 1 << 20
	}
	if e.again != nil {
		opts.Reopen = func(t *testing.T, store state.Store) state.Store { return e.again(t, store) }
	}
	if e.loseReply != nil {
		opts.LoseReply = func(t *testing.T, store state.Store, applied bool) { e.loseReply(t, store, applied) }
	}
	statetest.Run(t, func(t *testing.T) state.Store { return e.openOne(t) }, opts)
}
