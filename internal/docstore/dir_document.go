package docstore

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
)

// read returns the document as it is, or nil when there is none.
func (d *Dir) read(key string) ([]byte, error) {
	f, err := d.openFolder(key)
	if err != nil || f == nil {
		return nil, err
	}
	defer f.close()
	return d.readFile(f)
}

// readFile returns the document in f, never nil, or nil when there is none. It never reads more than the limit.
func (d *Dir) readFile(f *folder) ([]byte, error) {
	file, err := d.openFile(f)
	if err != nil || file == nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, misshapen(d.file, info)
	}
	if info.Size() > d.max {
		return nil, &TooLargeError{Key: f.key, Size: info.Size(), Limit: d.max}
	}
	// One byte more than the size shows the end of the file in the same read, and a file that grows is refused.
	content := make([]byte, 0, info.Size()+1)
	for {
		n, err := file.Read(content[len(content):cap(content)])
		content = content[:len(content)+n]
		if err == io.EOF {
			return content, nil
		}
		if err != nil {
			return nil, err
		}
		if size := int64(len(content)); size > d.max {
			return nil, &TooLargeError{Key: f.key, Size: size, Limit: d.max}
		}
		if len(content) == cap(content) {
			content = append(content, 0)[:len(content)]
		}
	}
}

// openFile opens the document in f, or returns nil when there is none. No link is followed, wherever it leads: a write
// would replace it and leave the old text where it led.
func (d *Dir) openFile(f *folder) (*os.File, error) {
	info, err := f.root.Lstat(d.file)
	if err != nil {
		return nil, ignoreNotExist(err)
	}
	if !info.Mode().IsRegular() {
		return nil, misshapen(d.file, info)
	}
	file, err := f.root.OpenFile(d.file, os.O_RDONLY|nonblock, 0)
	return file, ignoreNotExist(err)
}

// change calls decide with the locked folder of key and its document, nil when there is none. Without create, an absent
// folder is not made, and decide is called with neither.
func (d *Dir) change(ctx context.Context, key string, create bool, decide func(*folder, []byte) error) error {
	f, err := d.lock(ctx, key, create)
	if err != nil {
		return err
	}
	if f == nil {
		return decide(nil, nil)
	}
	defer d.release(f)
	current, err := d.readFile(f)
	if err != nil {
		return err
	}
	err = decide(f, current)
	if err != nil && current == nil {
		d.removeFolder(key)
	}
	return err
}

// replace makes content the document in f: either it does, durably, or the error tells that it did not or that nobody knows.
func (d *Dir) replace(ctx context.Context, f *folder, content []byte, created bool) error {
	if created {
		// The folder's own name must be durable before a document can be seen in it: the process that made the folder may have died
		// before it got here, and those that replace the document later do not ask.
		if err := d.self.Sync(); err != nil {
			return err
		}
	}
	if err := d.writeTemp(f, content); err != nil {
		return errors.Join(err, f.removeIfExists(d.temp))
	}
	if err := ctx.Err(); err != nil {
		return errors.Join(err, f.removeIfExists(d.temp))
	}
	if err := f.root.Rename(d.temp, d.file); err != nil {
		if _, statErr := f.root.Lstat(d.temp); statErr != nil {
			return unknown(err)
		}
		return errors.Join(err, f.removeIfExists(d.temp))
	}
	if err := f.self.Sync(); err != nil {
		return unknown(err)
	}
	return nil
}

// writeTemp writes and syncs the temporary file. One that is there was left by a writer that died: the lock says so.
func (d *Dir) writeTemp(f *folder, content []byte) error {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	file, err := f.root.OpenFile(d.temp, flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if err := f.root.Remove(d.temp); err != nil {
			return err
		}
		file, err = f.root.OpenFile(d.temp, flags, 0o600)
	}
	if err != nil {
		return err
	}
	if _, err := file.Write(content); err != nil {
		return errors.Join(err, file.Close())
	}
	return errors.Join(file.Sync(), file.Close())
}

// remove deletes the document in f, durably, and the folder if nothing else is in it. That the folder goes need not be
// durable. A document that somebody removed by hand meanwhile is gone as well.
func (d *Dir) remove(ctx context.Context, f *folder) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := f.removeIfExists(d.temp); err != nil {
		return err
	}
	if err := f.removeIfExists(d.file); err != nil {
		return err
	}
	if err := f.self.Sync(); err != nil {
		return unknown(err)
	}
	d.removeFolder(f.key)
	return nil
}

// clean removes what a writer that died has left in f, a folder without a document: its temporary file holds text of the
// document that was to be. f is nil when there is no folder.
func (d *Dir) clean(f *folder) error {
	if f == nil {
		return nil
	}
	if err := f.removeIfExists(d.temp); err != nil {
		return err
	}
	if err := f.self.Sync(); err != nil {
		return unknown(err)
	}
	d.removeFolder(f.key)
	return nil
}

// removeFolder removes the locked folder of key, if it is empty. Otherwise somebody put other files there, and they are
// not ours.
func (d *Dir) removeFolder(key string) {
	_ = d.root.Remove(d.folderName(key))
}
