//go:build e2e

package tui

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// terminal is coalmine tui in a tmux of its own.
type terminal struct {
	t      *testing.T
	socket string
}

func (m *terminal) tmux(args ...string) string {
	m.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", m.socket, "-f", os.DevNull}, args...)...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// screen is what the terminal shows.
func (m *terminal) screen() string {
	return trimmed(strings.Split(strings.TrimSuffix(m.tmux("capture-pane", "-p"), "\n"), "\n"))
}

// becomes waits for a screen, and returns the last one that it saw, and when the first line of
// its body was there.
func (m *terminal) becomes(want string) (last string, first time.Duration) {
	began := time.Now()
	body := strings.SplitN(want, "\n", rowsAbove+2)[rowsAbove]
	for time.Since(began) < 20*time.Second {
		last = m.screen()
		if first == 0 && strings.Contains(last, "\n"+body+"\n") {
			first = time.Since(began)
		}
		if last == want {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return last, first
}

// tmuxKeys are tmux's names of the keys of a script.
var tmuxKeys = map[string]string{"enter": "Enter", "esc": "Escape", "down": "Down", "up": "Up", "tab": "Tab", "left": "Left", "right": "Right"}

// keys types a step of a script. Nothing follows esc in one: it would be taken for a part of it. A word behind a word that is typed follows a space.
func (m *terminal) keys(step string) {
	typing, typed := false, false
	for _, word := range strings.Fields(step) {
		if name, ok := tmuxKeys[word]; ok {
			m.tmux("send-keys", name)
			typing, typed = false, false
			continue
		}
		if typed {
			m.tmux("send-keys", "Space")
		}
		m.tmux("send-keys", "-l", word)
		typed = typing
		typing = typing || word == "f" || word == "/"
	}
}

// TestTerminal plays the scripts in a real terminal, and compares the screens with those that the
// model is held to. A last line counts them. Where COALMINE_TUI is set it plays all at three sizes,
// elsewhere those on small logs at one.
func TestTerminal(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	dir := fixtures(t)
	program := sandboxtest.Build(t, "./cmd/coalmine")
	whole := os.Getenv("COALMINE_TUI") != ""
	sizes := sizes
	if !whole {
		sizes = sizes[:1]
	}
	for _, s := range scripts {
		if s.big && !whole {
			continue
		}
		path := filepath.Join(dir, s.on)
		if s.big {
			path = filepath.Join(t.TempDir(), s.on)
			writeLog(t, path, millionLog)
		}
		for _, size := range sizes {
			m := openTerminal(t, program, path, size)
			ok := 0
			var first time.Duration
			kept := readKept(t, s.kept(size), s.steps)
			for i, step := range s.steps {
				m.keys(step)
				got, took := m.becomes(kept[i])
				if i == 0 {
					first = took
				}
				played.all++
				if got == kept[i] {
					ok++
				} else {
					played.all += len(s.steps) - i - 1 // what follows is of no use
					t.Errorf("%s at %dx%d, keys %q (-kept +terminal):\n%s", s.name, size[0], size[1], step, cmp.Diff(kept[i], got))
					break
				}
			}
			played.same += ok
			fmt.Printf("tui %s at %dx%d: %d/%d screens, the first after %d ms, %s\n", s.name, size[0], size[1], ok, len(s.steps), first.Milliseconds(), m.memory())
			m.tmux("kill-server")
		}
	}
	fmt.Printf("tui: %d/%d\n", played.same, played.all)
}

// memory is the most that the program took.
func (m *terminal) memory() string {
	data, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(m.tmux("list-panes", "-F", "#{pane_pid}")), "status"))
	if err != nil {
		return "memory unknown"
	}
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			return "memory " + strings.Join(strings.Fields(string(rest)), " ")
		}
	}
	return "memory unknown"
}
