package slots

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// HeldEnv is set for a process that runs on behalf of a test which holds slots:
	// there, Acquire does nothing.
	HeldEnv = "COALMINE_SLOTS_HELD"
	// sizeEnv overrides how many slots there are.
	sizeEnv = "COALMINE_SLOTS"

	perCore = 3         // these tests work more than they wait
	perSlot = 512 << 20 // bytes of memory
	fewest  = 4
	poll    = 10 * time.Millisecond
)

// Pool is a semaphore of Size slots. Each slot is a file below Dir that its holder
// has locked (flock(2)), so the kernel frees the slots of a process that dies.
type Pool struct {
	Dir  string
	Size int
}

// Default is the pool of this user and machine: 3 slots for a core, at most one for
// each 512 MiB of memory, or as many as COALMINE_SLOTS says. Its files are below
// the user's cache directory.
func Default() (Pool, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return Pool{}, fmt.Errorf("slots: %w: set XDG_CACHE_HOME", err)
	}
	p := Pool{Dir: filepath.Join(cache, "coalmine", "slots"), Size: perCore * runtime.NumCPU()}
	if m := memory(); m > 0 {
		p.Size = min(p.Size, int(m/perSlot))
	}
	p.Size = max(p.Size, fewest)
	if text := os.Getenv(sizeEnv); text != "" {
		if p.Size, err = strconv.Atoi(text); err != nil || p.Size < 1 {
			return Pool{}, fmt.Errorf("slots: %s=%q is not a number above 0", sizeEnv, text)
		}
	}
	return p, nil
}

// memory is how many bytes this machine has, 0 where that is not known.
func memory() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return info.Totalram * uint64(info.Unit)
}

// Take waits for weight slots, or for all where weight exceeds Size, and returns
// what gives them back. It is safe for concurrent use, in and between processes.
//
// Only whoever has the turn collects slots, and holders of slots never wait for the
// turn: so two that have some of what they want never wait for each other. The
// kernel grants the turn in the order of asking: so a heavy test is not starved.
func (p Pool) Take(weight int) (release func(), err error) {
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("slots: %w", err)
	}
	turn, err := p.lock("turn", unix.LOCK_EX)
	if err != nil {
		return nil, err
	}
	defer func() { _ = turn.Close() }()
	weight = min(max(weight, 1), p.Size)
	held := map[int]*os.File{}
	release = func() {
		for _, f := range held {
			_ = f.Close()
		}
	}
	for {
		for i := 0; i < p.Size && len(held) < weight; i++ {
			if held[i] != nil {
				continue
			}
			f, err := p.lock(strconv.Itoa(i), unix.LOCK_EX|unix.LOCK_NB)
			if err != nil {
				release()
				return nil, err
			}
			if f != nil {
				held[i] = f
			}
		}
		if len(held) == weight {
			return release, nil
		}
		time.Sleep(poll)
	}
}

// lock opens and locks a file. It returns nil where another has it locked and how
// says not to wait.
func (p Pool) lock(name string, how int) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(p.Dir, name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("slots: %w", err)
	}
	for {
		switch err := unix.Flock(int(f.Fd()), how); err {
		case nil:
			return f, nil
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return nil, f.Close()
		default:
			_ = f.Close()
			return nil, fmt.Errorf("slots: lock %s: %w", f.Name(), err)
		}
	}
}

var (
	mu      sync.Mutex
	holders = map[string]bool{} // the tests of this process that hold or await slots
)

// Acquire waits until weight slots of the default pool are free and holds them until
// the test ends. It fails the test where that, a test above or a test below it holds
// slots already.
//
// Call it after t.Parallel, and in the test that works: where a test holds slots and
// has parallel subtests, all that -parallel lets run may wait for those slots.
func Acquire(t testing.TB, weight int) {
	t.Helper()
	if os.Getenv(HeldEnv) != "" {
		return
	}
	p, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	if other := claim(t.Name()); other != "" {
		t.Fatalf("%s holds slots already: a test acquires them once", other)
	}
	begin := time.Now()
	release, err := p.Take(weight)
	if err != nil {
		disclaim(t.Name())
		t.Fatal(err)
	}
	t.Cleanup(func() {
		release()
		disclaim(t.Name())
	})
	if waited := time.Since(begin); waited > time.Second {
		t.Logf("waited %.1f s for %d of %d slots", waited.Seconds(), min(weight, p.Size), p.Size)
	}
}

// AcquireOnce is Acquire where the test, or one above it, may hold slots already: then
// it has what it needs.
func AcquireOnce(t testing.TB, weight int) {
	t.Helper()
	mu.Lock()
	held := holders[t.Name()]
	for other := range holders {
		held = held || strings.HasPrefix(t.Name(), other+"/")
	}
	mu.Unlock()
	if !held {
		Acquire(t, weight)
	}
}

// claim notes that a test holds slots, or names the test that forbids it.
func claim(name string) string {
	mu.Lock()
	defer mu.Unlock()
	for other := range holders {
		if other == name || strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/") {
			return other
		}
	}
	holders[name] = true
	return ""
}

func disclaim(name string) {
	mu.Lock()
	defer mu.Unlock()
	delete(holders, name)
}
