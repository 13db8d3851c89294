package filememory

import (
	"fmt"

	"github.com/recollect-go/recollect/internal/docstore"
)

// FileName is the name of every document of a Dir.
const FileName = "MEMORY.md"

// DirBackend is a Backend and Lister in a folder of the local file system.
type DirBackend = docstore.Dir

// Dir opens the backend in the folder root, which is created if it does not exist. The document of a key is the file
// <root>/<key>/MEMORY.md, of at most MaxDocumentBytes. It may be read and edited by hand. Several processes of one
// machine may share root.
//
// A nil error of a write means that the document is on the disk: it is written beside the old one, synced, renamed, and
// the folder synced. A lock that dies with its process keeps writers apart. It fails on systems and file systems without
// such locks: Windows, Plan 9, and some network file systems.
func Dir(root string) (*DirBackend, error) {
	d, err := docstore.OpenDir(root, FileName, &docstore.DirOptions{MaxBytes: MaxDocumentBytes})
	if err != nil {
		return nil, fmt.Errorf("filememory: open folder: %w", err)
	}
	return d, nil
}
