//go:build linux && (amd64 || arm64) && e2e

package spy

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
)

// A message between two processes is taken once, and whole; other text is not, and neither
// is what this process writes.
func TestCollects(t *testing.T) {
	slots.Acquire(t, 1)
	message := `{"result":{"text":"` + strings.Repeat("x", 100<<10) + `"},"jsonrpc":"2.0","id":1}`
	file := t.TempDir() + "/message"
	if err := os.WriteFile(file, []byte(message+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, older := range []bool{false, true} {
		t.Run(fmt.Sprintf("older kernel %t", older), func(t *testing.T) {
			c, err := Open(Options{PIDs: []int{os.Getpid()}, Ring: 1 << 20, older: older})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			var got []string
			e := reassembly.New(reassembly.Options{Known: Known, Holder: Holder, Alive: Alive, Verdict: c.Judge, Emit: func(m *reassembly.Message) {
				got = append(got, fmt.Sprintf("%s>%s %t", m.From.Comm, m.To.Comm, string(m.Raw) == message))
			}})
			own := exec.Command("cat")
			own.Stdin = strings.NewReader(message + "\n") // through a pipe of this process's
			between := exec.Command("sh", "-c", `echo '{"id":1,"level":"info"}' | cat; cat "$0" | tail -c +1`, file)
			for _, cmd := range []*exec.Cmd{own, between} {
				if err := cmd.Run(); err != nil {
					t.Fatal(err)
				}
			}
			c.Stop()
			if err := c.Read(e.Take, e.Advance); err != nil {
				t.Fatal(err)
			}
			e.Close()
			if len(got) != 1 || got[0] != "cat>tail true" || len(c.Lost()) > 0 || e.Lost > 0 {
				t.Errorf("%q, lost %v and %d bytes", got, c.Lost(), e.Lost)
			}
		})
	}
}

// What is told of a process is what /proc says.
func TestKnown(t *testing.T) {
	p := reassembly.Process{PID: os.Getpid(), UID: os.Getuid()}
	Known(&p)
	if len(p.Command) == 0 || p.Parent != os.Getppid() || p.User == "" || !Alive(p.PID) {
		t.Errorf("%+v", p)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("sleep", "10")
	cmd.Stdin = r
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		w.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	to, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", r.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if deadline := time.Now().Add(10 * time.Second); !holds(cmd.Process.Pid, to, true) && time.Now().After(deadline) {
		t.Error("the reader of a pipe is not found")
	}
	if holds(cmd.Process.Pid, to, false) {
		t.Error("the reader of a pipe can write to it")
	}
}
