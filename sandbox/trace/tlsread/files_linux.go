//go:build amd64 || arm64

package tlsread

import (
	"bufio"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// maxMappings bounds the files of one process.
const maxMappings = 4096

// mayHold reports whether a file may be a library, by its name.
func mayHold(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, ".so") || strings.Contains(base, ".so.") || strings.HasSuffix(base, ".node")
}

// openIn opens a file by the path that a process has of it, which cannot lead out of the
// process's root directory. Nothing but a regular file is opened.
func openIn(pid int, name string) (*os.File, error) {
	root, err := unix.Open(fmt.Sprintf("/proc/%d/root", pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(root) }()
	fd, err := unix.Openat2(root, name, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// openProgram opens the file that a process runs.
func openProgram(pid int) (*os.File, error) {
	return os.OpenFile(fmt.Sprintf("/proc/%d/exe", pid), os.O_RDONLY|unix.O_NONBLOCK, 0)
}

// hasLoader reports whether a program names one (PT_INTERP, elf(5)), or is none that is known.
func hasLoader(f *os.File) bool {
	e, err := elf.NewFile(f)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(e.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}

// mapped are the files of which a process has mapped code, its program left out.
func mapped(pid int) ([]string, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return parseMaps(f)
}

// parseMaps reads proc_pid_maps(5).
func parseMaps(r io.Reader) ([]string, error) {
	var names []string
	seen := map[string]bool{}
	lines := bufio.NewScanner(r)
	for lines.Scan() && len(names) < maxMappings {
		// address perms offset dev inode path
		fields := strings.SplitN(lines.Text(), " ", 6)
		if len(fields) < 6 || len(fields[1]) < 3 || fields[1][2] != 'x' {
			continue
		}
		if name := strings.TrimLeft(fields[5], " "); mayHold(name) && strings.HasPrefix(name, "/") && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names, lines.Err()
}

// file tells a file from others, and from what it was before it was written to.
type file struct {
	dev, ino uint64
	size     int64
	changed  unix.Timespec
	reads    bool
}

// inspected is what files hold: a run maps the same ones as the run before.
var inspected struct {
	sync.Mutex
	files map[file][]probe
}

const maxInspected = 4096

// probesOf finds what is to be watched in a file, nil for nothing.
func probesOf(f *os.File, reads bool) (file, []probe, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return file{}, nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return file{}, nil, errNone
	}
	k := file{st.Dev, st.Ino, st.Size, st.Ctim, reads}
	inspected.Lock()
	probes, ok := inspected.files[k]
	inspected.Unlock()
	if !ok {
		probes, _ = inspect(f, reads) // what cannot be read holds nothing that can be watched
		inspected.Lock()
		if inspected.files == nil || len(inspected.files) >= maxInspected {
			inspected.files = map[file][]probe{}
		}
		inspected.files[k] = probes
		inspected.Unlock()
	}
	if len(probes) == 0 {
		return k, nil, errNone
	}
	return k, probes, nil
}
