package agent

import (
	"errors"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// system are the system calls by which a searcher looks at files. Descriptors
// that find, findIn and follow return are of O_PATH: opening them wakes no lease,
// waits for no FIFO and needs no permission on the file itself.
type system interface {
	find(path string) (int, error)
	findIn(dir int, name string) (int, error)
	follow(link string) (int, error)
	stat(fd int, st *unix.Stat_t) error
	fileSystem(fd int) (int64, error)
	reopen(fd int) (int, error)
	read(fd int, p []byte, off int64) (int, error)
	readlink(fd int, p []byte) (int, error)
	list(dir int, limit int) ([]string, error)
	listAttributes(fd int, p []byte) (int, error)
	attribute(fd int, name string, p []byte) (int, error)
}

// kernel is the system that is there.
type kernel struct{}

// find follows links to directories, as the target's own path did, but none of
// /proc, which lead out of the sandbox.
func (kernel) find(path string) (int, error) {
	return openPath(unix.AT_FDCWD, path, unix.RESOLVE_NO_MAGICLINKS)
}

func (kernel) findIn(dir int, name string) (int, error) {
	return openPath(dir, name, unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_BENEATH)
}

func openPath(dir int, path string, resolve uint64) (int, error) {
	const tries = 64
	for n := 1; ; n++ {
		fd, err := unix.Openat2(dir, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: resolve})
		// EAGAIN says that a directory was moved meanwhile, which a target may go on doing.
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) || n == tries {
			return fd, err
		}
	}
}

func (kernel) follow(link string) (int, error) { return unix.Open(link, unix.O_PATH|unix.O_CLOEXEC, 0) }

func (kernel) stat(fd int, st *unix.Stat_t) error { return unix.Fstat(fd, st) }

func (kernel) fileSystem(fd int) (int64, error) {
	var st unix.Statfs_t
	err := unix.Fstatfs(fd, &st)
	return st.Type, err
}

func (kernel) reopen(fd int) (int, error) {
	return unix.Open(selfFile(fd), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
}

func (kernel) read(fd int, p []byte, off int64) (int, error) {
	for {
		n, err := unix.Pread(fd, p, off)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

func (kernel) readlink(fd int, p []byte) (int, error) { return unix.Readlinkat(fd, "", p) }

// list gives at most so many of a directory's names.
func (k kernel) list(dir int, limit int) ([]string, error) {
	fd, err := unix.Open(selfFile(dir), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "directory")
	defer func() { _ = f.Close() }()
	names, err := f.Readdirnames(max(limit, 1))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

func (kernel) listAttributes(fd int, p []byte) (int, error) { return unix.Listxattr(selfFile(fd), p) }

func (kernel) attribute(fd int, name string, p []byte) (int, error) {
	return unix.Getxattr(selfFile(fd), name, p)
}

// selfFile is the path by which this process's descriptor is opened again.
func selfFile(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
