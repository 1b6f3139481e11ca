package inplace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// maxCopy bounds the copy of a server's directory, in bytes.
const maxCopy = 1 << 30

// copyView copies what a View shows of a directory to one that is made for it, as the
// target's own. No link is followed.
func copyView(v *shown.View, to string, uid, gid int) error {
	from, err := os.OpenRoot(v.Real)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	dst, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { _ = dst.Close() }()
	c := &copier{from: from, to: dst, uid: uid, gid: gid, left: maxCopy, hidden: map[string]bool{}, covers: map[string]shown.Cover{}}
	for _, name := range v.Hidden {
		c.hidden[name] = true
	}
	for _, cover := range v.Covers {
		c.covers[cover.Path] = cover
	}
	return fs.WalkDir(from.FS(), ".", c.entry)
}

// copier makes one copy.
type copier struct {
	from, to *os.Root
	uid, gid int
	left     int64
	hidden   map[string]bool
	covers   map[string]shown.Cover
}

func (c *copier) entry(name string, e fs.DirEntry, err error) error {
	if c.hidden[name] {
		if e != nil && e.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if err != nil {
		return err
	}
	info, err := e.Info()
	if err != nil {
		return err
	}
	cover, covered := c.covers[name]
	switch {
	case name == ".":
	case e.IsDir():
		err = c.to.Mkdir(name, info.Mode().Perm()|0o700)
	case covered:
		err = c.to.WriteFile(name, cover.Data, cover.Mode)
	case info.Mode()&fs.ModeSymlink != 0:
		var link string
		if link, err = c.from.Readlink(name); err == nil {
			err = c.to.Symlink(link, name)
		}
	case info.Mode().IsRegular():
		err = c.file(name, info)
	default:
		return nil
	}
	return errors.Join(err, c.to.Lchown(name, c.uid, c.gid))
}

func (c *copier) file(name string, was fs.FileInfo) error {
	in, err := c.from.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if info, err := in.Stat(); err != nil || !os.SameFile(info, was) {
		return fmt.Errorf("%s changes while it is copied", filepath.Base(name))
	}
	out, err := c.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, was.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, c.left+1))
	if c.left -= n; c.left < 0 {
		err = fmt.Errorf("it has more than %d MiB", maxCopy>>20)
	}
	return errors.Join(err, out.Close())
}
