package server

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Postgres is a running PostgreSQL server. Its durability settings are the defaults: fsync and synchronous_commit are on.
type Postgres struct {
	// Address is the loopback host and port.
	Address string
}

// StartPostgres starts a server with the empty database postgres.
func StartPostgres(t testing.TB) *Postgres {
	t.Helper()
	program := binary(t, "postgres", "/usr/lib/postgresql/*/bin/postgres")
	dir := folder(t, "postgres")
	port := freePort(t)

	initdb := exec.Command(filepath.Join(filepath.Dir(program), "initdb"),
		"--pgdata="+filepath.Join(dir, "data"), "--username=recollect", "--auth=trust",
		"--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	if err := asOrdinaryUser(initdb, dir); err != nil {
		t.Fatal(err)
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}

	cmd := exec.Command(program, "-D", filepath.Join(dir, "data"),
		"-c", "listen_addresses=127.0.0.1", "-c", fmt.Sprintf("port=%d", port), "-c", "unix_socket_directories=",
		"-c", "max_connections=300")
	if err := asOrdinaryUser(cmd, dir); err != nil {
		t.Fatal(err)
	}
	server := &Postgres{Address: fmt.Sprintf("127.0.0.1:%d", port)}
	start(t, cmd, server.answers)
	return server
}

// DSN returns the connection string of the database, reached at address: the server's own, or a proxy's before it.
func (p *Postgres) DSN(address string) string {
	return fmt.Sprintf("postgres://recollect@%s/postgres?sslmode=disable", address)
}

// answers is the readiness check: a port that accepts connections may still belong to a server that refuses them while it
// starts.
func (p *Postgres) answers(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, p.DSN(p.Address))
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}
