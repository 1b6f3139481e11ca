//go:build linux && e2e

package servers

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// hostile starts the server in namespaces of its own, where its guard lets it run.
func hostile(t *testing.T, binary, mode string) *session {
	t.Helper()
	cmd := isolated(exec.Command(binary, mode))
	cmd.Env = []string{"HOME=/home/nobody-here", "LANG=C.UTF-8"}
	cmd.Stderr = io.Discard
	return start(t, cmd)
}

// wait is the server's exit status.
func (s *session) wait() int {
	s.t.Helper()
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return s.cmd.ProcessState.ExitCode()
}

// Outside a sandbox nothing dangerous even starts to serve.
func TestGuard(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	binary := build(t, "hostile")
	for _, mode := range []string{"forks", "fill-memory", "fill-disk", "delete-home", "daemon", "escape"} {
		var stderr strings.Builder
		cmd := exec.Command(binary, mode)
		cmd.Env = []string{"HOME=" + t.TempDir()}
		cmd.Stderr = &stderr
		_ = cmd.Run()
		if cmd.ProcessState.ExitCode() != 4 || !strings.Contains(stderr.String(), "sandbox only") {
			t.Errorf("%s: status %d, %q", mode, cmd.ProcessState.ExitCode(), stderr.String())
		}
	}
}

// misbehaviours say what each mode is sure to do.
var misbehaviours = map[string]func(t *testing.T, s *session){
	"exit-early": func(t *testing.T, s *session) {
		if status := s.wait(); status != 3 {
			t.Errorf("status %d", status)
		}
	},
	"banner": func(t *testing.T, s *session) {
		if line := s.line(); line != "worker 1.0.0" {
			t.Errorf("the first line is %q", line)
		}
		works(t, s)
	},
	"garbage": func(t *testing.T, s *session) {
		s.send("tools/call", map[string]any{"name": "work"})
		works(t, s)
	},
	"half-line": func(t *testing.T, s *session) {
		s.send("tools/call", map[string]any{"name": "work"})
		if half, err := s.out.ReadString('\n'); err != io.EOF || half == "" {
			t.Errorf("%q, %v", half, err)
		}
	},
	"huge-line": func(t *testing.T, s *session) {
		s.send("tools/call", map[string]any{"name": "work"})
		if line := s.line(); len(line) < 100<<20 {
			t.Errorf("%d bytes", len(line))
		}
	},
	"unknown-id": func(t *testing.T, s *session) {
		s.send("tools/list", map[string]any{})
		if line := s.line(); !strings.Contains(line, `"id":987654321`) {
			t.Error(line)
		}
		works(t, s)
	},
	"same-id-twice": func(t *testing.T, s *session) {
		s.send("tools/list", map[string]any{})
		if a, b := s.line(), s.line(); a != b {
			t.Errorf("%s and %s", a, b)
		}
		works(t, s)
	},
	"never-answers": func(t *testing.T, s *session) {
		s.send("initialize", map[string]any{})
		silent(t, s)
	},
	"mute-after-list": func(t *testing.T, s *session) {
		s.send("tools/list", map[string]any{})
		_ = s.line()
		s.send("tools/call", map[string]any{"name": "work"})
		silent(t, s)
	},
	"ignores-eof": func(t *testing.T, s *session) {
		works(t, s)
		staysOn(t, s)
	},
	"close-stdout": func(t *testing.T, s *session) {
		s.send("tools/call", map[string]any{"name": "work"})
		silent(t, s)
		staysOn(t, s)
	},
	"fill-stdout": func(t *testing.T, s *session) {
		s.send("tools/call", map[string]any{"name": "work"})
		if n, _ := io.CopyN(io.Discard, s.out, 64<<20); n != 64<<20 {
			t.Errorf("%d bytes", n)
		}
	},
	"fill-stderr": func(t *testing.T, s *session) {
		if text := s.text("work", nil); !strings.HasSuffix(text, " bytes") {
			t.Error(text)
		}
	},
	"daemon": func(t *testing.T, s *session) {
		if text := s.text("work", nil); !strings.HasPrefix(text, "pid ") {
			t.Error(text)
		}
	},
	"zero-tools":          func(t *testing.T, s *session) { count(t, s, 0) },
	"five-thousand-tools": func(t *testing.T, s *session) { count(t, s, 5000) },
	"cyclic-ref":          func(t *testing.T, s *session) { count(t, s, 3) },
	"evil-names": func(t *testing.T, s *session) {
		s.send("tools/list", map[string]any{})
		for _, want := range []string{`\u001b`, "\u202e", "::set-output", "\U000e0041", `\u0007`} {
			if line := s.line(); !strings.Contains(line, want) {
				t.Errorf("no %q in %s", want, line)
			}
			s.send("tools/list", map[string]any{})
		}
	},
	"crash-on-call": func(t *testing.T, s *session) {
		s.send("tools/call", map[string]any{"name": "work"})
		if status := s.wait(); status != 2 {
			t.Errorf("status %d", status)
		}
	},
	"get-env": func(t *testing.T, s *session) {
		if text := s.text("get-env", nil); !strings.Contains(text, "HOME=/home/nobody-here") {
			t.Error(text)
		}
	},
	"syscalls": func(t *testing.T, s *session) {
		if text := s.text("work", nil); text != "600000 calls" {
			t.Error(text)
		}
	},
	"escape": func(t *testing.T, s *session) {
		told := map[string]string{}
		if err := json.Unmarshal([]byte(s.text("escape", nil)), &told); err != nil {
			t.Fatal(err)
		}
		for _, attempt := range []string{"route-netlink", "route-ioctl", "mount", "setuid-0", "setgid-0", "raw-socket", "chroot", "mknod", "hold-CapEff"} {
			if !strings.HasPrefix(told[attempt], "denied: ") {
				t.Errorf("%s: %q", attempt, told[attempt])
			}
		}
		for attempt, end := range told {
			if end != "SUCCEEDED" && !strings.HasPrefix(end, "denied: ") {
				t.Errorf("%s: %q", attempt, end)
			}
		}
	},
	"tells": func(t *testing.T, s *session) {
		s.send("initialize", map[string]any{"clientInfo": map[string]string{"name": "a Coalmine client"}})
		_ = s.line()
		var told struct {
			Looked int
			Found  []struct{ Word, Where string }
		}
		if err := json.Unmarshal([]byte(s.text("tells", nil)), &told); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range told.Found {
			found = found || f.Word == "coalmine" && f.Where == "clientInfo"
		}
		if !found || told.Looked < 20 {
			t.Errorf("looked at %d texts, found %v", told.Looked, told.Found)
		}
	},
}

func TestHostile(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	needNamespaces(t)
	binary := build(t, "hostile")
	for mode, check := range misbehaviours {
		t.Run(mode, func(t *testing.T) { check(t, hostile(t, binary, mode)) })
	}
}

// works checks that the server answers a call.
func works(t *testing.T, s *session) {
	t.Helper()
	if text := s.text("work", nil); text != "done" {
		t.Errorf("the call returned %q", text)
	}
}

// silent closes stdin and checks that nothing comes until stdout ends.
func silent(t *testing.T, s *session) {
	t.Helper()
	_ = s.in.Close()
	if rest, err := io.ReadAll(s.out); len(rest) > 0 || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
}

// staysOn checks that the server outlives its stdin.
func staysOn(t *testing.T, s *session) {
	t.Helper()
	_ = s.in.Close()
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	select {
	case err := <-ended:
		t.Errorf("it ended: %v", err)
	case <-time.After(300 * time.Millisecond):
		_ = s.cmd.Process.Kill()
		<-ended
	}
}

// count reads all pages of the list.
func count(t *testing.T, s *session, want int) {
	t.Helper()
	total, params := 0, map[string]any{}
	for {
		s.send("tools/list", params)
		var reply struct {
			Result struct {
				Tools      []json.RawMessage
				NextCursor string
			}
		}
		if err := json.Unmarshal([]byte(s.line()), &reply); err != nil {
			t.Fatal(err)
		}
		total += len(reply.Result.Tools)
		if reply.Result.NextCursor == "" {
			break
		}
		params["cursor"] = reply.Result.NextCursor
	}
	if total != want {
		t.Errorf("%d tools", total)
	}
}

// jail runs a command as an ordinary user with small file systems for HOME and
// /tmp, no network, at most 400 tasks and, where memory is filled, 800 MB of address space.
const jail = `set -e
mount -t tmpfs -o size=16m,mode=0755 none /home
cp "$1" /home/hostile
mkdir /home/kim
touch /home/kim/notes
mount -t tmpfs -o size=4m,mode=1777 none /tmp
cd /
echo 400 > /proc/sys/kernel/pid_max || exit 77
[ "$2" != fill-memory ] || ulimit -v 800000
export HOME=/home/kim
exec unshare --user --map-user=1000 --map-group=1000 /home/hostile "$2"`

// What fills and deletes does so, in a jail.
func TestHostileInJail(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	needNamespaces(t)
	unshare := need(t, "unshare")
	binary := build(t, "hostile")
	for mode, want := range map[string]string{
		"fill-disk":   "no space left on device",
		"delete-home": `"text":"deleted"`,
		"fill-memory": "",
		"forks":       "resource temporarily unavailable",
	} {
		t.Run(mode, func(t *testing.T) {
			cmd := exec.Command(unshare, "--user", "--map-root-user", "--net", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc", "sh", "-c", jail, "sh", binary, mode)
			cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":{}}}` + "\n")
			cmd.WaitDelay = 50 * time.Second
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 77 {
				t.Skip("this kernel has no pid_max of a namespace")
			}
			if err != nil && mode != "fill-memory" || !strings.Contains(string(out), want) {
				t.Errorf("%v\n%.2000s", err, out)
			}
			if mode == "fill-memory" && !strings.Contains(string(out), "out of memory") {
				t.Errorf("it did not run out of memory: %v\n%.2000s", err, out)
			}
		})
	}
}
