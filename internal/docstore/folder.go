package docstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// folder is the opened folder of a key.
type folder struct {
	key  string
	root *os.Root
	self *os.File // for locking and syncing
}

func (f *folder) close() {
	// Nothing was written through either.
	_ = f.self.Close()
	_ = f.root.Close()
}

func (f *folder) removeIfExists(name string) error {
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// openFolder returns the folder of key, or nil when there is none.
func (d *Dir) openFolder(key string) (*folder, error) {
	for {
		f, err := d.tryFolder(key)
		if err != nil || f == nil {
			return nil, err
		}
		same, err := d.isCurrent(f)
		if err == nil && same {
			return f, nil
		}
		f.close()
		if err != nil {
			return nil, err
		}
	}
}

// tryFolder opens the folder of key without a look at whether it still bears that name.
func (d *Dir) tryFolder(key string) (*folder, error) {
	name := d.folderName(key)
	if _, err := d.lstatFolder(name); err != nil {
		return nil, ignoreNotExist(err)
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, ignoreNotExist(err)
	}
	self, err := root.Open(".")
	if err != nil {
		return nil, errors.Join(ignoreNotExist(err), root.Close())
	}
	return &folder{key: key, root: root, self: self}, nil
}

// lstatFolder describes the folder with the given name. A pipe would block whoever opens it and a link may lead to
// another key, so both are refused here.
func (d *Dir) lstatFolder(name string) (fs.FileInfo, error) {
	info, err := d.root.Lstat(name)
	if err == nil && !info.IsDir() {
		return nil, misshapen(name, info)
	}
	return info, err
}

// isCurrent reports whether f is what the name of its key leads to: somebody may have removed the folder since it was
// opened, and made a new one.
func (d *Dir) isCurrent(f *folder) (bool, error) {
	named, err := d.lstatFolder(d.folderName(f.key))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	opened, err := f.self.Stat()
	if err != nil {
		return false, err
	}
	return os.SameFile(named, opened), nil
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Waiting for another process is polling, because a blocked flock could not be cancelled. Goroutines of this process
// queue up first, so one at a time polls.
const (
	firstPoll = 50 * time.Microsecond
	lastPoll  = time.Millisecond
)

// lock returns the folder of key, locked, or nil when there is none and create is false. After a folder the caller must
// release it.
func (d *Dir) lock(ctx context.Context, key string, create bool) (*folder, error) {
	if err := d.queues.enter(ctx, key); err != nil {
		return nil, err
	}
	f, err := d.lockFolder(ctx, key, create)
	if err != nil || f == nil {
		d.queues.leave(key)
	}
	return f, err
}

func (d *Dir) release(f *folder) {
	f.close()
	d.queues.leave(f.key)
}

func (d *Dir) lockFolder(ctx context.Context, key string, create bool) (*folder, error) {
	for {
		f, err := d.tryFolder(key)
		if err != nil {
			return nil, err
		}
		if f == nil && !create {
			return nil, d.checkRoot()
		}
		if f == nil {
			if err := d.root.Mkdir(d.folderName(key), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
			continue
		}
		err = waitLock(ctx, f.self)
		current := false
		if err == nil {
			current, err = d.isCurrent(f)
		}
		if err == nil && current {
			return f, nil
		}
		f.close()
		if err != nil {
			return nil, err
		}
	}
}

// waitLock waits for the lock of the open folder f, or for the end of ctx.
func waitLock(ctx context.Context, f *os.File) error {
	var timer *time.Timer
	for pause := firstPoll; ; pause = min(2*pause, lastPoll) {
		locked, err := tryLock(f)
		if err != nil || locked {
			return err
		}
		if timer == nil {
			timer = time.NewTimer(pause)
			defer timer.Stop()
		} else {
			timer.Reset(pause)
		}
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
