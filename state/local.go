package state

import (
	"fmt"

	"github.com/recollect-go/recollect/internal/docstore"
)

// checkpointFile is the name of the file that holds a checkpoint below its key's folder.
const checkpointFile = "STATE.json"

// MemoryStore is the store that InMemory returns.
type MemoryStore = docstore.Memory

// DirStore is the store that Dir returns. Close releases its hold on the root folder.
type DirStore = docstore.Dir

// DirOptions configures Dir. nil means all defaults.
type DirOptions = docstore.DirOptions

// InMemory returns an empty store that dies with the process. It is for tests, and for sessions that nobody has to resume.
func InMemory() *MemoryStore { return docstore.NewMemory() }

// Dir returns the store in the folder root, which is created if it does not exist. The checkpoint of a key is the file
// <root>/<key>/STATE.json, readable by its owner only. A write is on the disk when it returns, a reader never sees half
// of one, and several processes may share the folder. The caller closes the store.
func Dir(root string, opts *DirOptions) (*DirStore, error) {
	store, err := docstore.OpenDir(root, checkpointFile, opts)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	return store, nil
}
