// Package proxy is a TCP proxy on loopback that cuts connections in the middle of what they carry.
package proxy

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Direction is the half of a connection that a cut counts.
type Direction int

const (
	// Request is what the client sends.
	Request Direction = iota
	// Reply is what the server sends.
	Reply
)

// Cut ends a connection once it has carried a number of bytes in one direction: those bytes arrive, the rest never does,
// and both ends see a reset.
type Cut struct {
	After     int64
	Direction Direction
}

// Proxy passes connections on to one address, and cuts those it was told to.
type Proxy struct {
	listener net.Listener
	target   string
	plan     atomic.Pointer[func() *Cut]
	trap     atomic.Pointer[trap]
	open     sync.WaitGroup
	mu       sync.Mutex
	links    map[*link]struct{}
	closed   bool
	cuts     atomic.Int64
}

// Start proxies connections to target until the test ends. Nothing is cut until CutWith is called.
func Start(t testing.TB, target string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, target: target, links: map[*link]struct{}{}}
	p.open.Add(1)
	go p.accept()
	t.Cleanup(p.stop)
	return p
}

// Address is what clients dial.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Cuts returns how many connections were cut so far.
func (p *Proxy) Cuts() int { return int(p.cuts.Load()) }

// CutWith asks plan for the fate of each connection accepted from now on; a nil Cut lets it live. A nil plan
// ends that for all connections.
func (p *Proxy) CutWith(plan func() *Cut) {
	if plan == nil {
		p.plan.Store(nil)
		return
	}
	p.plan.Store(&plan)
}

// trap cuts the first connection that carries what it matches.
type trap struct {
	direction Direction
	matches   func(data []byte) bool
}

// CutOn cuts the next connection, open already or not, that carries data which matches in that direction. The data does not
// arrive. It is judged as it comes in from the kernel, so matches should look for what fits in one packet.
func (p *Proxy) CutOn(direction Direction, matches func(data []byte) bool) {
	p.trap.Store(&trap{direction, matches})
}

// trapped reports whether the connection that carries data is to be cut. A trap works once.
func (p *Proxy) trapped(direction Direction, data []byte) bool {
	trap := p.trap.Load()
	return trap != nil && trap.direction == direction && trap.matches(data) && p.trap.CompareAndSwap(trap, nil)
}

// Anywhere is a plan that cuts each connection after at most most bytes of a random direction.
func Anywhere(most int64) func() *Cut {
	return func() *Cut {
		return &Cut{After: 1 + rand.Int64N(most), Direction: Direction(rand.IntN(2))}
	}
}

// CutAll resets every connection that is open now.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		p.cuts.Add(1)
		l.reset()
	}
}

func (p *Proxy) stop() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for l := range p.links {
		l.reset()
	}
	p.mu.Unlock()
	p.open.Wait()
}

func (p *Proxy) accept() {
	defer p.open.Done()
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.open.Add(1)
		go p.serve(client)
	}
}

func (p *Proxy) serve(client net.Conn) {
	defer p.open.Done()
	server, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		_ = client.Close()
		return
	}
	l := &link{client: client, server: server}
	if !p.register(l) {
		l.reset()
		return
	}
	defer p.forget(l)

	requests := &half{proxy: p, link: l, to: server, direction: Request}
	replies := &half{proxy: p, link: l, to: client, direction: Reply}
	if plan := p.plan.Load(); plan != nil {
		if cut := (*plan)(); cut != nil {
			[]*half{Request: requests, Reply: replies}[cut.Direction].limit = cut.After
		}
	}
	var halves sync.WaitGroup
	halves.Go(func() { requests.pass(client) })
	halves.Go(func() { replies.pass(server) })
	halves.Wait()
}

// half is one direction of a connection.
type half struct {
	proxy     *Proxy
	link      *link
	to        net.Conn
	direction Direction
	limit     int64 // bytes after which the connection is cut; 0 means never
	passed    int64
}

// pass copies what comes from one end to the other, until either closes or the connection is cut.
func (h *half) pass(from net.Conn) {
	if _, err := io.Copy(h, from); errors.Is(err, errCut) {
		h.proxy.cuts.Add(1)
		h.link.reset()
		return
	}
	h.link.close()
}

var errCut = errors.New("proxy: connection cut")

// Write passes data on, or as much of it as the cut lets through.
func (h *half) Write(data []byte) (int, error) {
	if h.proxy.trapped(h.direction, data) {
		return 0, errCut
	}
	left := h.limit - h.passed
	if h.limit == 0 || h.proxy.plan.Load() == nil || int64(len(data)) < left {
		h.passed += int64(len(data))
		return h.to.Write(data)
	}
	n, err := h.to.Write(data[:left])
	return n, errors.Join(errCut, err)
}

func (p *Proxy) register(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.links[l] = struct{}{}
	return true
}

func (p *Proxy) forget(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// link is one proxied connection.
type link struct{ client, server net.Conn }

func (l *link) close() {
	_ = l.client.Close()
	_ = l.server.Close()
}

// reset closes both ends so that the kernel discards what is on its way and the peers see a reset, not an orderly end.
func (l *link) reset() {
	for _, conn := range []net.Conn{l.client, l.server} {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}
	l.close()
}
