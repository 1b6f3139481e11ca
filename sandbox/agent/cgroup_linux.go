package agent

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// groupCounter is a counter of the control group that a backend put the sandbox
// into: the kernel raises it when the group's bound was hit.
type groupCounter struct {
	file, key, reason string
	fd                int // open instead of file, 0 for none
	base              int64
}

// groupCounters finds the counters that this sandbox can see, of either version
// of control groups. A group without a bound is somebody else's and not asked.
func groupCounters(grouped bool) []groupCounter {
	const root = "/sys/fs/cgroup/"
	const memory, pids = "memory: the sandbox's control group ran out of it", "pids: the sandbox's control group ran out of them"
	candidates := []struct {
		bound string
		groupCounter
	}{
		{root + "memory.max", groupCounter{file: root + "memory.events", key: "oom_kill", reason: memory}},
		{root + "pids.max", groupCounter{file: root + "pids.events", key: "max", reason: pids}},
		{root + "memory/memory.limit_in_bytes", groupCounter{file: root + "memory/memory.oom_control", key: "oom_kill", reason: memory}},
		{root + "pids/pids.max", groupCounter{file: root + "pids/pids.events", key: "max", reason: pids}},
	}
	var out []groupCounter
	if c := (groupCounter{fd: EventsFD, key: "oom_kill", reason: memory}); grouped {
		c.base, _ = c.read()
		out = append(out, c)
	}
	for _, c := range candidates {
		b, err := os.ReadFile(c.bound)
		bound, bad := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
		if err != nil || bad != nil || bound >= 1<<60 {
			continue
		}
		if n, ok := c.read(); ok {
			c.base = n
			out = append(out, c.groupCounter)
		}
	}
	return out
}

// read returns the counter's value.
func (c groupCounter) read() (int64, bool) {
	b, err := c.content()
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(b) {
		key, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		if string(key) == c.key {
			n, err := strconv.ParseInt(string(value), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

func (c groupCounter) content() ([]byte, error) {
	if c.fd == 0 {
		return os.ReadFile(c.file)
	}
	b := make([]byte, 4096)
	n, err := unix.Pread(c.fd, b, 0)
	return b[:max(n, 0)], err
}

// hit reports whether the bound was hit since the start.
func (c groupCounter) hit() bool {
	n, ok := c.read()
	return ok && n > c.base
}

// boundIPC bounds what System V objects may hold in the sandbox's own IPC
// namespace. Kernels before 6.10 may keep these settings from it: what is
// detached is then still counted, and the control group bounds the rest.
func boundIPC(l Limits) {
	if l.Memory <= 0 {
		return
	}
	for _, s := range []struct{ name, value string }{
		{"shmall", strconv.FormatInt(l.Memory/4/int64(os.Getpagesize()), 10)},
		{"msgmni", "64"},
		{"sem", "250 32000 100 256"}, // per set, in all, operations a call, sets
	} {
		_ = os.WriteFile("/proc/sys/kernel/"+s.name, []byte(s.value), 0)
	}
}
