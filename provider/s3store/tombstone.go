package s3store

import (
	"context"
	"crypto/rand"
	"errors"
	"regexp"
)

// A tombstone stands where a document was deleted. It is random, so that its ETag was never that of a document.
const (
	tombstonePrefix = "recollect-deleted-v1 "
	tombstoneSize   = len(tombstonePrefix) + 26
)

var tombstoneGrammar = regexp.MustCompile(`^` + tombstonePrefix + `[A-Z2-7]{26}$`)

func newTombstone() []byte { return []byte(tombstonePrefix + rand.Text()) }

func isTombstone(content []byte) bool {
	return len(content) == tombstoneSize && tombstoneGrammar.Match(content)
}

// standing is what stands at the place of a document.
type standing struct {
	document  bool
	tombstone bool // neither: there is no object
	etag      string
}

// look tells what stands at the place of a document. It reads only objects of a tombstone's size.
func (s *Store) look(ctx context.Context, name string) (standing, error) {
	found, err := s.head(ctx, name)
	if errors.Is(err, errAbsent) {
		return standing{}, nil
	}
	if err != nil {
		return standing{}, err
	}
	if found.size != int64(tombstoneSize) {
		return standing{document: true, etag: found.etag}, nil
	}
	found, err = s.get(ctx, name)
	if errors.Is(err, errAbsent) {
		return standing{}, nil
	}
	if err != nil {
		return standing{}, err
	}
	tombstone := isTombstone(found.content)
	return standing{document: !tombstone, tombstone: tombstone, etag: found.etag}, nil
}
