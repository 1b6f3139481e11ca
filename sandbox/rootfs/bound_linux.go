package rootfs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrUnbounded says that the root could not be bounded, and is as it was.
var ErrUnbounded = errors.New("the root has no bound")

// kernels are file systems that no bound is needed for: they lie in memory and have a size
// of their own, or hold no data.
var kernels = []string{"tmpfs", "devtmpfs", "proc", "sysfs", "cgroup", "cgroup2", "mqueue", "devpts", "securityfs", "debugfs", "tracefs", "bpf"}

// mountLine is one line of proc(5)'s mountinfo.
type mountLine struct {
	id, parent, path, kind string
	readOnly               bool
}

// Bound puts an overlay over the root of the calling process, and over each other file
// system in it that lies on a disk. What is written to them goes to one file system
// in memory of at most size bytes. The other mounts are kept. Like Enter it must be called in a
// mount namespace that nobody else uses. Where the kernel or the engine refuses, the
// error is ErrUnbounded; after any other the process is good for nothing but to exit.
func Bound(size int64) error {
	mask := unix.Umask(0)
	defer unix.Umask(mask)
	b := &builder{root: stage}
	defer b.close()
	root, err := b.bounded(size)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnbounded, err)
	}
	defer func() { _ = unix.Close(root) }()
	if err := b.replaceRoot(root); err != nil {
		return fmt.Errorf("bound the root: %w", err)
	}
	return nil
}

// bounded prepares the mounts, and undoes what it did where one is refused.
func (b *builder) bounded(size int64) (root int, err error) {
	if err := makePrivate(); err != nil {
		return -1, err
	}
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return -1, fmt.Errorf("list the mounts: %w", err)
	}
	overlaid, kept, err := boundedMounts(text)
	if err != nil {
		return -1, err
	}
	// What is to be kept is opened before the stage covers one of it.
	for _, path := range kept {
		p, err := clone(path, path, 0)
		if err != nil {
			return -1, err
		}
		b.add(p)
	}
	upper, err := newFS("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, tmpfsOptions(size, 0o755)...)
	if err != nil {
		return -1, err
	}
	err = moveMount(upper, b.root)
	_ = unix.Close(upper)
	if err != nil {
		return -1, err
	}
	root = -1
	for i, path := range overlaid {
		fd, err := overlayAny(path, fmt.Sprintf("%s/%d", b.root, i))
		if err != nil {
			_ = unix.Unmount(b.root, unix.MNT_DETACH)
			if root >= 0 {
				_ = unix.Close(root)
			}
			return -1, fmt.Errorf("over %s: %w", path, err)
		}
		if path == "/" {
			root = fd
		} else {
			b.add(preparedMount{target: path, fd: fd, dir: true})
		}
	}
	return root, nil
}

// overlayAny makes an overlay over a tree that writes below place. The attributes of the
// kernel's own name space are for root of the machine alone.
func overlayAny(lower, place string) (int, error) {
	if err := unix.Mkdir(place, 0o755); err != nil {
		return -1, fmt.Errorf("make %s: %w", place, err)
	}
	fd, err := overlayOver(lower, place, nil)
	if err != nil {
		fd, err = overlayOver(lower, place, nil, "userxattr", "")
	}
	return fd, err
}

// boundedMounts are the mounts that get an overlay, the root first, and those that are
// kept with all that is below them.
func boundedMounts(mountinfo []byte) (overlaid, kept []string, err error) {
	var all []mountLine
	for line := range bytes.Lines(mountinfo) {
		if m, ok := parseMount(string(line)); ok {
			all = append(all, m)
		}
	}
	root := slices.IndexFunc(all, func(m mountLine) bool { return m.path == "/" })
	if root < 0 {
		return nil, nil, errors.New("no mount is the root")
	}
	overlaid = []string{"/"}
	over := []string{all[root].id}
	for _, m := range all {
		if m.path == "/" && m.id != all[root].id {
			return nil, nil, errors.New("two mounts are the root")
		}
		if slices.Contains(overlaid, m.path) {
			continue
		}
		// One below a mount that is kept is kept with it, and covered there.
		st, err := os.Lstat(m.path)
		if err == nil && st.IsDir() && !m.readOnly && !slices.Contains(kernels, m.kind) {
			overlaid, over = append(overlaid, m.path), append(over, m.id)
		} else if slices.Contains(over, m.parent) && !slices.Contains(kept, m.path) {
			kept = append(kept, m.path)
		}
	}
	return overlaid, kept, nil
}

func parseMount(line string) (mountLine, bool) {
	before, after, ok := strings.Cut(line, " - ")
	f, kind := strings.Fields(before), strings.Fields(after)
	if !ok || len(f) < 6 || len(kind) < 3 {
		return mountLine{}, false
	}
	path, err := strconv.Unquote(`"` + strings.ReplaceAll(f[4], `"`, `\"`) + `"`) // a space is \040
	if err != nil || !filepath.IsAbs(path) {
		return mountLine{}, false
	}
	readOnly := slices.Contains(strings.Split(f[5], ","), "ro") || slices.Contains(strings.Split(kind[2], ","), "ro")
	return mountLine{id: f[0], parent: f[1], path: path, kind: kind[0], readOnly: readOnly}, true
}

// replaceRoot makes the overlay "/", lets go of the old root, and attaches the other mounts.
func (b *builder) replaceRoot(root int) error {
	if err := moveMount(root, b.root); err != nil {
		return err
	}
	if err := unix.Chdir(b.root); err != nil {
		return fmt.Errorf("go to the new root: %w", err)
	}
	// The old root comes to lie over the new one, where it is taken away: an image need not
	// have a directory for it.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("let go of the old root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return fmt.Errorf("go to the new root: %w", err)
	}
	b.root = ""
	slices.SortStableFunc(b.mounts, byDepth)
	for _, p := range b.mounts {
		if err := moveMount(p.fd, p.target); err != nil {
			return err
		}
	}
	return nil
}
