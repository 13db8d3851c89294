package integration_test

import (
	"bytes"
	"context"
	"net"
	"sync"
	"syscall"
)

// replyThief makes a client lose replies of a Redis server, exactly when a test wants it.
type replyThief struct {
	after func() // runs between the server's act and the loss of its reply; set before the client is used

	mu       sync.Mutex
	replies  int  // how many replies are still to be stolen
	writing  bool // the next write is to be lost...
	swallows bool // ...before the server sees it
}

// steal lets the next n requests through and loses their replies.
func (r *replyThief) steal(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replies = n
}

// takeWrite loses the next script, or only its reply if applied, and the reply to the request after that.
func (r *replyThief) takeWrite(applied bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writing, r.swallows = true, !applied
}

func (r *replyThief) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &thievedConn{Conn: conn, thief: r}, nil
}

// swallowed reports whether a request is to be lost before the server sees it.
func (r *replyThief) swallowed(request []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.writing || !bytes.Contains(request, []byte("eval")) {
		return false
	}
	r.writing, r.replies = false, 2
	if r.swallows {
		r.replies = 1
	}
	return r.swallows
}

// stolen reports whether a reply that has arrived is to be lost. That a script is not known yet is not worth stealing: it
// comes again.
func (r *replyThief) stolen(reply []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.replies == 0 || bytes.Contains(reply, []byte("NOSCRIPT")) {
		return false
	}
	r.replies--
	return true
}

type thievedConn struct {
	net.Conn
	thief *replyThief
}

func (c *thievedConn) Write(p []byte) (int, error) {
	if c.thief.swallowed(p) {
		_ = c.Conn.Close()
		return 0, syscall.ECONNRESET
	}
	return c.Conn.Write(p)
}

func (c *thievedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil || !c.thief.stolen(p[:n]) {
		return n, err
	}
	if c.thief.after != nil {
		c.thief.after()
	}
	_ = c.Conn.Close()
	return 0, syscall.ECONNRESET
}
