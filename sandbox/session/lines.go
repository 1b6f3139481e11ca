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
	// at is where in src the current line begins, in bytes, and read where reading stands.
	at, read int64
	// growing says that src may have more later: a line without an end is then kept
	// until the rest is there. partly and long say what is kept of one.
	growing, partly, long bool
}

func newLines(r io.Reader) *lines { return &lines{src: bufio.NewReaderSize(r, 64<<10)} }

// next is the next line without its end, valid until the next call.
func (l *lines) next() ([]byte, error) {
	if !l.partly {
		l.n++
		l.at = l.read
		if cap(l.buf) > 1<<20 {
			l.buf = nil
		}
		l.buf, l.long = l.buf[:0], false
	}
	for {
		part, err := l.src.ReadSlice('\n')
		l.read += int64(len(part))
		if len(l.buf)+len(part) > MaxLine+1 {
			l.long, l.buf = true, l.buf[:0]
		} else if !l.long {
			l.buf = append(l.buf, part...)
		}
		l.partly = err != nil && l.growing
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && l.growing:
			return nil, err
		case errors.Is(err, io.EOF) && (l.long || len(l.buf) > MaxLine):
			return nil, errLong
		case errors.Is(err, io.EOF) && len(l.buf) > 0:
			return l.buf, errTorn
		case err != nil:
			return nil, err
		case l.long:
			return nil, errLong
		default:
			return l.buf[:len(l.buf)-1], nil
		}
	}
}
