package session

import (
	"bytes"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
)

// file is an append-only file whose bytes on disk end with a whole line.
type file struct {
	f       *os.File
	buf     []byte // whole lines only
	written int64
	redact  jsonRedactor // of what is written
	sum     hash.Hash    // of what was written, nil for none
}

// size is the length with what is buffered.
func (f *file) size() int64 { return f.written + int64(len(f.buf)) }

// flush writes the buffer without passed values. After a short write, as on a full disk, the file is
// cut back to its last whole line and the buffer's rest is given up.
func (f *file) flush() error {
	if len(f.buf) == 0 {
		return nil
	}
	f.buf = f.redact.lines(f.buf)
	n, err := f.f.Write(f.buf)
	if err != nil {
		whole := bytes.LastIndexByte(f.buf[:n], '\n') + 1
		if whole < n {
			err = errors.Join(err, f.f.Truncate(f.written+int64(whole)))
		}
		n = whole
	}
	f.written += int64(n)
	if f.sum != nil {
		_, _ = f.sum.Write(f.buf[:n]) // a hash never fails
	}
	if f.buf = f.buf[:0]; cap(f.buf) > keepBuffer {
		f.buf = nil
	}
	return err
}

// shorten takes lines off the end of the file, which name names, until there is
// room for one of metrics, and returns how many.
func (f *file) shorten(name string) (lines int64, err error) {
	const room, look = 512, 64 << 10
	r, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	tail := make([]byte, min(f.written, look))
	if _, err := r.ReadAt(tail, f.written-int64(len(tail))); err != nil {
		return 0, err
	}
	keep := bytes.LastIndexByte(tail[:max(0, len(tail)-room)], '\n') + 1
	if keep == 0 && f.written > look {
		return 0, errors.New("the last record is too long to make room")
	}
	lines = int64(bytes.Count(tail[keep:], []byte{'\n'}))
	f.written -= int64(len(tail) - keep)
	f.sum = nil // of bytes that are gone now
	return lines, f.f.Truncate(f.written)
}

// create makes a new file in place of a regular one.
func create(dir *os.Root, name string) (*os.File, error) {
	info, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errTaken(name, info)
	default:
		if err := dir.Remove(name); err != nil {
			return nil, err
		}
	}
	// O_EXCL refuses links by itself. O_APPEND keeps the end right after a cut.
	return dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
}

// errTaken says that something else stands where a file of a run is to be written.
func errTaken(name string, info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a link, and what a run writes follows none: remove it", name)
	}
	return fmt.Errorf("%s is not a regular file: remove it", name)
}

// OpenFile opens a regular file for reading; anything else, a link above all, is an error.
func OpenFile(dir *os.Root, name string) (*os.File, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|NoFollow, 0)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, errors.Join(fmt.Errorf("%s changed while it was opened", name), err, f.Close())
	}
	return f, nil
}

// OpenBelow opens a regular file below a directory that another may have filled, as OpenFile does. No link leads out of
// the directory.
func OpenBelow(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return OpenFile(root, name)
}
