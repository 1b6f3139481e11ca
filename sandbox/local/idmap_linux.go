package local

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"math/big"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// mapping is who is who in the sandbox's user namespace.
type mapping struct {
	uids, gids []syscall.SysProcIDMap
	// single says that one id is all there is: the target has the agent's.
	single bool
	// uid and gid are the target's inside.
	uid, gid int
}

// extent is a run of ids that this process' own namespace has.
type extent struct{ first, size int }

// newMapping gives the target, as root, a host id that owns nothing: the ids
// inside are those outside, but for the target's, which is swapped with an unused one.
// An ordinary user has but one id to give.
func newMapping(uid, gid int) (mapping, error) {
	if os.Geteuid() != 0 || uid == 0 || gid == 0 {
		return singleMapping(uid, gid), nil
	}
	uids, err := readExtents("/proc/self/uid_map")
	if err != nil {
		return mapping{}, err
	}
	gids, err := readExtents("/proc/self/gid_map")
	if err != nil {
		return mapping{}, err
	}
	if total(uids) < 2 || total(gids) < 2 || !hasSetID() {
		return singleMapping(uid, gid), nil
	}
	highUID, err := unusedID(uids, func(id string) bool { _, err := user.LookupId(id); return err == nil })
	if err != nil {
		return mapping{}, err
	}
	highGID, err := unusedID(gids, func(id string) bool { _, err := user.LookupGroupId(id); return err == nil })
	if err != nil {
		return mapping{}, err
	}
	return mapping{uids: swap(uids, uid, highUID), gids: swap(gids, gid, highGID), uid: uid, gid: gid}, nil
}

// singleMapping makes this process' own id the target's, and the agent's too.
func singleMapping(uid, gid int) mapping {
	return mapping{
		uids:   []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Geteuid(), Size: 1}},
		gids:   []syscall.SysProcIDMap{{ContainerID: gid, HostID: os.Getegid(), Size: 1}},
		single: true, uid: uid, gid: gid,
	}
}

// readExtents reads the ids of this process' namespace.
func readExtents(path string) ([]extent, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the ids of this namespace: %w", err)
	}
	defer func() { _ = f.Close() }()
	var all []extent
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var first, outside, size int
		if _, err := fmt.Sscan(lines.Text(), &first, &outside, &size); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, lines.Text(), err)
		}
		all = append(all, extent{first, size})
	}
	return all, nil
}

func total(extents []extent) int {
	n := 0
	for _, e := range extents {
		n += e.size
	}
	return n
}

const (
	// Ids that no convention gives to anyone: above what containers and services
	// are given, below the negative ones of old.
	unusedFirst = 1_900_000_000
	unusedLast  = 2_147_000_000
)

// unusedID draws an id that has no name, and no file unless by the strangest chance.
func unusedID(extents []extent, known func(string) bool) (int, error) {
	best := extent{}
	for _, e := range extents {
		// The highest part of what there is, as far as it is reserved for nobody.
		first, end := max(e.first, unusedFirst), min(e.first+e.size, unusedLast)
		if end <= first {
			first, end = max(e.first, e.first+e.size-4096), min(e.first+e.size, unusedLast)
		}
		if end > first && end > best.first+best.size {
			best = extent{first, end - first}
		}
	}
	for range 100 {
		if best.size == 0 {
			break
		}
		n, err := rand.Int(rand.Reader, big.NewInt(int64(best.size)))
		if err != nil {
			return 0, fmt.Errorf("draw an id: %w", err)
		}
		if id := best.first + int(n.Int64()); id > 1000 && !known(strconv.Itoa(id)) {
			return id, nil
		}
	}
	return 0, fmt.Errorf("no unused id among %v", extents)
}

// swap maps every id to itself, but a and b to each other.
func swap(extents []extent, a, b int) []syscall.SysProcIDMap {
	var all []syscall.SysProcIDMap
	add := func(inside, outside, size int) {
		if size > 0 {
			all = append(all, syscall.SysProcIDMap{ContainerID: inside, HostID: outside, Size: size})
		}
	}
	for _, e := range extents {
		next, end := e.first, e.first+e.size
		for _, cut := range [][2]int{{min(a, b), max(a, b)}, {max(a, b), min(a, b)}} {
			if cut[0] < next || cut[0] >= end {
				continue
			}
			add(next, next, cut[0]-next)
			// The higher one inside is only there if the lower one is outside, too.
			if cut[0] == a || contains(extents, a) {
				add(cut[0], cut[1], 1)
			}
			next = cut[0] + 1
		}
		add(next, next, end-next)
	}
	if !contains(extents, a) {
		add(a, b, 1)
	}
	return all
}

func contains(extents []extent, id int) bool {
	for _, e := range extents {
		if id >= e.first && id < e.first+e.size {
			return true
		}
	}
	return false
}

// hasSetID says that this process may write a map of many ids: CAP_SETGID,
// CAP_SETUID and, as root's own id is in it, CAP_SETFCAP.
func hasSetID() bool {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, "CapEff:"); ok {
			caps, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
			const want = 1<<6 | 1<<7 | 1<<31
			return err == nil && caps&want == want
		}
	}
	return false
}
