package docstore

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// folderName returns the name of key's folder: key itself, and on a file system that does not tell upper from lower case
// also a suffix that says which letters of the digest are upper case, so that two keys never share a folder.
func (d *Dir) folderName(key string) string {
	if !d.folding {
		return key
	}
	return key + "." + caseOf(key)
}

// keyOf returns the key whose folder is name, or false.
func (d *Dir) keyOf(name string) (string, bool) {
	key := name
	if d.folding {
		key, _, _ = strings.Cut(name, ".")
	}
	if CheckKey(key) != nil || d.folderName(key) != name {
		return "", false
	}
	return key, true
}

// caseOf returns one bit for each character of the digest, in hexadecimal: 1 for an upper-case letter.
func caseOf(key string) string {
	var bits uint64
	for i := len(key) - digestLength; i < len(key); i++ {
		bits <<= 1
		if isUpper(key[i]) {
			bits |= 1
		}
	}
	return strconv.FormatUint(bits, 16)
}

// foldsCase finds out, with a file of its own, whether root's file system takes names for the same that differ in case
// only. Where nothing can be created it assumes what is usual for the system.
func foldsCase(root *os.Root) (bool, error) {
	name := ".probe-" + rand.Text()
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return runtime.GOOS == "darwin", nil
	}
	_, err = root.Lstat(strings.ToLower(name))
	folds := err == nil
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	err = errors.Join(err, file.Close(), root.Remove(name))
	if err != nil {
		return false, fmt.Errorf("probe for upper and lower case: %w", err)
	}
	return folds, nil
}
