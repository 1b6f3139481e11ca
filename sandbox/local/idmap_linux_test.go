package local

import (
	"slices"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

func TestSwap(t *testing.T) {
	for _, c := range []struct {
		extents []extent
		a, b    int
		want    []syscall.SysProcIDMap
	}{
		{[]extent{{0, 1<<32 - 1}}, 1000, 2_000_000_000, []syscall.SysProcIDMap{
			{ContainerID: 0, HostID: 0, Size: 1000}, {ContainerID: 1000, HostID: 2_000_000_000, Size: 1},
			{ContainerID: 1001, HostID: 1001, Size: 1_999_998_999}, {ContainerID: 2_000_000_000, HostID: 1000, Size: 1},
			{ContainerID: 2_000_000_001, HostID: 2_000_000_001, Size: 2_294_967_294},
		}},
		{[]extent{{0, 100}}, 1000, 99, []syscall.SysProcIDMap{
			{ContainerID: 0, HostID: 0, Size: 99}, {ContainerID: 1000, HostID: 99, Size: 1},
		}},
	} {
		if got := swap(c.extents, c.a, c.b); !slices.Equal(got, c.want) {
			t.Errorf("swap %d %d: %+v", c.a, c.b, got)
		}
	}
}

// A map that names an id twice is refused by the kernel; one that names the
// target's own would give it the host's files.
func TestSwapNamesEachIDOnce(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var extents []extent
		next := 0
		for range rapid.IntRange(1, 4).Draw(r, "extents") {
			first := next + rapid.IntRange(0, 50).Draw(r, "gap")
			size := rapid.IntRange(1, 50).Draw(r, "size")
			extents = append(extents, extent{first, size})
			next = first + size
		}
		e := rapid.SampledFrom(extents).Draw(r, "extent")
		b := e.first + rapid.IntRange(0, e.size-1).Draw(r, "b")
		a := rapid.IntRange(0, 300).Filter(func(a int) bool { return a != b }).Draw(r, "a")
		inside, outside := map[int]int{}, map[int]bool{}
		for _, m := range swap(extents, a, b) {
			for i := range m.Size {
				if _, twice := inside[m.ContainerID+i]; twice || outside[m.HostID+i] || !contains(extents, m.HostID+i) {
					r.Fatalf("%d inside or %d outside twice, or not ours", m.ContainerID+i, m.HostID+i)
				}
				inside[m.ContainerID+i], outside[m.HostID+i] = m.HostID+i, true
			}
		}
		if inside[a] != b {
			r.Fatalf("%d is %d outside, not %d", a, inside[a], b)
		}
		for in, out := range inside {
			if in != out && in != a && in != b {
				r.Fatalf("%d is %d outside", in, out)
			}
		}
	})
}

func TestUnusedID(t *testing.T) {
	never := func(string) bool { return false }
	for _, e := range [][]extent{{{0, 1<<32 - 1}}, {{0, 65536}}, {{0, 1}, {100000, 65536}}} {
		id, err := unusedID(e, never)
		if err != nil || !contains(e, id) {
			t.Errorf("%v: %d, %v", e, id, err)
		}
	}
	if id, err := unusedID([]extent{{0, 1<<32 - 1}}, func(string) bool { return true }); err == nil {
		t.Errorf("%d, though every id is known", id)
	}
}
