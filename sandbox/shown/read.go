package shown

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/coalmine-dev/coalmine/canaries/secrets"
)

// read reads the files, some at a time.
func (l *looker) read() error {
	g, ctx := errgroup.WithContext(l.ctx)
	next := make(chan string)
	g.Go(func() error {
		defer close(next)
		for _, name := range l.files {
			select {
			case next <- name:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	})
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			buf := make([]byte, chunk)
			for name := range next {
				if err := l.file(ctx, name, &buf); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// chunk is how much of a long file is read at a time, and overlap how much of it again.
const (
	chunk   = 1 << 20
	overlap = 128 << 10
)

// file looks at one file.
func (l *looker) file(ctx context.Context, name string, buf *[]byte) error {
	if l.credential(name) {
		l.cover(name, nil, emptied)
		return nil
	}
	f, err := l.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrPermission):
		l.cover(name, nil, emptied)
		return nil
	case err != nil:
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s became another kind of file", name)
	}
	l.mu.Lock()
	l.bytes += info.Size()
	tooMuch := l.bytes > maxBytes
	l.mu.Unlock()
	if tooMuch {
		return fmt.Errorf("it has more than %d MiB to be searched for secrets", maxBytes>>20)
	}
	if info.Size() > maxMasked {
		return l.long(ctx, name, f, *buf)
	}
	data, err := whole(io.LimitReader(f, 2*maxMasked), buf)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	sum := secrets.Sum(sha256.Sum256(data))
	l.mu.Lock()
	l.view.Sums[name] = sum
	l.mu.Unlock()
	v, err := l.search(ctx, name, data, sum)
	if err != nil {
		return err
	}
	switch v.Kind {
	case secrets.Mixed:
		l.cover(name, v.Mask(data), info.Mode().Perm())
	case secrets.Whole:
		l.cover(name, nil, emptied)
	}
	return nil
}

// search looks for secrets in a content, unless it is known to have none.
func (l *looker) search(ctx context.Context, name string, data []byte, sum secrets.Sum) (secrets.Verdict, error) {
	key := secrets.Key(name, sum, origin(name))
	if l.request.Clean.holds(key) {
		return secrets.Verdict{Kind: secrets.Clean}, nil
	}
	v, err := secrets.Read(ctx, name, data, origin(name))
	if err != nil {
		return v, l.why(ctx, err)
	}
	if v.Kind == secrets.Clean {
		l.request.Clean.add(key)
	}
	return v, nil
}

// why is the bound that was met, where one was.
func (l *looker) why(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// whole reads a file into a buffer that grows as needed.
func whole(f io.Reader, buf *[]byte) ([]byte, error) {
	n := 0
	for {
		if n == len(*buf) {
			*buf = append(*buf, make([]byte, len(*buf))...)
		}
		m, err := f.Read((*buf)[n:])
		n += m
		if errors.Is(err, io.EOF) {
			return (*buf)[:n], nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// long searches a file that is too long to be shown masked: with a secret in it, it is
// shown empty.
func (l *looker) long(ctx context.Context, name string, f io.Reader, buf []byte) error {
	kept := 0
	for {
		n, err := io.ReadFull(f, buf[kept:chunk])
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !end {
			return fmt.Errorf("read %s: %w", name, err)
		}
		v, err := l.search(ctx, name, buf[:kept+n], sha256.Sum256(buf[:kept+n]))
		if err != nil {
			return err
		}
		if v.Kind != secrets.Clean {
			l.cover(name, nil, emptied)
			return nil
		}
		if end {
			return nil
		}
		kept = copy(buf, buf[kept+n-overlap:kept+n])
	}
}

func origin(name string) secrets.Origin {
	for part := range strings.SplitSeq(name, "/") {
		if slices.Contains(installed, part) {
			return secrets.Installed
		}
	}
	return secrets.Own
}
