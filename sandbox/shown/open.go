package shown

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Open opens a regular file that others may have made. It waits for nobody to write to a
// named pipe, and opens no device.
func Open(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %s: it is no regular file: %w", name, fs.ErrInvalid)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// IsELF reports whether a file that others may have made is machine code of Linux.
func IsELF(name string) bool {
	f, err := Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	var magic [4]byte
	_, err = io.ReadFull(f, magic[:])
	return err == nil && string(magic[:]) == "\x7fELF"
}
