// Package proxy is a TCP proxy on loopback that cuts connections in the middle of what they carry.
package proxy

import (
	"context"
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

// Cut ends a connection once it has carried a number of bytes in one direction: those bytes arrive, the rest never does, and both ends
// see a reset.
type Cut struct {
	After     int64
	Direction Direction
}

// Proxy passes connections on to one address, and cuts those it was told to.
type Proxy struct {
	listener net.Listener
	target   string
	plan     atomic.Pointer[func() *Cut]
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

// CutWith asks plan for the fate of each connection accepted from now on; nil lets it live. A nil plan cuts nothing more.
func (p *Proxy) CutWith(plan func() *Cut) {
	if plan == nil {
		p.plan.Store(nil)
		return
	}
	p.plan.Store(&plan)
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

	limits := [2]int64{Request: -1, Reply: -1}
	if plan := p.plan.Load(); plan != nil {
		if cut := (*plan)(); cut != nil {
			limits[cut.Direction] = cut.After
		}
	}
	var halves sync.WaitGroup
	halves.Go(func() { p.pass(l, server, client, limits[Request]) })
	halves.Go(func() { p.pass(l, client, server, limits[Reply]) })
	halves.Wait()
	l.close()
}

// pass copies from one end to the other; a limit that is not negative cuts the connection there.
func (p *Proxy) pass(l *link, to, from net.Conn, limit int64) {
	if limit < 0 {
		_, _ = io.Copy(to, from)
		l.close()
		return
	}
	if n, _ := io.CopyN(to, from, limit); n < limit {
		l.close()
		return
	}
	p.cuts.Add(1)
	l.reset()
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
