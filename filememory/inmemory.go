package filememory

import "github.com/recollect-go/recollect/internal/docstore"

// MemoryBackend is a Backend and Lister that lives and dies with the process.
type MemoryBackend = docstore.Memory

// InMemory returns an empty backend for tests and development.
func InMemory() *MemoryBackend { return docstore.NewMemory() }
