package s3store

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	defaultPrefix   = "recollect"
	defaultMaxBytes = 16 << 20
	// maxObjectKey is the protocol's limit for the name of an object, in bytes.
	maxObjectKey = 1024
	// keyBytes leaves room for any key of this library, and for the probe's.
	keyBytes = 128
)

// Options configures New. The zero value means the defaults.
type Options struct {
	// Prefix is the folder of all documents, without slashes around it. "" means recollect. Documents and checkpoints belong
	// in folders of their own, so that a listing of one kind is free of the other.
	Prefix string
	// MaxBytes is the size of the largest document that is read or written, at least 47. 0 means 16 MiB.
	MaxBytes int64
	// ConditionalDelete removes documents by a DeleteObject with If-Match, where the default leaves tombstones. Set it for
	// Amazon S3, and elsewhere only if the store documents that it compares and deletes in one step.
	ConditionalDelete bool
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Prefix == "" {
		out.Prefix = defaultPrefix
	}
	if out.MaxBytes == 0 {
		out.MaxBytes = defaultMaxBytes
	}
	return out
}

// check returns every problem of options with defaults.
func (o *Options) check() error {
	var problems []error
	if err := checkPrefix(o.Prefix); err != nil {
		problems = append(problems, fmt.Errorf("prefix %w", err))
	}
	if o.MaxBytes < int64(tombstoneSize) {
		problems = append(problems, fmt.Errorf("MaxBytes %d is less than the %d of a tombstone", o.MaxBytes, tombstoneSize))
	}
	return errors.Join(problems...)
}

// checkPrefix refuses what stores that keep objects in a file system would change.
func checkPrefix(prefix string) error {
	if !utf8.ValidString(prefix) {
		return errors.New("is not valid UTF-8")
	}
	if len(prefix)+keyBytes > maxObjectKey {
		return fmt.Errorf("is over %d bytes", maxObjectKey-keyBytes)
	}
	for part := range strings.SplitSeq(prefix, "/") {
		if part == "" || part == "." || part == ".." {
			return errors.New("has an empty part or one of dots")
		}
	}
	return nil
}
