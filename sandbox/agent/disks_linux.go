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

// newDisks finds them before the target writes. The target can make none.
func newDisks(bound int64, shared bool) *disks {
	text, _ := os.ReadFile("/proc/self/mounts")
	d := &disks{bound: bound, dirs: writable(string(text), shared)}
	d.base, _ = d.look()
	return d
}

// writable are the file systems among the mounts that may be the sandbox's own. Overlays that
// share what they write to (see rootfs.Bound) each tell of all of it: one stands for them.
func writable(mounts string, shared bool) []string {
	var dirs []string
	overlays := 0
	for line := range strings.Lines(mounts) {
		f := strings.Fields(line) // of fstab(5)
		if len(f) < 4 || f[2] != "tmpfs" && f[2] != "overlay" || !slices.Contains(strings.Split(f[3], ","), "rw") {
			continue
		}
		if f[2] == "overlay" {
			if overlays++; shared && overlays > 1 {
				continue
			}
		}
		if dir, err := strconv.Unquote(`"` + f[1] + `"`); err == nil { // a space is \040
			dirs = append(dirs, dir)
		}
	}
	return dirs
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
