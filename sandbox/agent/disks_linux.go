package agent

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// disksTogether is how many times Limits.Disk all writable file systems may hold together.
// They lie in memory, and a sandbox without a control group has no other bound of their sum.
const disksTogether = 2

// disks are the file systems that the target may write to and that lie in memory. Only
// those are the sandbox's own, and bounded by it.
type disks struct {
	// bound is that of each, in bytes.
	bound int64
	dirs  []string
	// base is what they held before the target began, in bytes.
	base int64
}

// newDisks finds them among the mounts, before the target writes. The target can make none.
func newDisks(bound int64) *disks {
	d := &disks{bound: bound}
	text, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line) // of fstab(5)
		if len(f) < 4 || f[2] != "tmpfs" && f[2] != "overlay" || !slices.Contains(strings.Split(f[3], ","), "rw") {
			continue
		}
		if dir, err := strconv.Unquote(`"` + f[1] + `"`); err == nil { // a space is \040
			d.dirs = append(d.dirs, dir)
		}
	}
	d.base, _ = d.look()
	return d
}

// look sums what the file systems hold, in bytes, and names one that has no room left, ""
// for none. An overlay tells of what it writes to, which lies in memory where it is no
// larger than the bound.
func (d *disks) look() (used int64, full string) {
	var seen []unix.Fsid
	for _, dir := range d.dirs {
		var st unix.Statfs_t
		if unix.Statfs(dir, &st) != nil || st.Blocks == 0 || slices.Contains(seen, st.Fsid) {
			continue
		}
		if st.Type != unix.TMPFS_MAGIC && int64(st.Blocks)*st.Bsize > d.bound {
			continue
		}
		seen = append(seen, st.Fsid)
		used += int64(st.Blocks-st.Bfree) * st.Bsize
		if st.Bavail == 0 && full == "" {
			full = dir
		}
	}
	return used, full
}
