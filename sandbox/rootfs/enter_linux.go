package rootfs

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// stage is what the new root covers for the moment before the pivot: the one
	// directory that no layout can want to show.
	stage = "/proc"
	// defaultSize bounds the root file system when the Layout does not.
	defaultSize = 64 << 20
)

// preparedMount is a mount that is attached to nothing yet.
type preparedMount struct {
	target string
	fd     int
	dir    bool
	own    bool
}

// builder holds what Enter has prepared.
type builder struct {
	layout   Layout
	uid, gid int
	// root is where the new root is mounted before the pivot, "" after it.
	root   string
	mounts []preparedMount
}

// Enter builds the layout, makes it the root of the calling process and drops
// the old root. It must be called in a fresh mount namespace by a process that
// is root there and that has no other goroutine at work on files. The target
// will be uid and gid. After an error the process is good for nothing but to exit.
func Enter(l Layout, uid, gid int) error {
	mask := unix.Umask(0)
	defer unix.Umask(mask)
	b := &builder{layout: l, uid: uid, gid: gid, root: stage}
	defer b.close()
	steps := []struct {
		what string
		do   func() error
	}{
		{"make the mounts private", makePrivate},
		{"prepare the mounts", b.prepare},
		{"change the root", b.pivot},
		{"attach the mounts", b.attach},
		{"fill /dev", finishDev},
		{"give the trees to the target", b.own},
		{"mask", b.mask},
		{"write the files", func() error { return Plant(l.Files, uid, gid) }},
		{"make the root read-only", sealRoot},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			return fmt.Errorf("sandbox root: %s: %w", s.what, err)
		}
	}
	return nil
}

func (b *builder) close() {
	for _, p := range b.mounts {
		_ = unix.Close(p.fd)
	}
}

func makePrivate() error {
	return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
}

// prepare makes every mount while the host's tree can still be named. None of
// them is attached, so none is ever visible with fewer restrictions than it will have.
func (b *builder) prepare() error {
	for _, bind := range b.layout.Binds {
		if err := b.bind(bind); err != nil {
			return err
		}
	}
	for _, t := range b.layout.Tmpfs {
		if err := b.tmpfs(t); err != nil {
			return err
		}
	}
	if err := b.devices(); err != nil {
		return err
	}
	proc, err := newFS("proc", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return err
	}
	b.add(preparedMount{target: "/proc", fd: proc, dir: true})
	// The new root is mounted last but one: an overlay needs an attached upper
	// file system, and finds it there.
	if err := b.newRoot(); err != nil {
		return err
	}
	for i, o := range b.layout.Overlays {
		if err := b.overlay(i, o); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) add(p preparedMount) { b.mounts = append(b.mounts, p) }

func (b *builder) bind(m Bind) error {
	attr := uint64(unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
	if m.ReadOnly {
		attr |= unix.MOUNT_ATTR_RDONLY
	}
	p, err := clone(m.Source, m.Target, attr)
	if m.Optional && errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	b.add(p)
	return nil
}

// clone makes a detached copy of the mounts at source with attr added to each.
// It is recursive, for a user namespace may not uncover what lies under a mount.
func clone(source, target string, attr uint64) (preparedMount, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, source, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return preparedMount{}, fmt.Errorf("open the tree %s: %w", source, err)
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil {
		err = unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attr, Propagation: unix.MS_PRIVATE})
	}
	if err != nil {
		_ = unix.Close(fd)
		return preparedMount{}, fmt.Errorf("restrict the tree %s: %w", source, err)
	}
	return preparedMount{target: target, fd: fd, dir: st.Mode&unix.S_IFMT == unix.S_IFDIR}, nil
}

func (b *builder) tmpfs(t Tmpfs) error {
	fd, err := newFS("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, tmpfsOptions(t.Size, t.Mode)...)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Target, err)
	}
	b.add(preparedMount{target: t.Target, fd: fd, dir: true, own: t.Own})
	return nil
}

func tmpfsOptions(size int64, mode uint32) []string {
	if mode == 0 {
		mode = 0o755
	}
	options := []string{"mode", fmt.Sprintf("%o", mode)}
	if size > 0 {
		// An inode costs the kernel about a kibibyte that size does not count.
		options = append(options, "size", fmt.Sprint(size), "nr_inodes", fmt.Sprint(max(size>>10, 1024)))
	}
	return options
}

// newFS makes a detached mount of a new file system; options are keys and values in turn.
func newFS(kind string, attr int, options ...string) (int, error) {
	fs, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("open a %s: %w", kind, err)
	}
	defer func() { _ = unix.Close(fs) }()
	for i := 0; i < len(options); i += 2 {
		key, value := options[i], options[i+1]
		if value == "" {
			err = unix.FsconfigSetFlag(fs, key)
		} else {
			err = unix.FsconfigSetString(fs, key, value)
		}
		if err != nil {
			return -1, fmt.Errorf("set %s of a %s: %w", key, kind, err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, fmt.Errorf("create a %s: %w", kind, err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, attr)
	if err != nil {
		return -1, fmt.Errorf("mount a %s: %w", kind, err)
	}
	return fd, nil
}

// newRoot covers the stage with the file system that will be "/".
func (b *builder) newRoot() error {
	size := b.layout.Size
	if size == 0 {
		size = defaultSize
	}
	fd, err := newFS("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, tmpfsOptions(size, 0o755)...)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return moveMount(fd, b.root)
}

func moveMount(fd int, target string) error {
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, target, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount on %s: %w", target, err)
	}
	return nil
}

// pivot makes the stage "/" and lets go of everything else.
func (b *builder) pivot() error {
	const old = "old"
	if err := unix.Chdir(b.root); err != nil {
		return err
	}
	if err := unix.Mkdir(old, 0o700); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", old); err != nil {
		return err
	}
	// The working directory is set before the unmount: it may have been any host
	// directory, and would have held on to the old tree.
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	if err := unix.Unmount("/"+old, unix.MNT_DETACH); err != nil {
		return err
	}
	b.root = ""
	return unix.Rmdir("/" + old)
}

// attach puts the pieces in their places, parents first.
func (b *builder) attach() error {
	slices.SortStableFunc(b.mounts, byDepth)
	for _, p := range b.mounts {
		if err := b.mountPoint(p); err != nil {
			return err
		}
		if err := moveMount(p.fd, p.target); err != nil {
			return err
		}
		if p.own {
			if err := unix.Lchown(p.target, b.uid, b.gid); err != nil {
				return fmt.Errorf("give %s to the target: %w", p.target, err)
			}
		}
	}
	return nil
}

func byDepth(x, y preparedMount) int { return cmp.Compare(depth(x.target), depth(y.target)) }

func depth(path string) int { return strings.Count(strings.TrimSuffix(path, "/"), "/") }

// mountPoint makes the directory or file that a mount is attached to.
func (b *builder) mountPoint(p preparedMount) error {
	if !filepath.IsAbs(p.target) || filepath.Clean(p.target) != p.target || p.target == "/" {
		return fmt.Errorf("%q is no place for a mount", p.target)
	}
	if p.dir {
		return makeDirs(p.target)
	}
	if err := makeDirs(filepath.Dir(p.target)); err != nil {
		return err
	}
	fd, err := unix.Open(p.target, unix.O_RDONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644)
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make the mount point %s: %w", p.target, err)
	}
	return unix.Close(fd)
}

// sealRoot makes the root file system itself, and /dev, read-only.
func sealRoot() error {
	for _, path := range []string{"/", "/dev"} {
		if err := unix.MountSetattr(unix.AT_FDCWD, path, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// mask covers the paths that must appear empty, where they exist.
func (b *builder) mask() error {
	for _, path := range b.layout.Masks {
		st, err := os.Lstat(path)
		if err != nil || st.Mode()&(os.ModeDir|os.ModeSymlink) == os.ModeSymlink {
			continue
		}
		if err := cover(path, st.IsDir()); err != nil {
			return fmt.Errorf("cover %s: %w", path, err)
		}
	}
	return nil
}

// cover mounts something empty over path.
func cover(path string, dir bool) error {
	const attr = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC
	if dir {
		fd, err := newFS("tmpfs", attr, tmpfsOptions(4096, 0o755)...)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		return moveMount(fd, path)
	}
	const empty = "/empty"
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		return err
	}
	p, err := clone(empty, path, attr)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(p.fd) }()
	return errors.Join(moveMount(p.fd, path), os.Remove(empty))
}
