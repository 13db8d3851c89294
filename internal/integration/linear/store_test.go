package linear_test

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"sync"

	"github.com/recollect-go/recollect/internal/docstore"
)

// store keeps documents in memory and can be broken in several ways.
type store struct {
	blind          bool // writes whatever is expected
	lateConflict   bool // writes, then reports a conflict
	staleReads     bool // every tenth read returns the document before the last write
	lostIsConflict bool // calls a lost reply a conflict
	repeat         bool // applies a write whose reply was lost again, after the next one
	loseEvery      int  // loses the reply of every n-th write
	dropEvery      int  // acknowledges every n-th write without keeping it

	mu       sync.Mutex
	calls    int
	versions int
	current  map[string]document
	previous map[string]document
	pending  map[string]*document
}

type document struct{ content, version string }

func newStore() *store {
	return &store{current: map[string]document{}, previous: map[string]document{}, pending: map[string]*document{}}
}

func (s *store) Read(_ context.Context, key string) ([]byte, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	doc := s.current[key]
	if s.calls++; s.staleReads && s.calls%10 == 0 {
		doc = s.previous[key]
	}
	if doc.version == "" {
		return nil, "", fs.ErrNotExist
	}
	return []byte(doc.content), doc.version, nil
}

func (s *store) Write(_ context.Context, key string, content []byte, expected string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	matches := s.current[key].version == expected
	if !matches && !s.blind && !s.lateConflict {
		return "", &docstore.ConflictError{Key: key, Expected: expected}
	}
	doc := s.next(string(content))
	if s.dropEvery > 0 && s.calls%s.dropEvery == 0 {
		return doc.version, nil
	}
	s.put(key, doc)
	if !matches && s.lateConflict {
		return "", &docstore.ConflictError{Key: key, Expected: expected}
	}
	return doc.version, s.reply(key, doc)
}

func (s *store) Delete(_ context.Context, key, expected string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	version := s.current[key].version
	if version != "" && version != expected && !s.blind {
		return &docstore.ConflictError{Key: key, Expected: expected}
	}
	s.put(key, document{})
	return nil
}

func (s *store) next(content string) document {
	s.versions++
	return document{content, strconv.Itoa(s.versions)}
}

func (s *store) put(key string, doc document) {
	s.previous[key] = s.current[key]
	s.current[key] = doc
	if late := s.pending[key]; late != nil {
		s.pending[key] = nil
		s.current[key] = s.next(late.content)
	}
}

// reply is the error with which a write that happened comes back.
func (s *store) reply(key string, doc document) error {
	if s.loseEvery == 0 || s.calls%s.loseEvery != 0 {
		return nil
	}
	if s.repeat {
		s.pending[key] = &doc
	}
	if s.lostIsConflict {
		return &docstore.ConflictError{Key: key}
	}
	return errors.Join(docstore.ErrUnknownOutcome, errors.New("reply lost"))
}
