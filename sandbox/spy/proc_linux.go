//go:build amd64 || arm64

package spy

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
)

// What is read of /proc at most.
const (
	maxCommand = 16 << 10
	maxWords   = 256
)

// containerID is the id of a container in the path of a control group, as Docker, containerd,
// CRI-O and Podman write it.
var containerID = regexp.MustCompile(`(?:^|[/:-])([0-9a-f]{64})(?:\.scope)?(?:/|$)`)

// users remembers names: a look-up may read a large file.
var users sync.Map

// Known completes what the kernel says of a process by /proc. What cannot be read stays empty.
func Known(p *reassembly.Process) {
	dir := "/proc/" + strconv.Itoa(p.PID)
	p.Command = command(dir)
	p.Parent = parent(dir)
	if data, err := os.ReadFile(dir + "/cgroup"); err == nil {
		p.Cgroup = cgroupPath(data)
		if m := containerID.FindStringSubmatch(p.Cgroup); m != nil {
			p.Container = m[1][:12]
		}
	}
	name, ok := users.Load(p.UID)
	if !ok {
		name = strconv.Itoa(p.UID)
		if u, err := user.LookupId(strconv.Itoa(p.UID)); err == nil {
			name = u.Username
		}
		users.Store(p.UID, name)
	}
	p.User = name.(string)
}

// command is a process's command line.
func command(dir string) (words []string) {
	f, err := os.Open(dir + "/cmdline")
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxCommand))
	if err != nil || len(data) == 0 {
		return nil
	}
	for _, w := range bytes.SplitN(bytes.TrimSuffix(data, []byte{0}), []byte{0}, maxWords) {
		words = append(words, string(w))
	}
	return words
}

// statFields are the fields of a process's stat behind its name, which may hold anything.
func statFields(dir string) []string {
	data, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return nil
	}
	return strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
}

// parent is a process's parent, 0 where that is not known.
func parent(dir string) int {
	if f := statFields(dir); len(f) > 1 {
		n, _ := strconv.Atoi(f[1])
		return n
	}
	return 0
}

// cgroupPath is the path of the unified hierarchy, else of the first one.
func cgroupPath(data []byte) string {
	path := ""
	for line := range strings.Lines(string(data)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) == 3 && (path == "" || parts[0] == "0") {
			path = parts[2]
		}
	}
	return path
}

// Parent is who started a process, 0 where that is not known.
func Parent(pid int) int { return parent("/proc/" + strconv.Itoa(pid)) }

// Alive reports whether a process is there and has not ended.
func Alive(pid int) bool {
	f := statFields("/proc/" + strconv.Itoa(pid))
	return len(f) > 0 && f[0] != "Z" && f[0] != "X"
}

// WithChildren adds all that the processes have started and is there.
func WithChildren(pids []int) []int {
	if len(pids) == 0 {
		return nil
	}
	of := map[int][]int{}
	for _, pid := range processes() {
		up := parent("/proc/" + strconv.Itoa(pid))
		of[up] = append(of[up], pid)
	}
	seen := map[int]bool{}
	var out []int
	for queue := pids; len(queue) > 0; queue = queue[1:] {
		if pid := queue[0]; !seen[pid] {
			seen[pid] = true
			out = append(out, pid)
			queue = append(queue, of[pid]...)
		}
	}
	return out
}

// processes lists all processes of the machine.
func processes() (pids []int) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what could be read serves
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Holder finds a process that holds the other end of a pipe, of those that were not seen:
// one that can read it if reads is true, one that can write to it otherwise. Of several it
// takes the youngest: what a shell has started has the shell's pipe. It knows pipes only.
func Holder(k reassembly.Key, known int, reads bool) *reassembly.Process {
	if k.Kind != reassembly.Pipe {
		return nil
	}
	var found *reassembly.Process
	want := fmt.Sprintf("pipe:[%d]", binaryInode(k))
	for _, pid := range processes() {
		if pid == known || pid == os.Getpid() || found != nil && pid < found.PID {
			continue
		}
		if holds(pid, want, reads) {
			p := Named(pid)
			found = &p
		}
	}
	return found
}

// Named is a process by its name and its user, as far as it is still there.
func Named(pid int) reassembly.Process {
	dir := "/proc/" + strconv.Itoa(pid)
	comm, _ := os.ReadFile(dir + "/comm") // it may be gone, and has no name then
	p := reassembly.Process{PID: pid, Comm: strings.TrimSpace(string(comm))}
	var st unix.Stat_t
	if unix.Stat(dir, &st) == nil {
		p.UID = int(st.Uid)
	}
	return p
}

// holds reports whether a process has a pipe open for reading, or for writing.
func holds(pid int, want string, reads bool) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	fds, err := filepath.Glob(dir + "/fd/*")
	if err != nil {
		return false
	}
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err != nil || to != want {
			continue
		}
		info, err := os.ReadFile(dir + "/fdinfo/" + filepath.Base(fd))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(info), "flags:")
		if fields := strings.Fields(rest); len(fields) > 0 {
			flags, err := strconv.ParseUint(fields[0], 8, 64)
			if mode := flags & unix.O_ACCMODE; err == nil && (mode == unix.O_RDWR || (mode == unix.O_RDONLY) == reads) {
				return true
			}
		}
	}
	return false
}
