package install

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// maxDirectory bounds the directory of a ZIP, in bytes: archive/zip holds all of it
	// in memory, some five times its size.
	maxDirectory = 8 << 20
	// maxListed bounds its entries. ZIP64, which could hold more, is refused.
	maxListed = 0xffff - 1
)

// errDirectory says that a ZIP's directory is too long to be read.
var errDirectory = fmt.Errorf("its directory is longer than %d bytes or has more than %d entries", maxDirectory, maxListed)

// openZip is zip.NewReader for an archive that is hostile: what the end record says
// of the directory is checked before it is read, and no more than maxDirectory is
// read of it whatever the record says.
func openZip(r io.ReaderAt, size int64) (*zip.Reader, error) {
	if err := checkEnd(r, size); err != nil {
		return nil, err
	}
	bounded := &boundedReader{src: r, left: maxDirectory + 4*maxTail}
	z, err := zip.NewReader(bounded, size)
	if bounded.left < 0 {
		return nil, errDirectory
	}
	bounded.free = true
	return z, err
}

// The end of central directory record (APPNOTE.TXT 4.3.16), and how far from the
// end of the file archive/zip looks for it.
const (
	endSignature = "PK\x05\x06"
	endLength    = 22
	maxTail      = 65 << 10
)

// checkEnd says why the directory is not to be read.
func checkEnd(r io.ReaderAt, size int64) error {
	tail := make([]byte, min(size, maxTail))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	i := bytes.LastIndex(tail[:max(0, len(tail)-endLength+len(endSignature))], []byte(endSignature))
	if i < 0 {
		return zip.ErrFormat
	}
	end := tail[i:]
	entries, length, offset := binary.LittleEndian.Uint16(end[10:]), binary.LittleEndian.Uint32(end[12:]), binary.LittleEndian.Uint32(end[16:])
	if entries > maxListed || length > maxDirectory || length == 0xffff || offset == 0xffffffff {
		return errDirectory
	}
	return nil
}

// boundedReader fails once so many bytes were read, until it is free.
type boundedReader struct {
	src  io.ReaderAt
	left int64
	free bool
}

// ReadAt implements io.ReaderAt.
func (b *boundedReader) ReadAt(p []byte, at int64) (int, error) {
	if b.free {
		return b.src.ReadAt(p, at)
	}
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errDirectory
	}
	return b.src.ReadAt(p, at)
}
