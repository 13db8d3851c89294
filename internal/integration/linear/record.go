package linear

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/recollect-go/recollect/internal/docstore"
)

// Plan is the shape of a run.
type Plan struct {
	Clients    int // concurrent clients
	Keys       int // documents they share
	Operations int // calls of all clients together

	// Enough, if not nil, is asked before each call and ends the run early.
	Enough func() bool
}

// Full is the run that every engine has to stand.
var Full = Plan{Clients: 32, Keys: 4, Operations: 20_000}

// Record runs the plan. Client i uses stores[i % len(stores)], so several stores stand for several processes. Reads and
// writes that were certainly not done are kept apart as failures.
func Record(ctx context.Context, stores []docstore.Store, plan Plan) *History {
	h := &History{began: time.Now()}
	var left atomic.Int64
	left.Store(int64(plan.Operations))
	var clients sync.WaitGroup
	for i := range plan.Clients {
		c := &client{id: i, store: stores[i%len(stores)], history: h, seen: map[string]string{}}
		clients.Go(func() {
			for left.Add(-1) >= 0 && !plan.enough() {
				c.step(ctx, key(rand.IntN(plan.Keys)))
			}
		})
	}
	clients.Wait()
	return h
}

func (p *Plan) enough() bool { return p.Enough != nil && p.Enough() }

// key returns the i-th key of a run.
func key(i int) string {
	digest := sha256.Sum256(fmt.Appendf(nil, "linear %d", i))
	return "memscope1_" + base64.RawURLEncoding.EncodeToString(digest[:])
}

// client is one caller: it remembers the versions it has seen and makes its writes conditional on them.
type client struct {
	id      int
	store   docstore.Store
	history *History
	seen    map[string]string // the last version seen of each key
	writes  int
}

// step makes one call. Half of the calls read; the others are conditional on what the client saw last, which others have often
// changed since.
func (c *client) step(ctx context.Context, key string) {
	switch dice := rand.IntN(20); {
	case dice < 10:
		c.read(ctx, key)
	case dice < 19:
		c.write(ctx, key)
	default:
		c.remove(ctx, key)
	}
}

func (c *client) read(ctx context.Context, key string) {
	op := operation{client: c.id, key: key, kind: read, start: c.history.now()}
	content, version, err := c.store.Read(ctx, key)
	op.end = c.history.now()
	switch {
	case err == nil:
		op.content, op.version = string(content), version
	case errors.Is(err, fs.ErrNotExist):
		op.content = absent
	default:
		c.history.fail(fmt.Errorf("read: %w", err))
		return
	}
	c.seen[key] = op.version
	c.history.add(op)
}

func (c *client) write(ctx context.Context, key string) {
	c.writes++
	op := operation{client: c.id, key: key, kind: write, expected: c.seen[key], start: c.history.now()}
	op.content = fmt.Sprintf("client %d write %d", c.id, c.writes)
	version, err := c.store.Write(ctx, key, []byte(op.content), op.expected)
	op.version = version
	if c.conclude(&op, err) && op.outcome == done {
		c.seen[key] = version
	}
}

func (c *client) remove(ctx context.Context, key string) {
	op := operation{client: c.id, key: key, kind: remove, expected: c.seen[key], start: c.history.now()}
	err := c.store.Delete(ctx, key, op.expected)
	if c.conclude(&op, err) && op.outcome == done {
		c.seen[key] = ""
	}
}

// conclude records the operation with the outcome that err tells and reports whether it has one.
func (c *client) conclude(op *operation, err error) bool {
	op.end = c.history.now()
	switch {
	case err == nil:
		op.outcome = done
	case errors.Is(err, docstore.ErrConflict):
		op.outcome = conflicted
	case errors.Is(err, docstore.ErrUnknownOutcome):
		op.outcome = unknown
	default:
		c.history.fail(fmt.Errorf("%s: %w", op.kind, err))
		return false
	}
	c.history.add(*op)
	return true
}

// ReadAll adds a read of every key of the plan: what is left when the run is over.
func (h *History) ReadAll(ctx context.Context, store docstore.Store, plan Plan) {
	c := &client{id: plan.Clients, store: store, history: h, seen: map[string]string{}}
	for i := range plan.Keys {
		c.read(ctx, key(i))
	}
}
