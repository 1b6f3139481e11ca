//go:build e2e

package tui

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// played counts the screens of all tests in a terminal, and those that were as they are kept.
var played struct{ same, all int }

// open shows something in a terminal of a size.
func openTerminal(t *testing.T, program, path string, size [2]int) *terminal {
	t.Helper()
	m := &terminal{t: t, socket: filepath.Join(t.TempDir(), "s")}
	m.tmux("new-session", "-d", "-x", fmt.Sprint(size[0]), "-y", fmt.Sprint(size[1]), "-c", filepath.Dir(path),
		"env", "LC_ALL=C.UTF-8", "TERM=screen-256color", program, "tui", path, ";", "set", "-g", "status", "off")
	return m
}

// until waits for a screen that is right, and returns the last one that it saw.
func (m *terminal) until(right func(screen string) bool) (last string, ok bool) {
	for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(20 * time.Millisecond) {
		if last = m.screen(); right(last) {
			return last, true
		}
	}
	return last, false
}

// shows waits for texts on the screen.
func (m *terminal) shows(texts ...string) string {
	m.t.Helper()
	last, ok := m.until(func(s string) bool {
		for _, text := range texts {
			if !strings.Contains(s, text) {
				return false
			}
		}
		return true
	})
	if !ok {
		m.t.Fatalf("not on the screen: %q\n%s", texts, last)
	}
	return last
}

// gated is a gate that asks, with the client's side of it.
type gated struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	mu   sync.Mutex
	came map[int]string
	news chan struct{}
}

func startGate(t *testing.T, program, socket string) *gated {
	t.Helper()
	server := sandboxtest.Build(t, "./testdata/servers/honest")
	g := &gated{t: t, came: map[int]string{}, news: make(chan struct{}, 1)}
	g.cmd = exec.Command(program, "gate", "--ask", socket, "--ask-time", "900s", "--log-dir", t.TempDir(), "--", server)
	g.cmd.Stderr = os.Stderr
	in, err := g.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := g.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	g.in = in
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var m struct{ ID int }
			if json.Unmarshal(lines.Bytes(), &m) == nil && m.ID > 0 {
				g.mu.Lock()
				g.came[m.ID] = lines.Text()
				g.mu.Unlock()
				select {
				case g.news <- struct{}{}:
				default:
				}
			}
		}
	}()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if info, err := os.Stat(socket); err == nil && info.Mode().Perm() == 0o600 {
			return g
		}
		if time.Since(began) > 20*time.Second {
			t.Fatal("the gate opens no socket")
		}
	}
}

func (g *gated) says(message string) {
	g.t.Helper()
	if _, err := io.WriteString(g.in, message+"\n"); err != nil {
		g.t.Fatal(err)
	}
}

func (g *gated) calls(id int, tool string) {
	g.t.Helper()
	g.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":{"text":"hi"}}}`, id, tool))
}

// answer waits for the answer to a request.
func (g *gated) answer(id int) string {
	g.t.Helper()
	for over := time.After(20 * time.Second); ; {
		g.mu.Lock()
		line, ok := g.came[id]
		g.mu.Unlock()
		if ok {
			return line
		}
		select {
		case <-g.news:
		case <-over:
			g.t.Fatalf("request %d has no answer", id)
		}
	}
}

func (g *gated) begins() {
	g.says(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	g.answer(1)
	g.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	g.says(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	g.answer(2)
	g.calls(3, "format_note")
	g.answer(3)
}

// The clock and the seconds that are left are other ones in each run.
var (
	clockWord = regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`)
	leftWord  = regexp.MustCompile(`held, \d{3} s`)
)

func steady(screen string) string {
	return leftWord.ReplaceAllString(clockWord.ReplaceAllString(screen, "00:00:00"), "held, 000 s")
}

// gateStep is something that a client or a person does, a text that the screen has then, and one
// that it has no more, "" for none.
type gateStep struct {
	does       string
	do         func()
	then, gone string
}

func gateSteps(m *terminal, g *gated) []gateStep {
	keys := func(step string) func() { return func() { m.keys(step) } }
	return []gateStep{
		{"nobody calls", func() {}, "waiting for calls", ""},
		{"the client calls a tool that is declared", g.begins, "let through", ""},
		{"the client calls one that is not", func() { g.calls(4, "remove") }, "? held", ""},
		{"keys: tab o", keys("tab o"), "allowed once", "? held"},
		{"the client calls it again", func() { g.answer(4); g.calls(5, "remove") }, "? held", ""},
		{"keys: tab s", keys("tab s"), "allowed for", "? held"},
		{"the client calls it once more, and another one", func() { g.answer(5); g.calls(6, "remove"); g.answer(6); g.calls(7, "drop") }, "? held", ""},
		{"keys: enter", keys("enter"), `"text"`, "allowed"},
		{"keys: enter tab d", keys("enter tab d"), "denied", "? held"},
		{"the session is over", func() {
			g.answer(7)
			if err := g.in.Close(); err != nil {
				g.t.Error(err)
			}
			if err := g.cmd.Wait(); err != nil {
				g.t.Error(err)
			}
		}, "the gate has ended", ""},
	}
}

// TestTerminalGate plays what a client calls and a person decides in a real terminal, and
// compares the gate's live screen with the kept ones.
func TestTerminalGate(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	program := sandboxtest.Build(t, "./cmd/coalmine")
	for i, size := range sizes {
		if i > 0 && os.Getenv("COALMINE_TUI") == "" {
			break
		}
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a directory needs the bit
			t.Fatal(err)
		}
		g := startGate(t, program, filepath.Join(dir, "ask"))
		m := openTerminal(t, program, filepath.Join(dir, "ask"), size)
		steps := gateSteps(m, g)
		file := (&script{name: "gate"}).kept(size)
		var does, got []string
		for _, s := range steps {
			s.do()
			screen, ok := m.until(func(screen string) bool {
				return strings.Contains(screen, s.then) && (s.gone == "" || !strings.Contains(screen, s.gone)) && settled(m, screen)
			})
			if !ok {
				t.Fatalf("%s: %q is not on the screen:\n%s", s.does, s.then, screen)
			}
			does, got = append(does, s.does), append(got, steady(screen))
		}
		for id, from := range map[int]string{4: "server", 5: "server", 6: "server", 7: "gate"} {
			if is := strings.Contains(g.answer(id), "coalmine"); is != (from == "gate") {
				t.Errorf("the answer to call %d is not the %s's: %s", id, from, g.answer(id))
			}
		}
		compareScreens(t, file, does, got)
		fmt.Printf("tui gate at %dx%d: %d screens\n", size[0], size[1], len(got))
		m.tmux("kill-server")
	}
}

// settled reports whether the screen stays as it is, but for the seconds.
func settled(m *terminal, screen string) bool {
	time.Sleep(100 * time.Millisecond)
	return steady(m.screen()) == steady(screen)
}

// compareScreens compares screens with those of a file, and counts them.
func compareScreens(t *testing.T, file string, steps, got []string) {
	t.Helper()
	if *update {
		var b strings.Builder
		for i, step := range steps {
			b.WriteString("---- " + step + "\n" + got[i])
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kept := strings.Split(strings.TrimPrefix(string(data), "---- "), "\n---- ")
	played.all += len(steps)
	if len(kept) != len(steps) {
		t.Errorf("%s has %d screens, not %d: -update writes it anew", file, len(kept), len(steps))
		return
	}
	for i, step := range steps {
		want := strings.TrimSuffix(kept[i], "\n")
		if diff := cmp.Diff(want, step+"\n"+strings.TrimSuffix(got[i], "\n")); diff != "" {
			t.Errorf("%s, %s (-kept +terminal):\n%s", file, step, diff)
			continue
		}
		played.same++
	}
}

// TestTerminalGrows: what comes while somebody looks appears: a session in the list, and frames
// in a session.
func TestTerminalGrows(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	program := sandboxtest.Build(t, "./cmd/coalmine")
	for i, size := range sizes {
		if i > 0 && os.Getenv("COALMINE_TUI") == "" {
			break
		}
		played.all++
		grows(t, program, size)
		played.same++
	}
}

func grows(t *testing.T, program string, size [2]int) {
	dir := fixtures(t)
	m := openTerminal(t, program, dir, size)
	defer m.tmux("kill-server")
	m.shows("weather", "leaky", "1 of 3") // names are cut on a narrow one
	f, err := os.Create(filepath.Join(dir, "new.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := &logWriter{w: f}
	l.hello()
	m.shows("new.", "of 4")
	m.keys("g enter")
	m.shows("new.", "1 of 3")
	l.call(1, "forecast", `{}`, textResult("sunny", false))
	m.shows("of 5", "call fore")
	m.keys("esc")
	if err := os.Remove(filepath.Join(dir, "hostile.jsonl")); err != nil {
		t.Fatal(err)
	}
	if last := m.shows("of 3"); strings.Contains(last, "hostile") {
		t.Errorf("what is gone is listed:\n%s", last)
	}
	fmt.Printf("tui growing at %dx%d\n", size[0], size[1])
}
