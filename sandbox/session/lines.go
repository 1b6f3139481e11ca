package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// errTorn comes with a last line that has no end.
var errTorn = errors.New("the file ends within the line")

// errLong stands for a line that is left out.
var errLong = fmt.Errorf("longer than %d bytes", MaxLine)

// lines reads lines of at most MaxLine bytes.
type lines struct {
	src *bufio.Reader
	buf []byte
	n   int // the current line's number, from 1
}

func newLines(r io.Reader) *lines { return &lines{src: bufio.NewReaderSize(r, 64<<10)} }

// next is the next line without its end, valid until the next call.
func (l *lines) next() ([]byte, error) {
	l.n++
	if cap(l.buf) > 1<<20 {
		l.buf = nil
	}
	l.buf = l.buf[:0]
	long := false
	for {
		part, err := l.src.ReadSlice('\n')
		if len(l.buf)+len(part) > MaxLine+1 {
			long, l.buf = true, l.buf[:0]
		} else if !long {
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && (long || len(l.buf) > MaxLine):
			return nil, errLong
		case errors.Is(err, io.EOF) && len(l.buf) > 0:
			return l.buf, errTorn
		case err != nil:
			return nil, err
		case long:
			return nil, errLong
		default:
			return l.buf[:len(l.buf)-1], nil
		}
	}
}
