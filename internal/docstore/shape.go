package docstore

import (
	"fmt"
	"io/fs"
)

// misshapen is the error for what info describes, which is called name and is in the place of a document or of its folder.
func misshapen(name string, info fs.FileInfo) error {
	return &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("%w: it is %s", ErrShape, kindOf(info.Mode()))}
}

func kindOf(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "a regular file"
	case fs.ModeDir:
		return "a folder"
	case fs.ModeSymlink:
		return "a symbolic link"
	case fs.ModeNamedPipe:
		return "a pipe"
	default:
		return "a socket or a device"
	}
}
