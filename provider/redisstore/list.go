package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/recollect-go/recollect/filememory"
)

// List returns up to limit keys. It scans the servers' whole key space, one master after the other, so a page may be
// empty: a server looks at about limit of its keys, whoever's they are, for each page. A key may appear twice. A server
// that was restarted and a cluster whose slots moved end the listing with an error matching ErrCursor. Do not list while
// slots are being moved.
func (s *Store) List(ctx context.Context, cursor string, limit int) (keys []string, next string, err error) {
	if limit < 1 {
		return nil, "", failed("list", errors.New("limit is less than 1"))
	}
	at, err := parseCursor(cursor)
	if err != nil {
		return nil, "", failed("list", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, "", failed("list", err)
	}
	more := true
	if len(at.Left) < limit {
		if more, err = s.advance(ctx, at, limit); err != nil {
			return nil, "", failed("list", err)
		}
	}
	handed := min(limit, len(at.Left))
	keys, at.Left = at.Left[:handed:handed], at.Left[handed:]
	if !more && len(at.Left) == 0 {
		return keys, "", nil
	}
	return keys, at.String(), nil
}

// advance scans once more, adds what it finds to at.Left, moves at, and reports whether there is anything after it.
func (s *Store) advance(ctx context.Context, at *cursor, limit int) (more bool, err error) {
	nodes, layout, err := s.masters(ctx)
	if err != nil {
		return false, err
	}
	begun := at.Node > 0 || at.Run != ""
	if begun && at.Layout != layout {
		return false, fmt.Errorf("%w: the cluster's slots moved", ErrCursor)
	}
	at.Layout = layout
	if at.Node >= len(nodes) {
		return false, nil
	}
	page, err := s.scan(ctx, nodes[at.Node], at.Scan, limit)
	if err != nil {
		return false, err
	}
	if at.Run != "" && at.Run != page.run {
		return false, fmt.Errorf("%w: the server was restarted or replaced", ErrCursor)
	}
	at.Left = append(at.Left, page.keys...)
	at.Run, at.Scan = page.run, page.next
	if page.next == 0 {
		at.Node, at.Run = at.Node+1, ""
	}
	return at.Node < len(nodes), nil
}

// scanned is one step of one server's scan.
type scanned struct {
	run  string // names the process that the cursor belongs to
	keys []string
	next uint64 // 0 at the end
}

// scan asks for the run id in the same round trip, on the same connection.
func (s *Store) scan(ctx context.Context, node pipeliner, from uint64, count int) (*scanned, error) {
	var info *redis.StringCmd
	var page *redis.ScanCmd
	err := s.workers.prompt(ctx, func() error {
		_, err := node.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			info = pipe.Info(ctx, "server")
			page = pipe.Scan(ctx, from, escapeGlob(s.prefix)+"*", int64(count))
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	found, next := page.Val()
	result := &scanned{run: parseInfo(info.Val())["run_id"], next: next}
	for _, name := range found {
		if key, ours := strings.CutPrefix(name, s.prefix); ours && filememory.CheckKey(key) == nil {
			result.keys = append(result.keys, key)
		}
	}
	return result, nil
}

// escapeGlob returns the pattern that matches text alone.
func escapeGlob(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(text)
}
