package rootfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// ownedDirs bounds how many directories of a tree are given to the target,
	// shallow ones first; ownedFiles and ownedBytes what copying up its files may cost.
	ownedDirs  = 8192
	ownedFiles = 1024
	ownedBytes = 64 << 20
)

// installed are directories whose files a server reads and does not change.
var installed = []string{"node_modules", "site-packages", "dist-packages", "__pycache__", ".git"}

// overlay prepares a writable view of a tree: an overlay where the kernel allows
// one, else a copy.
func (b *builder) overlay(i int, o Overlay) error {
	size := o.Size
	if size <= 0 {
		size = MaxCopy
	}
	upper, err := newFS("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, tmpfsOptions(size, 0o755)...)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Target, err)
	}
	defer func() { _ = unix.Close(upper) }()
	place := fmt.Sprintf("%s/upper%d", b.root, i)
	if err := mountAt(upper, place); err != nil {
		return err
	}
	p, err := b.overlayOrCopy(o, place, size)
	if err != nil {
		return err
	}
	b.add(p)
	return detach(place)
}

func (b *builder) overlayOrCopy(o Overlay, place string, size int64) (preparedMount, error) {
	refused := errors.New("a copy is needed")
	if !o.Copy {
		var fd int
		if fd, refused = overlayOver(o.Lower, place, o.Hide, "userxattr", ""); refused == nil {
			return preparedMount{target: o.Target, fd: fd, dir: true}, nil
		}
	}
	if err := copyTree(o.Lower, place, min(size, MaxCopy), o.Hide); err != nil {
		return preparedMount{}, fmt.Errorf("copy %s (no overlay: %w): %w", o.Lower, refused, err)
	}
	return clone(place, o.Target, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
}

func mountAt(fd int, place string) error {
	if err := unix.Mkdir(place, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", place, err)
	}
	return moveMount(fd, place)
}

// detach takes a mount from the tree; what an overlay holds of it stays.
func detach(place string) error {
	if err := unix.Unmount(place, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("detach %s: %w", place, err)
	}
	return unix.Rmdir(place)
}

// overlayOver makes an overlay of lower that writes below place; options are as newFS takes them.
func overlayOver(lower, place string, hide []string, options ...string) (int, error) {
	var st unix.Stat_t
	if err := unix.Stat(lower, &st); err != nil {
		return -1, fmt.Errorf("look at %s: %w", lower, err)
	}
	upper, work := place+"/upper", place+"/work"
	for _, dir := range []string{upper, work} {
		if err := unix.Mkdir(dir, st.Mode&0o777|0o700); err != nil {
			return -1, fmt.Errorf("make %s: %w", dir, err)
		}
	}
	// The merged root takes its owner and mode from the upper directory.
	if err := chown(upper, int(st.Uid), int(st.Gid)); err != nil && !notOurs(err) {
		return -1, err
	}
	if err := whiteOut(lower, upper, hide); err != nil {
		return -1, errors.Join(err, os.RemoveAll(upper), os.RemoveAll(work))
	}
	// The mount's options are for everyone inside to read: "." does not say where
	// on the host the tree lies.
	if err := unix.Chdir(lower); err != nil {
		return -1, fmt.Errorf("go to %s: %w", lower, err)
	}
	defer func() { _ = unix.Chdir("/") }()
	fd, err := newFS("overlay", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV,
		append([]string{"lowerdir", ".", "upperdir", upper, "workdir", work}, options...)...)
	if err != nil {
		return -1, errors.Join(err, os.RemoveAll(upper), os.RemoveAll(work))
	}
	return fd, nil
}

// whiteOut makes what overlays take for the absence of a path of lower.
func whiteOut(lower, upper string, hide []string) error {
	for _, rel := range hide {
		if !filepath.IsLocal(rel) || rel == "." {
			return fmt.Errorf("hide %s in %s: not a path below it", rel, lower)
		}
		if _, err := os.Lstat(filepath.Join(lower, rel)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := upperDirs(lower, upper, filepath.Dir(rel)); err != nil {
			return err
		}
		if err := unix.Mknod(filepath.Join(upper, rel), unix.S_IFCHR, 0); err != nil {
			return fmt.Errorf("hide %s in %s: %w", rel, lower, err)
		}
	}
	return nil
}

// upperDirs makes the directories on the way to a path in upper as they are in lower.
func upperDirs(lower, upper, rel string) error {
	if rel == "." {
		return nil
	}
	if err := upperDirs(lower, upper, filepath.Dir(rel)); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Lstat(filepath.Join(lower, rel), &st); err != nil {
		return fmt.Errorf("look at %s in %s: %w", rel, lower, err)
	}
	dir := filepath.Join(upper, rel)
	if err := unix.Mkdir(dir, st.Mode&0o777|0o700); errors.Is(err, unix.EEXIST) {
		return nil
	} else if err != nil {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	if err := chown(dir, int(st.Uid), int(st.Gid)); err != nil && !notOurs(err) {
		return err
	}
	return nil
}

// notOurs says that an id is not mapped here, or that the file belongs to one that is not.
func notOurs(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOVERFLOW)
}

// copyTree copies directories, regular files and links, and nothing else, from
// the host directory to an empty one. It never follows a link.
func copyTree(from, to string, budget int64, hide []string) error {
	src, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	dst, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { _ = dst.Close() }()
	return fs.WalkDir(src.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrPermission) && path != "." {
				return fs.SkipDir
			}
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if slices.Contains(hide, path) {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if path == "." {
			return dst.Chmod(".", info.Mode().Perm()|0o700)
		}
		if info.Mode().IsRegular() {
			if budget -= info.Size(); budget < 0 {
				return fmt.Errorf("%s holds more than %d MiB", from, MaxCopy>>20)
			}
		}
		return copyEntry(src, dst, path, info)
	})
}

func copyEntry(src, dst *os.Root, path string, info fs.FileInfo) error {
	perm := info.Mode().Perm()
	switch info.Mode().Type() {
	case fs.ModeDir:
		return dst.Mkdir(path, perm|0o700)
	case fs.ModeSymlink:
		target, err := src.Readlink(path)
		if err != nil {
			return err
		}
		return dst.Symlink(target, path)
	case 0:
		return copyFile(src, dst, path, perm, info.ModTime())
	}
	return nil
}

func copyFile(src, dst *os.Root, path string, perm fs.FileMode, modTime time.Time) error {
	in, err := src.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := dst.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return dst.Chtimes(path, modTime, modTime)
}

// own gives the target the trees that it may write to.
func (b *builder) own() error {
	for _, o := range b.layout.Overlays {
		if !o.Own {
			continue
		}
		g := &chowner{uid: b.uid, gid: b.gid, files: ownedFiles, bytes: ownedBytes}
		if err := g.tree(o.Target); err != nil {
			return fmt.Errorf("%s: %w", o.Target, err)
		}
	}
	return nil
}

// chowner makes a tree the target's. Changing a file's owner copies the file's content,
// so that is done for a number of the server's own, and for those that the
// target could not read otherwise.
type chowner struct {
	uid, gid int
	files    int
	bytes    int64
}

// chownDir is a directory whose owner changes; what was installed below it is not the server's own.
type chownDir struct {
	path      string
	installed bool
}

func (g *chowner) tree(root string) error {
	queue := []chownDir{{path: root}}
	for n := 0; len(queue) > 0 && n < ownedDirs; n++ {
		dir := queue[0]
		queue = queue[1:]
		if err := g.chown(dir.path); err != nil {
			return err
		}
		entries, err := os.ReadDir(dir.path)
		if errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			path := filepath.Join(dir.path, e.Name())
			switch e.Type() {
			case fs.ModeDir:
				queue = append(queue, chownDir{path, dir.installed || slices.Contains(installed, e.Name())})
			case 0:
				if err := g.file(path, dir.installed); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// file gives the target a file while the budget lasts.
func (g *chowner) file(path string, installed bool) error {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	readable := st.Mode&0o004 != 0
	if int(st.Uid) == g.uid || readable && (installed || g.files == 0) || st.Size > g.bytes {
		return nil
	}
	g.bytes -= st.Size
	g.files = max(g.files-1, 0)
	return g.chown(path)
}

// chown changes a file's owner; one whose owner is not mapped here stays as it is.
func (g *chowner) chown(path string) error {
	if err := chown(path, g.uid, g.gid); err != nil && !notOurs(err) {
		return err
	}
	return nil
}
