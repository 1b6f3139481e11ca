//go:build linux && e2e

package client

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
)

// need skips the test for want of a thing, unless COALMINE_REQUIRE names it.
func need(t *testing.T, thing, missing string) {
	t.Helper()
	if missing == "" {
		return
	}
	for required := range strings.SplitSeq(os.Getenv("COALMINE_REQUIRE"), ",") {
		if required == thing {
			t.Fatalf("%s is required here, but: %s", thing, missing)
		}
	}
	t.Skipf("needs %s: %s", thing, missing)
}

// isolated gives a command a user, a network and a pid namespace of its own,
// so that no fixture reaches anything.
func isolated(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	cmd.Env = []string{"HOME=/home/nobody-here", "LANG=C.UTF-8"}
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// startServer connects a client to a process.
func startServer(t *testing.T, opts Options, cmd *exec.Cmd) *Client {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := New(func(line []byte) error {
		_, err := in.Write(append(line[:len(line):len(line)], '\n'))
		return err
	}, opts)
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		lines := wire.NewSplitter(0)
		buf := make([]byte, 64<<10)
		for {
			n, err := out.Read(buf)
			lines.Feed(buf[:n], func(l wire.Line) { c.Feed(l.Raw) })
			if err != nil {
				lines.Flush(func(l wire.Line) { c.Feed(l.Raw) })
				c.Closed(err)
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-fed
		_ = cmd.Wait()
	})
	return c
}

func fixtures(t *testing.T) (build func(name string) string, dir string) {
	t.Helper()
	dir, err := filepath.Abs("../../../testdata/servers")
	if err != nil {
		t.Fatal(err)
	}
	missing := ""
	if err := isolated("/bin/true").Run(); err != nil {
		missing = err.Error()
	}
	need(t, "userns", missing)
	bin := t.TempDir()
	return func(name string) string {
		path := filepath.Join(bin, name)
		cmd := exec.Command("go", "build", "-o", path, filepath.Join(dir, name))
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
		return path
	}, dir
}

func TestTwins(t *testing.T) {
	slots.Acquire(t, 1)
	build, dir := fixtures(t)
	var first string
	for _, twin := range []string{"honest", "leaky"} {
		for _, tc := range []struct {
			name, program string
			args          []string
		}{
			{"go", build(twin), nil},
			{"python", "python3", []string{filepath.Join(dir, twin, twin+".py")}},
			{"node", "node", []string{filepath.Join(dir, twin, twin+".mjs")}},
		} {
			t.Run(twin+"/"+tc.name, func(t *testing.T) {
				program, err := exec.LookPath(tc.program)
				if err != nil {
					need(t, tc.name, err.Error())
				}
				cmd := isolated(program, tc.args...)
				cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"))
				c := startServer(t, Options{}, cmd)
				s, err := c.Connect(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if err := c.List(t.Context(), s); err != nil || len(s.Tools) != 1 || s.Tools[0].Name != "format_note" {
					t.Fatalf("%v, %+v", err, s)
				}
				if first == "" {
					first = string(s.Tools[0].Raw)
				}
				if string(s.Tools[0].Raw) != first {
					t.Errorf("declares %s\nthe first declared %s", s.Tools[0].Raw, first)
				}
				r, err := c.CallTool(t.Context(), "format_note", []byte(`{"text":"a  \n\n"}`))
				if err != nil || r.IsError || !strings.Contains(string(r.Raw), `"a\n"`) {
					t.Errorf("%s %+v %v", r.Raw, r.Err, err)
				}
				if kinds(c) != "" {
					t.Errorf("notices: %+v", c.Notices())
				}
			})
		}
	}
}

func TestHostileServers(t *testing.T) {
	slots.Acquire(t, 1)
	build, _ := fixtures(t)
	binary := build("hostile")
	for mode, tc := range map[string]struct {
		tools int
		// connect and call are what the handshake and a call fail with.
		connect, call error
		// notices are kinds that must be there.
		notices []Kind
	}{
		"exit-early":          {connect: ErrClosed},
		"never-answers":       {connect: ErrTimeout, notices: []Kind{Handshake}},
		"banner":              {tools: 1, notices: []Kind{BadLine}},
		"garbage":             {tools: 1, call: ErrTimeout, notices: []Kind{BadLine}},
		"half-line":           {tools: 1, call: ErrClosed, notices: []Kind{BadLine}},
		"huge-line":           {tools: 1, call: ErrTimeout, notices: []Kind{BadLine}},
		"unknown-id":          {tools: 1, notices: []Kind{UnknownID}},
		"same-id-twice":       {tools: 1, notices: []Kind{DuplicateID}},
		"mute-after-list":     {tools: 1, call: ErrTimeout},
		"close-stdout":        {tools: 1, call: ErrClosed},
		"crash-on-call":       {tools: 1, call: ErrClosed},
		"zero-tools":          {},
		"five-thousand-tools": {tools: 5000},
		"cyclic-ref":          {tools: 3},
		"evil-names":          {tools: 1},
	} {
		t.Run(mode, func(t *testing.T) {
			noLeaks(t)
			opts := patient
			if errors.Is(tc.connect, ErrTimeout) {
				opts = Options{HandshakeTimeout: 2 * time.Second, DiscoverTimeout: 500 * time.Millisecond}
			}
			if errors.Is(tc.call, ErrTimeout) {
				opts.CallTimeout = 3 * time.Second
			}
			if mode == "huge-line" {
				opts.CallTimeout = 15 * time.Second // a busy machine takes its time to read it
			}
			c := startServer(t, opts, isolated(binary, mode))
			s, err := c.Connect(t.Context())
			if !errors.Is(err, tc.connect) {
				t.Fatalf("Connect: %v", err)
			}
			if err == nil {
				if err := c.List(t.Context(), s); err != nil || len(s.Tools) != tc.tools {
					t.Fatalf("List: %v, %d tools", err, len(s.Tools))
				}
				for i := 0; i < min(len(s.Tools), 3) && err == nil; i++ {
					_, err = c.CallTool(t.Context(), s.Tools[i].Name, nil)
				}
				if !errors.Is(err, tc.call) || tc.call == nil && err != nil {
					t.Errorf("CallTool: %v", err)
				}
			}
			for _, kind := range tc.notices {
				if c.Counters().Notices[kind] == 0 {
					t.Errorf("no %s: %+v", kind, c.Notices())
				}
			}
			if errors.Is(err, ErrClosed) && mode != "exit-early" && !errors.Is(err, io.EOF) && !errors.Is(err, syscall.EPIPE) {
				t.Errorf("closed without a reason: %v", err)
			}
		})
	}
}
