package inplace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// mount is one line of /proc/self/mountinfo (proc_pid_mountinfo(5)).
type mount struct {
	// device is the file system's, root the path in it that is mounted at point.
	device, root, point string
	readOnly            bool
	kind                string // of file system
}

// maxMountinfo bounds /proc/self/mountinfo, in bytes.
const maxMountinfo = 16 << 20

// parseMounts reads mountinfo. A line that is none of the kernel's is an error: what is
// not understood must not be taken for harmless.
func parseMounts(r io.Reader) ([]mount, error) {
	var out []mount
	lines := bufio.NewScanner(io.LimitReader(r, maxMountinfo))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		left, right, ok := strings.Cut(lines.Text(), " - ")
		f, kind := strings.Fields(left), strings.Fields(right)
		if !ok || len(f) < 6 || len(kind) == 0 {
			return nil, errors.New("/proc/self/mountinfo has a line that is not understood")
		}
		out = append(out, mount{
			device: f[2], root: unescape(f[3]), point: unescape(f[4]), kind: kind[0],
			readOnly: slices.Contains(strings.Split(f[5], ","), "ro"),
		})
	}
	return out, lines.Err()
}

// unescape undoes the kernel's octal escapes of space, tab, newline and backslash.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// pseudo are file systems that are the kernel's, and nobody's files.
var pseudo = []string{
	"proc", "sysfs", "cgroup", "cgroup2", "devpts", "devtmpfs", "mqueue", "securityfs", "debugfs", "tracefs", "bpf", "binfmt_misc", "pstore",
	"configfs", "efivarfs", "fusectl", "hugetlbfs", "nsfs", "selinuxfs", "fuse.lxcfs",
}

// engines are the files that an engine mounts into each container.
var engines = []string{"/etc/resolv.conf", "/etc/hostname", "/etc/hosts", "/run/.containerenv", "/.dockerenv", "/dev/termination-log"}

// ofHost finds the mounts through which a container reaches files that outlive it. empty
// reports whether a directory has nothing in it: a fresh tmpfs, other than one that the
// host has as well.
func ofHost(mounts []mount, empty func(dir string) bool) []mount {
	made := ofEngine(mounts)
	var out []mount
	for _, m := range mounts {
		if m.point == "/" || slices.Contains(pseudo, m.kind) || slices.Contains(made, m.device) || slices.Contains(engines, m.point) {
			continue
		}
		if m.kind == "tmpfs" && m.root == "/" && empty(m.point) {
			continue
		}
		out = append(out, m)
	}
	return out
}

// controllers is where an engine mounts version 1 of control groups, in a directory in memory.
const controllers = "/sys/fs/cgroup"

// ofEngine are the devices of the file systems in memory that an engine makes for a
// container with files in them: /dev, whose null device covers files of /proc, and controllers.
func ofEngine(mounts []mount) []string {
	var out []string
	for _, m := range mounts {
		if m.kind != "tmpfs" || m.root != "/" {
			continue
		}
		hasGroups := func(below mount) bool { return below.kind == "cgroup" && path.Dir(below.point) == controllers }
		if m.point == "/dev" || m.point == controllers && slices.ContainsFunc(mounts, hasGroups) {
			out = append(out, m.device)
		}
	}
	return out
}

// hostMounts are this container's.
func hostMounts() ([]mount, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	all, err := parseMounts(f)
	if err != nil {
		return nil, err
	}
	return ofHost(all, func(dir string) bool {
		entries, err := os.ReadDir(dir)
		return err == nil && len(entries) == 0
	}), nil
}

// writable says which mount lets a server write to the host, and how it would not;
// both are "" where none does.
func writable(mounts []mount) (reason, hint string) {
	for _, m := range mounts {
		st, err := os.Stat(m.point)
		switch {
		case err == nil && st.Mode()&os.ModeSocket != 0:
			return fmt.Sprintf("%s is a socket of the host", m.point), "leave out the mount of " + m.point
		case !m.readOnly:
			return fmt.Sprintf("%s is the host's, and can be written to", m.point), command("-v " + sandbox.Quoted(m.root+":"+m.point+":ro") + " ")
		}
	}
	return "", ""
}

// mountOf is the mount that a path lies in, nil for the container's own files.
func mountOf(mounts []mount, name string) *mount {
	var found *mount
	for i := range mounts {
		if m := &mounts[i]; shown.Within(path.Clean(name), m.point) && (found == nil || len(m.point) > len(found.point)) {
			found = m
		}
	}
	return found
}
