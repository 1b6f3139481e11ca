package slots

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// holdEnv makes the test's program take slots of the directory that it names, say
// so, and wait to be killed.
const holdEnv = "SLOTS_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdEnv); dir != "" {
		if _, err := (Pool{dir, 3}).Take(2); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("held")
		select {}
	}
	os.Exit(m.Run())
}

// free counts the slots that nobody holds.
func free(t *testing.T, p Pool) (n int) {
	t.Helper()
	for i := range p.Size {
		f, err := p.lock(strconv.Itoa(i), unix.LOCK_EX|unix.LOCK_NB)
		if err != nil {
			t.Fatal(err)
		}
		if f != nil {
			n++
			defer func() { _ = f.Close() }()
		}
	}
	return n
}

func TestWeightsAreTaken(t *testing.T) {
	p := Pool{t.TempDir(), 5}
	for weight, want := range map[int]int{-1: 4, 0: 4, 1: 4, 3: 2, 5: 0, 50: 0} {
		release, err := p.Take(weight)
		if err != nil {
			t.Fatal(err)
		}
		if got := free(t, p); got != want {
			t.Errorf("weight %d leaves %d free, want %d", weight, got, want)
		}
		release()
		if got := free(t, p); got != p.Size {
			t.Errorf("weight %d: %d are free after the release", weight, got)
		}
	}
}

// However many want however much, all get it in the end, and never too many at once.
func TestContention(t *testing.T) {
	p := Pool{t.TempDir(), 4}
	var m sync.Mutex
	used, most := 0, 0
	change := func(n int) {
		m.Lock()
		defer m.Unlock()
		used += n
		most = max(most, used)
	}
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			weight := 1 + i%4
			release, err := p.Take(weight)
			if err != nil {
				t.Error(err)
				return
			}
			change(weight)
			for range 100 {
				runtime.Gosched() // so that others may be in here too
			}
			change(-weight)
			release()
		})
	}
	all.Wait()
	if most > p.Size || free(t, p) != p.Size {
		t.Errorf("%d of %d slots were used at once, %d are free at the end", most, p.Size, free(t, p))
	}
}

// What another process holds is taken, and free as soon as that is killed.
func TestAProcessThatDiesHoldsNothing(t *testing.T) {
	p := Pool{t.TempDir(), 3}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{holdEnv + "=" + p.Dir}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "held\n" {
		t.Errorf("the other process says %q, %v", line, err)
	}
	if got := free(t, p); got != 1 {
		t.Errorf("%d slots are free beside another process with 2 of 3", got)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	release, err := p.Take(3)
	if err != nil {
		t.Fatal(err)
	}
	release()
}

func TestATestAcquiresOnce(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Run("holds", func(t *testing.T) {
		Acquire(t, 1)
		for _, name := range []string{t.Name(), t.Name() + "/below", "TestATestAcquiresOnce"} {
			if claim(name) == "" {
				t.Errorf("%s may acquire too", name)
			}
		}
		if other := claim(t.Name() + "more"); other != "" {
			t.Errorf("%s forbids a neighbour's claim", other)
		}
		disclaim(t.Name() + "more")
	})
	if other := claim("TestATestAcquiresOnce/holds"); other != "" {
		t.Errorf("%s holds slots after its end", other)
	}
	disclaim("TestATestAcquiresOnce/holds")
}

// Where the test or one above it holds slots, nothing more is taken; a neighbour's count for nothing.
func TestAcquireOnce(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	p, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("holds", func(t *testing.T) {
		AcquireOnce(t, 2)
		AcquireOnce(t, 2)
		t.Run("below", func(t *testing.T) { AcquireOnce(t, 2) })
		if got := free(t, p); got != p.Size-2 {
			t.Errorf("%d of %d slots are free beside a holder of 2", got, p.Size)
		}
	})
	t.Run("holdsmore", func(t *testing.T) {
		if claim("TestAcquireOnce/holds") != "" {
			t.Fatal("the neighbour holds slots after its end")
		}
		defer disclaim("TestAcquireOnce/holds")
		if AcquireOnce(t, 1); free(t, p) != p.Size-1 {
			t.Error("a neighbour's slots are taken for its own")
		}
	})
}

// On behalf of a holder nothing is taken.
func TestAHoldersChildTakesNothing(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv(HeldEnv, "1")
	Acquire(t, 1)
	if made, err := os.ReadDir(cache); err != nil || len(made) > 0 {
		t.Errorf("made %v, %v", made, err)
	}
}

func TestSizeIsGiven(t *testing.T) {
	for text, want := range map[string]int{"7": 7, "0": 0, "x": 0} {
		t.Setenv(sizeEnv, text)
		p, err := Default()
		if (err == nil) != (want > 0) || want > 0 && p.Size != want {
			t.Errorf("%s: %+v, %v", text, p, err)
		}
	}
}
