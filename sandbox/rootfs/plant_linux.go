package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Plant writes files into the tree of the calling process, which must be the
// sandbox's. A file, link or empty directory in the way is replaced. A directory that is
// missing above one is made and belongs to the owner of the directory it is made in.
func Plant(files []File, uid, gid int) error {
	for _, f := range files {
		if err := plant(f, uid, gid); err != nil {
			return fmt.Errorf("plant %s: %w", f.Path, err)
		}
	}
	// A directory's time changes with what is planted in it: it is set last.
	for _, f := range files {
		if f.Dir && !f.ModTime.IsZero() {
			if err := os.Chtimes(f.Path, f.ModTime, f.ModTime); err != nil {
				return fmt.Errorf("plant %s: %w", f.Path, err)
			}
		}
	}
	return nil
}

func plant(f File, uid, gid int) error {
	if !filepath.IsAbs(f.Path) || filepath.Clean(f.Path) != f.Path || strings.ContainsRune(f.Path, 0) {
		return errors.New("not a clean absolute path")
	}
	if err := makeDirs(filepath.Dir(f.Path)); err != nil {
		return err
	}
	if err := create(f); err != nil {
		return err
	}
	if !f.Root {
		if err := chown(f.Path, uid, gid); err != nil {
			return err
		}
	}
	if f.Link != "" {
		return nil
	}
	// After chown, which clears some bits, and whatever the umask.
	if err := os.Chmod(f.Path, mode(f)); err != nil {
		return err
	}
	if !f.ModTime.IsZero() && !f.Dir {
		return os.Chtimes(f.Path, time.Time{}, f.ModTime)
	}
	return nil
}

// mode is a file's permission; none given means the ordinary one. Set-id bits are never set.
func mode(f File) fs.FileMode {
	m := fs.FileMode(f.Mode) & 0o777
	if f.Mode&0o1000 != 0 {
		m |= fs.ModeSticky
	}
	switch {
	case m != 0:
		return m
	case f.Dir:
		return 0o755
	}
	return 0o644
}

// create makes the thing itself, as the caller's. What is there is removed first
// and never followed: a shown tree may hold a link of that name.
func create(f File) error {
	st, err := os.Lstat(f.Path)
	switch {
	case err == nil && f.Dir && st.IsDir():
		return nil
	case err == nil:
		if err := os.Remove(f.Path); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	switch {
	case f.Dir:
		return os.Mkdir(f.Path, 0o700)
	case f.Link != "":
		return os.Symlink(f.Link, f.Path)
	}
	out, err := os.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(f.Data)
	return errors.Join(err, out.Close())
}

// chown leaves alone what already belongs there, so that it works where only one id is mapped.
func chown(path string, uid, gid int) error {
	if u, g, err := owner(path); err != nil || u == uid && g == gid {
		return err
	}
	return os.Lchown(path, uid, gid)
}

// makeDirs makes a directory and what is missing above it. A new directory
// belongs to whoever owns the one it is made in.
func makeDirs(path string) error {
	st, err := os.Stat(path)
	switch {
	case err == nil && st.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s is not a directory", path)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent := filepath.Dir(path)
	if err := makeDirs(parent); err != nil {
		return err
	}
	uid, gid, err := owner(parent)
	if err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o755); err != nil {
		return err
	}
	return chown(path, uid, gid)
}

// owner says whose a file is; a link is not followed.
func owner(path string) (uid, gid int, err error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return 0, 0, fmt.Errorf("look at %s: %w", path, err)
	}
	return int(st.Uid), int(st.Gid), nil
}
