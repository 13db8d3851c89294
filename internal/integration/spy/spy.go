// Package spy is a database/sql driver around another that tells what is sent to it.
package spy

import (
	"context"
	"database/sql/driver"
	"slices"
	"sync"
)

// Statement is a query or command as the driver received it.
type Statement struct {
	SQL  string
	Args []any
}

// Recorder collects the statements of all connections that a Connector opens.
type Recorder struct {
	mu         sync.Mutex
	statements []Statement
}

// Take returns what was sent since the last call.
func (r *Recorder) Take() []Statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.statements
	r.statements = nil
	return taken
}

func (r *Recorder) add(query string, args []driver.NamedValue) {
	s := Statement{SQL: query}
	for _, arg := range args {
		s.Args = append(s.Args, arg.Value)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statements = append(r.statements, s)
}

// Connector returns a connector that does what inner does and records it.
func (r *Recorder) Connector(inner driver.Connector) driver.Connector {
	return &connector{Connector: inner, recorder: r}
}

type connector struct {
	driver.Connector
	recorder *Recorder
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{innerConn: inner.(innerConn), recorder: c.recorder}, nil
}

// innerConn is what the drivers under test offer.
type innerConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
}

type conn struct {
	innerConn
	recorder *Recorder
}

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	c.recorder.add(query, nil)
	return c.innerConn.Prepare(query)
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.recorder.add(query, nil)
	return c.innerConn.PrepareContext(ctx, query)
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.recorder.add(query, slices.Clone(args))
	return c.innerConn.ExecContext(ctx, query, args)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.recorder.add(query, slices.Clone(args))
	return c.innerConn.QueryContext(ctx, query, args)
}
