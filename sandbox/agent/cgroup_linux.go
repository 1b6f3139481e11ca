package agent

import (
	"bytes"
	"os"
	"strconv"
)

// groupCounter is a counter of the control group that a backend put the sandbox
// into: the kernel raises it when the group's bound was hit.
type groupCounter struct {
	file, key, reason string
	base              int64
}

// groupCounters finds the counters that this sandbox can see, of either version
// of control groups. A group without a bound is somebody else's and not asked.
func groupCounters() []groupCounter {
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
	b, err := os.ReadFile(c.file)
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

// hit reports whether the bound was hit since the start.
func (c groupCounter) hit() bool {
	n, ok := c.read()
	return ok && n > c.base
}
