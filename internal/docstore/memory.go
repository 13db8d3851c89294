package docstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"slices"
	"strconv"
	"sync"
)

// Memory is a Store and Lister that lives and dies with the process. It may be used concurrently.
type Memory struct {
	origin string // makes the versions of two stores differ

	mu        sync.RWMutex
	writes    uint64
	documents map[string]document
}

// document is never changed once it is stored, so it can be copied outside the lock.
type document struct {
	content []byte
	version string
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{origin: rand.Text() + "-", documents: map[string]document{}}
}

// Read returns a copy of the document and its version.
func (m *Memory) Read(ctx context.Context, key string) ([]byte, string, error) {
	if err := begin(ctx, key); err != nil {
		return nil, "", err
	}
	m.mu.RLock()
	stored, ok := m.documents[key]
	m.mu.RUnlock()
	if !ok {
		return nil, "", notExist(key)
	}
	return bytes.Clone(stored.content), stored.version, nil
}

// Write stores a copy of content if the version is expected.
func (m *Memory) Write(ctx context.Context, key string, content []byte, expected string) (string, error) {
	if err := begin(ctx, key); err != nil {
		return "", err
	}
	next := append(make([]byte, 0, len(content)), content...)
	m.mu.Lock()
	defer m.mu.Unlock()
	if actual := m.documents[key].version; actual != expected {
		return "", &ConflictError{Key: key, Expected: expected, Actual: actual}
	}
	m.writes++
	version := m.origin + strconv.FormatUint(m.writes, 36)
	m.documents[key] = document{content: next, version: version}
	return version, nil
}

// Delete removes the document if its version is expected.
func (m *Memory) Delete(ctx context.Context, key, expected string) error {
	if err := begin(ctx, key); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	stored, ok := m.documents[key]
	if !ok {
		return nil
	}
	if stored.version != expected {
		return &ConflictError{Key: key, Expected: expected, Actual: stored.version}
	}
	delete(m.documents, key)
	return nil
}

// List returns keys in ascending order; the cursor is the last key of the page before. A page costs a look at every key.
func (m *Memory) List(ctx context.Context, cursor string, limit int) ([]string, string, error) {
	if limit < 1 {
		return nil, "", errLimit
	}
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	m.mu.RLock()
	var keys []string
	for key := range m.documents {
		if key > cursor {
			keys = append(keys, key)
		}
	}
	m.mu.RUnlock()
	page, next := cut(keys, limit)
	return page, next, nil
}

// begin is what every operation on a key checks before it touches storage.
func begin(ctx context.Context, key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	return ctx.Err()
}

// cut sorts names and returns the first limit of them, and the cursor behind them if there are more.
func cut(names []string, limit int) (page []string, next string) {
	slices.Sort(names)
	if len(names) <= limit {
		return names, ""
	}
	return names[:limit:limit], names[limit-1]
}
