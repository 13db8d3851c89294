package server

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Redis is a running Redis server.
type Redis struct {
	// Address is the loopback host and port.
	Address string

	arguments []string
	cmd       *exec.Cmd
}

// StartRedis starts an empty server that appends each write to its file and syncs the file before it answers. Settings,
// such as "appendonly no", come after that and win.
func StartRedis(t testing.TB, settings ...string) *Redis {
	t.Helper()
	port := freePort(t)
	server := &Redis{
		Address:   fmt.Sprintf("127.0.0.1:%d", port),
		arguments: redisArguments(folder(t, "redis"), port, settings),
	}
	server.start(t)
	return server
}

func redisArguments(dir string, port int, settings []string) []string {
	defaults := []string{
		"bind 127.0.0.1", fmt.Sprintf("port %d", port), "dir " + dir, "save ", "appendonly yes", "appendfsync always",
		"auto-aof-rewrite-percentage 0",
	}
	var arguments []string
	for _, setting := range append(defaults, settings...) {
		name, value, _ := strings.Cut(setting, " ")
		arguments = append(arguments, "--"+name, value)
	}
	return arguments
}

func (r *Redis) start(t testing.TB) {
	t.Helper()
	r.cmd = exec.Command(binary(t, "redis-server"), r.arguments...)
	start(t, r.cmd, r.answers)
}

// Restart kills the server's process and starts another on what it left behind.
func (r *Redis) Restart(t testing.TB) {
	t.Helper()
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.start(t)
}

// answers is the readiness check: a server that still loads its file accepts connections and refuses commands.
func (r *Redis) answers(ctx context.Context) error {
	client := redis.NewClient(&redis.Options{Addr: r.Address, MaxRetries: -1})
	defer client.Close()
	return client.Ping(ctx).Err()
}
