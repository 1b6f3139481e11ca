package since

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
)

// maxCompared bounds a working file that is read: a larger one counts as changed.
const maxCompared = 1 << 30

// errDiffers ends a comparison at the first difference.
var errDiffers = errors.New("it differs")

// sameTree reports whether the working tree holds at rel just what tree, the list
// of a commit, names at and below it. All is read below the top, through no link.
func sameTree(ctx context.Context, top, rel string, tree map[string]entry) (bool, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return false, err
	}
	defer root.Close()
	c := &comparison{ctx: ctx, tree: tree, buf: make([]byte, 128<<10)}
	err = c.start(root, filepath.ToSlash(rel))
	if errors.Is(err, errDiffers) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

type comparison struct {
	ctx  context.Context
	tree map[string]entry
	// dir is the directory that is compared; links have to end in it.
	dir *os.Root
	// seen counts the entries of tree that were met.
	seen int
	buf  []byte
}

// start walks down to rel, and compares what lies there.
func (c *comparison) start(root *os.Root, rel string) error {
	// git lists the directories on the way too.
	for at := path.Dir(rel); rel != "." && at != "."; at = path.Dir(at) {
		info, err := root.Lstat(at)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return errDiffers
		}
		delete(c.tree, at)
	}
	if len(c.tree) == 0 {
		return errDiffers
	}
	info, err := root.Lstat(rel)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		parent, err := root.OpenRoot(path.Dir(rel))
		if err != nil {
			return err
		}
		defer parent.Close()
		if err := c.file(parent, path.Base(rel), rel, info); err != nil {
			return err
		}
	} else {
		if c.dir, err = root.OpenRoot(rel); err != nil {
			return err
		}
		defer c.dir.Close()
		if rel != "." {
			if c.tree[rel].mode != modeTree {
				return errDiffers
			}
			c.seen++
		}
		if err := c.directory(c.dir, ".", rel); err != nil {
			return err
		}
	}
	if c.seen != len(c.tree) {
		return errDiffers
	}
	return nil
}

// directory compares the entries of an open directory. at is its path below c.dir,
// and rel that in the repository.
func (c *comparison) directory(dir *os.Root, at, rel string) error {
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return err
	}
	for _, d := range entries {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		name := path.Join(rel, d.Name())
		if name == ".git" {
			continue // git's own, at the top
		}
		want, ok := c.tree[name]
		if !ok {
			return errDiffers
		}
		info, err := dir.Lstat(d.Name())
		if err != nil {
			return err
		}
		switch {
		case info.IsDir():
			err = c.below(dir, path.Join(at, d.Name()), name, want, info)
		case info.Mode().Type() == fs.ModeSymlink:
			err = c.link(dir, path.Join(at, d.Name()), want)
		default:
			err = c.file(dir, d.Name(), name, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// below compares a directory in an open one.
func (c *comparison) below(dir *os.Root, at, rel string, want entry, info fs.FileInfo) error {
	if want.mode != modeTree {
		return errDiffers
	}
	c.seen++
	sub, err := dir.OpenRoot(path.Base(at))
	if err != nil {
		return err
	}
	defer sub.Close()
	if opened, err := sub.Stat("."); err != nil || !os.SameFile(info, opened) {
		return errors.Join(err, errDiffers)
	}
	return c.directory(sub, at, rel)
}

// link compares a link, which has to lead to what is compared too.
func (c *comparison) link(dir *os.Root, at string, want entry) error {
	target, err := dir.Readlink(path.Base(at))
	if err != nil {
		return err
	}
	h := newHash(want.hash, int64(len(target)))
	_, _ = io.WriteString(h, target)
	if want.mode != modeLink || hex.EncodeToString(h.Sum(nil)) != want.hash {
		return errDiffers
	}
	if _, err := c.dir.Stat(at); err != nil {
		return errDiffers
	}
	c.seen++
	return nil
}

// file compares a regular file in an open directory.
func (c *comparison) file(dir *os.Root, name, rel string, info fs.FileInfo) error {
	want := c.tree[rel]
	mode := modeFile
	if info.Mode()&0o100 != 0 {
		mode = modeProgram
	}
	// Of a mode with more bits than these, git knows nothing.
	if info.Mode()&^fs.ModePerm != 0 || info.Size() > maxCompared || mode != want.mode {
		return errDiffers
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil || !os.SameFile(info, opened) {
		return errors.Join(err, errDiffers)
	}
	h := newHash(want.hash, opened.Size())
	n, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{io.LimitReader(f, opened.Size()+1)}, c.buf)
	if err != nil {
		return fmt.Errorf("read %s: %w", rel, err)
	}
	if n != opened.Size() || hex.EncodeToString(h.Sum(nil)) != want.hash {
		return errDiffers
	}
	c.seen++
	return nil
}

// newHash begins the hash of a blob of so many bytes: SHA-1 or SHA-256, as the
// hash that it will be compared with.
func newHash(like string, size int64) hash.Hash {
	h := sha1.New()
	if len(like) == hex.EncodedLen(sha256.Size) {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	return h
}
