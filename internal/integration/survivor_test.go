package integration_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/recollect-go/recollect/internal/docstore"
)

// survivor is the only writer of one document, which counts its writes, on a server that is killed.
type survivor struct {
	store        docstore.Store
	key          string
	attempted    int // highest number sent
	acknowledged int // highest number acknowledged
	version      string
}

// write counts on until stop is closed. After a write without an acknowledgement it looks what is there.
func (s *survivor) write(stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			return s.check()
		default:
		}
		s.attempted++
		version, err := s.store.Write(context.Background(), s.key, []byte(strconv.Itoa(s.attempted)), s.version)
		switch {
		case err == nil:
			s.acknowledged, s.version = s.attempted, version
		case errors.Is(err, docstore.ErrConflict):
			return fmt.Errorf("a conflict without a competitor: %w", err)
		default:
			if err := s.check(); err != nil {
				return err
			}
		}
	}
}

// check reads until the server answers, and returns an error unless the document holds the last acknowledged number or
// one that was sent after it.
func (s *survivor) check() error {
	for {
		content, version, err := s.store.Read(context.Background(), s.key)
		if err != nil && s.acknowledged == 0 && errors.Is(err, fs.ErrNotExist) {
			s.version = ""
			return nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("write %d was acknowledged and is gone", s.acknowledged)
		}
		if err != nil {
			continue
		}
		number, err := strconv.Atoi(string(content))
		if err != nil {
			return err
		}
		if number < s.acknowledged || number > s.attempted {
			return fmt.Errorf("found write %d, acknowledged %d, attempted %d", number, s.acknowledged, s.attempted)
		}
		s.acknowledged, s.version = number, version
		return nil
	}
}
