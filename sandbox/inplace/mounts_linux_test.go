package inplace

import (
	"slices"
	"strings"
	"testing"
)

// container is what a container of Docker's sees, with three mounts of its user's.
//
//nolint:dupword // of a kind of file system, mountinfo(5) names the source too
const container = `1 0 0:50 / / rw,relatime - overlay overlay rw,lowerdir=/l
2 1 0:53 / /proc rw,nosuid - proc proc rw
3 1 0:54 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k
4 3 0:55 / /dev/pts rw - devpts devpts rw
5 1 0:57 / /sys ro,nosuid - sysfs sysfs ro
6 1 8:1 /var/lib/docker/containers/0f/resolv.conf /etc/resolv.conf rw - ext4 /dev/sda1 rw
7 1 8:1 /var/lib/docker/containers/0f/hosts /etc/hosts rw - ext4 /dev/sda1 rw
8 1 8:1 /home/dana/my\040proj /work rw,relatime master:1 - ext4 /dev/sda1 rw
9 1 8:1 /home/dana/ro /ro ro,relatime - ext4 /dev/sda1 rw
10 1 0:24 /docker.sock /var/run/docker.sock rw - tmpfs tmpfs rw
11 1 0:60 / /scratch rw - tmpfs tmpfs rw
12 1 0:25 / /hosttmp rw - tmpfs tmpfs rw
13 3 8:1 /home/dana/project /dev/project rw - ext4 /dev/sda1 rw
14 5 8:1 /home/dana/project /sys/firmware rw - ext4 /dev/sda1 rw
15 2 0:53 /bus /proc/bus ro,nosuid - proc proc rw
16 2 0:54 /null /proc/kcore rw,nosuid - tmpfs tmpfs rw,size=65536k
17 5 0:61 / /sys/dev/block ro - tmpfs tmpfs ro
20 5 0:78 / /sys/fs/cgroup rw - tmpfs tmpfs rw
21 20 0:29 /docker/0f /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu
18 3 0:62 / /dev/shm rw - tmpfs shm rw
19 3 0:26 / /dev/shared rw - tmpfs tmpfs rw
`

func TestMountsOfTheHost(t *testing.T) {
	all, err := parseMounts(strings.NewReader(container))
	if err != nil {
		t.Fatal(err)
	}
	got := ofHost(all, func(dir string) bool { return slices.Contains([]string{"/scratch", "/sys/dev/block", "/dev/shm"}, dir) })
	var points []string
	for _, m := range got {
		points = append(points, m.point)
	}
	if want := []string{"/work", "/ro", "/var/run/docker.sock", "/hosttmp", "/dev/project", "/sys/firmware", "/dev/shared"}; !slices.Equal(points, want) {
		t.Fatalf("the host's: %q, want %q", points, want)
	}
	reason, hint := writable(got)
	if !strings.Contains(reason, "/work is the host's") || !strings.Contains(hint, "-v '/home/dana/my proj:/work:ro' coalmine probe") {
		t.Errorf("%s; %s", reason, hint)
	}
	if reason, _ := writable(got[1:2]); reason != "" {
		t.Errorf("a read-only mount: %s", reason)
	}
	if m := mountOf(got, "/work/src/index.js"); m == nil || m.point != "/work" {
		t.Errorf("/work/src/index.js lies in %v", m)
	}
	if m := mountOf(got, "/workshop/index.js"); m != nil {
		t.Errorf("/workshop/index.js lies in %v", m)
	}
}

func FuzzParseMounts(f *testing.F) {
	f.Add(container)
	f.Add("8 1 8:1 /a\\0 /b rw - ext4 x rw")
	f.Add("3 1 0:54 / /dev rw - tmpfs none rw\n13 3 8:1 / /dev/x rw - ext4 x rw")
	f.Fuzz(func(t *testing.T, text string) {
		mounts, err := parseMounts(strings.NewReader(text))
		if err != nil {
			return
		}
		// Every line is a mount, and one that is not the kernel's is never passed over.
		for _, m := range mounts {
			host := len(ofHost([]mount{m}, func(string) bool { return true })) == 1
			if !host && m.kind == "ext4" && m.point != "/" && !slices.Contains(engines, m.point) {
				t.Fatalf("%v is taken for the container's own", m)
			}
		}
	})
}
