//go:build linux && e2e

package sweep

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/sweeptest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// machine runs the program of this source, which make builds.
type machine struct {
	t       testing.TB
	program string
	dir     string
	// env is added to the environment.
	env []string
}

func (m *machine) command(args ...string) *exec.Cmd {
	cmd := exec.Command(m.program, args...)
	cmd.Dir, cmd.Env = m.dir, append(os.Environ(), m.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// list writes a list of n targets: kinds of servers, with an argument that tells them apart.
func (m *machine) list(n int) string {
	m.t.Helper()
	root := sandboxtest.ModuleRoot(m.t)
	var kinds []string
	for _, name := range []string{"leaky", "honest"} {
		data, err := os.ReadFile(filepath.Join(root, "bin", name))
		if err != nil {
			m.t.Fatal(err)
		}
		kinds = append(kinds, m.write(name, string(data)))
	}
	for _, name := range []string{"hints/hints.py", "honest/honest.py", "leaky/leaky.py"} {
		data, err := os.ReadFile(filepath.Join(root, "testdata", "servers", name))
		if err != nil {
			m.t.Fatal(err)
		}
		kinds = append(kinds, "python3 "+m.write(filepath.Base(name), string(data)))
	}
	kinds = append(kinds,
		m.write("ends", "#!/bin/sh\nexit 3\n"),
		m.write("noise", "#!/bin/sh\nwhile read -r line; do echo nonsense; done\n"),
		m.write("closed", "#!/bin/sh\nexec >&-\ncat >/dev/null\n"),
		m.write("half", "#!/bin/sh\nread -r line\nprintf '{\"jsonrpc\":'\n"),
		filepath.Join(m.dir, "missing", "missing"),
		m.write("text", "no program\n"),
		m.write("refuses", "#!/bin/sh\nread -r line\necho '{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32600,\"message\":\"no\"}}'\n"),
	)
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s --as %d\n", kinds[i%len(kinds)], i)
	}
	name := filepath.Join(m.dir, "list")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		m.t.Fatal(err)
	}
	return name
}

// write makes a program in a directory of its own.
func (m *machine) write(name, text string) string {
	m.t.Helper()
	file := filepath.Join(m.dir, strings.TrimSuffix(name, filepath.Ext(name)), name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		m.t.Fatal(err)
	}
	return file
}

// probing are the options that a sweep and its workers share.
var probing = []string{"--sandbox", "local", "--calls", "2", "--timeout", "90s", "--call-timeout", "5s", "--log", "json"}

// workers are processes that work, of which some are killed.
type workers struct {
	sync.Mutex
	running []*exec.Cmd
	begun   int
}

// start begins a worker. Whenever one begins a target, at gets the number of targets begun.
func (w *workers) start(m *machine, address string, at func(n int)) {
	m.t.Helper()
	cmd := m.command(append([]string{"sweep", "work", "--queue", address, "--workers", "1"}, probing...)...)
	said, err := cmd.StderrPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	w.Lock()
	w.running = append(w.running, cmd)
	w.Unlock()
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(said)
		for lines.Scan() {
			if !strings.Contains(lines.Text(), `"msg":"job begun"`) {
				continue
			}
			w.Lock()
			w.begun++
			n := w.begun
			w.Unlock()
			at(n)
		}
		_, _ = io.Copy(io.Discard, said) // a line that is too long
	}()
	m.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it is over where that fails
		<-read
		_ = cmd.Wait()
	})
}

// kill ends the worker that was started first.
func (w *workers) kill() {
	w.Lock()
	defer w.Unlock()
	_ = w.running[0].Process.Kill() // it is over where that fails
	w.running = w.running[1:]
}

// A sweep of a registry with a cluster of NATS, PostgreSQL and three workers, of which two and a
// node are killed at random, has the results of a sweep in one process.
func TestClusterIsLikeEmbedded(t *testing.T) {
	m, n := swept(t)
	c := newCatalogue(t, n)
	m.env = []string{"npm_config_" + twinsScope + ":registry=" + c.twins.URL + "/", "NO_PROXY=127.0.0.1,localhost"}
	source := []string{"--registry", c.URL}
	if shard := os.Getenv("COALMINE_SWEEP_SHARD"); shard != "" {
		source = append(source, "--shard", shard)
	}
	one, two := filepath.Join(m.dir, "one"), filepath.Join(m.dir, "two")
	m.sweep(slices.Concat(source, []string{"--store", one, "--workers", "3"}, probing)...)
	a := aggregate(t, one)
	n = len(a)

	nodes, address := sweeptest.Cluster(t)
	database := sweeptest.Postgres(t)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	// The moments are numbers of targets begun, so that something is under way at each.
	first, second, third := 2+random.IntN(n/3), 2+n/3+random.IntN(n/3), 2+random.IntN(2*n/3)
	gone := random.IntN(3)
	t.Logf("seed %d: workers end at targets %d and %d, node %d at %d", seed, first, second, gone, third)
	var w workers
	at := func(begun int) {
		if begun == first || begun == second {
			w.kill()
		}
		if begun == third {
			nodes[gone].Kill()
		}
	}
	for range 3 {
		w.start(m, address, at)
	}
	m.sweep(slices.Concat(source, []string{"--store", database, "--runs", two, "--queue", address, "--replicas", "3", "--elsewhere", "--silence", "5s"}, probing)...)
	if left := len(w.running); left != 1 {
		t.Errorf("%d workers are left", left)
	}
	m.judgedAgain(two)
	alike(t, a, aggregate(t, database), "cluster")
}

// The sweep of a cluster is killed at a random moment, and goes on where it was: each target
// has one result, that of a sweep in one process.
func TestAClustersSweepIsKilled(t *testing.T) {
	m, _ := swept(t)
	list := m.list(12)
	one, two := filepath.Join(m.dir, "one"), filepath.Join(m.dir, "two")
	m.sweep(slices.Concat([]string{"--registry", list, "--store", one, "--workers", "3"}, probing)...)
	_, address := sweeptest.Cluster(t)
	seed := uint64(time.Now().UnixNano())
	moment := 1 + rand.New(rand.NewPCG(seed, 0)).IntN(10)
	t.Logf("seed %d: the sweep ends at target %d", seed, moment)
	args := slices.Concat([]string{"--registry", list, "--store", two, "--queue", address, "--replicas", "3", "--elsewhere", "--silence", "5s"}, probing)
	ended := make(chan struct{})
	first := m.command(append([]string{"sweep"}, args...)...)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	var w workers
	for range 2 {
		w.start(m, address, func(begun int) {
			if begun == moment {
				_ = first.Process.Kill() // it is over where that fails, which the end shows
				close(ended)
			}
		})
	}
	<-ended
	if err := first.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Fatalf("the first sweep ended by itself: %v", err)
	}
	m.sweep(args...)
	alike(t, aggregate(t, one), aggregate(t, two), "killed")
}

// swept is the program, and how many targets are wished.
func swept(t *testing.T) (m *machine, n int) {
	t.Helper()
	n, _ = strconv.Atoi(os.Getenv("COALMINE_SWEEP"))
	if n == 0 {
		t.Skip("COALMINE_SWEEP says how many targets (make sweep-report)")
	}
	return &machine{t: t, program: filepath.Join(sandboxtest.ModuleRoot(t), "bin", "coalmine"), dir: t.TempDir()}, n
}

// except is what a says in a line that b does not say.
func except(a, b string) string {
	other := strings.Split(b, "\n")
	return strings.Join(slices.DeleteFunc(strings.Split(a, "\n"), func(line string) bool { return slices.Contains(other, line) }), "; ")
}

// alike compares the results of two sweeps by their targets.
func alike(t *testing.T, a, b map[string]string, what string) {
	t.Helper()
	same := 0
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if a[key] == b[key] {
			same++
			t.Logf("same   %s", key)
		} else {
			t.Logf("OTHER  %s: embedded %s, %s %s", key, except(a[key], b[key]), what, except(b[key], a[key]))
		}
	}
	t.Logf("%s: %d/%d", what, same, len(a))
	if same != len(a) || len(b) != len(a) {
		t.Errorf("%d of %d are the same, of %d results", same, len(a), len(b))
	}
}

// sweep runs a sweep to its end.
func (m *machine) sweep(args ...string) {
	m.t.Helper()
	start := time.Now()
	out, err := m.command(append([]string{"sweep"}, args...)...).CombinedOutput()
	m.t.Logf("%s%.1f s", out, time.Since(start).Seconds())
	if !bytes.Contains(out, []byte("jobs, ")) {
		m.t.Fatalf("the sweep fails: %v", err)
	}
}

// aggregate is, by target, all that the last sweep found of it, with the number of results.
func aggregate(t *testing.T, place string) map[string]string {
	t.Helper()
	s, err := store.Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sweeps, err := s.Sweeps(t.Context())
	if err != nil || len(sweeps) != 1 {
		t.Fatalf("%d sweeps, %v", len(sweeps), err)
	}
	list, err := s.Entries(t.Context(), sweeps[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range list {
		history, err := s.History(t.Context(), e.Key)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%d results, digest %s, %s %s, status %d, %q\n", len(history), e.Digest, e.How, e.Verdict, e.Status, e.Error)
		for _, f := range e.Findings {
			fmt.Fprintf(&b, "%s %s\n", f.Rule, f.Fingerprint)
		}
		out[e.Key] += b.String()
	}
	return out
}

// judgedAgain checks that a process of its own judges each kept run as its worker did, byte
// for byte.
func (m *machine) judgedAgain(dir string) {
	m.t.Helper()
	runs, err := filepath.Glob(filepath.Join(dir, "runs", "*", "*"))
	if err != nil || len(runs) == 0 {
		m.t.Fatalf("%d runs, %v", len(runs), err)
	}
	before := m.reports(runs)
	if out, err := m.command(append([]string{"judge"}, runs...)...).CombinedOutput(); err != nil && len(out) == 0 {
		m.t.Fatal(err)
	}
	for name, after := range m.reports(runs) {
		if !bytes.Equal(before[name], after) {
			m.t.Errorf("%s: judged again it is another", name)
		}
	}
}

// reports are those of some runs by their names.
func (m *machine) reports(runs []string) map[string][]byte {
	m.t.Helper()
	out := map[string][]byte{}
	for _, run := range runs {
		for _, file := range []string{report.FileJSON, report.FileSARIF, report.FileHTML} {
			name := filepath.Join(run, file)
			var err error
			if out[name], err = os.ReadFile(name); err != nil {
				m.t.Fatal(err)
			}
		}
	}
	return out
}
