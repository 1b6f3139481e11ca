package agent

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// unnamedPrefix begins what a file without a name is remembered by: no path.
const unnamedPrefix = "unnamed/"

// process looks into the files that a process of the target's can still write to
// or that only it can reach: by its descriptors, and by shared mappings. A process
// that has mounts of its own may have written where no path of the sandbox leads.
func (s *searcher) process(pid int, mounts string) {
	proc := "/proc/" + strconv.Itoa(pid)
	if ns, err := os.Readlink(proc + "/ns/mnt"); err == nil && mounts != "" && ns != mounts {
		s.unsearched(proc, errors.New("the process has mounts of its own, which are not searched"))
	} else if err != nil && !isEnded(err) && !isExiting(pid) {
		s.unsearched(proc, err)
	}
	entries, err := os.ReadDir(proc + "/fd")
	if err != nil {
		if !isEnded(err) && !isExiting(pid) {
			s.unsearched(proc+"/fd", err)
		}
		return
	}
	for _, e := range entries {
		s.held(pid, proc+"/fd/"+e.Name())
	}
	s.mapped(pid)
}

// maxMapped is how large a mapping may be to be searched, in bytes: a semaphore's has a page.
const maxMapped = 1 << 20

// memory looks into the memory between two addresses of a process, as proc_pid_maps(5) has them.
func (s *searcher) memory(pid int, addresses, name string) error {
	var from, to int64
	if _, err := fmt.Sscanf(addresses, "%x-%x", &from, &to); err != nil {
		return err
	}
	if to-from > maxMapped {
		return fmt.Errorf("it has %d bytes", to-from)
	}
	mem, err := os.Open("/proc/" + strconv.Itoa(pid) + "/mem")
	if err != nil {
		return err
	}
	defer func() { _ = mem.Close() }()
	b := make([]byte, to-from)
	if _, err := mem.ReadAt(b, from); err != nil {
		return err
	}
	s.tell(name, s.decoys.Linear().Find(b))
	return nil
}

// isEnded reports whether an error says that a process, or its descriptor, is no more.
func isEnded(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) }

// isExiting reports whether a process has given up its memory: it runs no code any
// more, and its files in /proc belong to root until it is gone.
func isExiting(pid int) bool {
	t, err := readTask(pid)
	return err == nil && t.virtual == 0 || err != nil && isEnded(err)
}

// held looks into the file of a process' descriptor: one open for writing, and one without a name.
func (s *searcher) held(pid int, link string) {
	to, err := os.Readlink(link)
	if err != nil {
		if !isEnded(err) && !isExiting(pid) {
			s.unsearched(link, err)
		}
		return
	}
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "/proc/") || strings.HasPrefix(to, "/sys/") {
		return // a pipe, a socket, an epoll, the kernel's own: no file
	}
	info, err := os.Lstat(link)
	if err != nil {
		return // it was closed meanwhile
	}
	unnamed := strings.HasSuffix(to, " (deleted)")
	if !unnamed && info.Mode().Perm()&0o200 == 0 {
		return
	}
	// What the link of a descriptor leads to is opened as such, whatever has the name.
	fd, err := s.sys.follow(link)
	if err != nil {
		if !isEnded(err) && !isExiting(pid) {
			s.unsearched(to, err)
		}
		return
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := s.sys.stat(fd, &st); err != nil {
		s.unsearched(to, err)
		return
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return
	}
	// A file of which nothing has changed since it was searched is not read again.
	key := to
	if unnamed {
		key = fmt.Sprint(unnamedPrefix, st.Dev, "/", st.Ino)
		s.nameless[to] = true
	}
	if v, ok := s.known[key]; ok && v == versionOf(&st) {
		s.seen[inode{st.Dev, st.Ino}] = true
		return
	}
	before := s.lost
	s.object(fd, to, 0)
	if unnamed && s.lost == before {
		s.remember(key, versionOf(&st))
	}
}

// mapped notes files without a name that only a shared mapping leads to. Memory
// that was never a file is no such thing.
func (s *searcher) mapped(pid int) {
	proc := "/proc/" + strconv.Itoa(pid)
	maps, err := os.ReadFile(proc + "/maps")
	if err != nil {
		if !isEnded(err) && !isExiting(pid) {
			s.unsearched(proc+"/maps", err)
		}
		return
	}
	for line := range strings.Lines(string(maps)) {
		// address perms offset device inode path: proc_pid_maps(5)
		f := strings.Fields(line)
		if len(f) < 6 || len(f[1]) != 4 || f[1][1] != 'w' || f[1][3] != 's' {
			continue
		}
		_, name, _ := strings.Cut(line, " "+f[4]+" ")
		name = strings.TrimSpace(name)
		switch {
		case !strings.HasPrefix(name, "/") || strings.HasPrefix(name, "/dev/zero (") || strings.HasPrefix(name, "/SYSV"):
		case !strings.HasSuffix(name, " (deleted)"):
			s.shared[name] = true
		case !s.nameless[name]:
			s.nameless[name] = true
			if err := s.memory(pid, f[0], name); err != nil {
				s.unsearched(name, fmt.Errorf("only a mapping of memory leads to it: %w", err))
			}
		}
	}
}
