//go:build linux && e2e

package synth

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// pipeSession speaks to a server over plain pipes, in an empty network namespace.
type pipeSession struct {
	*client.Client
	first wire.Surface
}

func (s pipeSession) Relist(ctx context.Context) (*wire.Surface, error) {
	out := s.first
	out.Tools, out.Resources, out.Templates, out.Prompts = nil, nil, nil, nil
	return &out, s.List(ctx, &out)
}

func (pipeSession) Sync(context.Context) error { return nil }

// startServer starts a command without network and with a HOME of its own.
func startServer(t *testing.T, home string, command ...string) (pipeSession, *wire.Surface) {
	t.Helper()
	cmd := exec.Command("unshare", append([]string{"-n"}, command...)...)
	cmd.Env = []string{"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "USER=sam"}
	cmd.Dir = home
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	outPipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := client.New(func(line []byte) error {
		_, err := in.Write(append(append([]byte{}, line...), '\n'))
		return err
	}, client.Options{DiscoverTimeout: 2 * time.Second, CallTimeout: 20 * time.Second})
	var wg sync.WaitGroup
	wg.Go(func() {
		r := bufio.NewReaderSize(outPipe, 1<<20)
		for {
			line, err := r.ReadBytes('\n')
			if len(line) > 0 {
				c.Feed(line)
			}
			if err != nil {
				c.Closed(io.EOF)
				return
			}
		}
	})
	t.Cleanup(func() {
		in.Close()
		timer := time.AfterFunc(3*time.Second, func() { cmd.Process.Kill() })
		wg.Wait()
		cmd.Wait()
		timer.Stop()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	s, err := c.Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.List(ctx, s); err != nil {
		t.Fatal(err)
	}
	return pipeSession{c, *s}, s
}

// realServers are the public servers on which every tool is to succeed once,
// but for those named, which cannot here: fetch has no network.
var realServers = []struct {
	name    string
	command []string
	cannot  []string
}{
	{"everything", []string{"node", "node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"}, nil},
	{"filesystem", []string{"node", "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", "WORK"}, nil},
	{"memory", []string{"node", "node_modules/@modelcontextprotocol/server-memory/dist/index.js"}, nil},
	{"sequential-thinking", []string{"node", "node_modules/@modelcontextprotocol/server-sequential-thinking/dist/index.js"}, nil},
	{"time", []string{"py/bin/python", "-m", "mcp_server_time"}, nil},
	{"fetch", []string{"py/bin/python", "-m", "mcp_server_fetch", "--ignore-robots-txt"}, []string{"fetch"}},
	{"git", []string{"py/bin/python", "-m", "mcp_server_git"}, nil},
}

// TestRealServers drives servers that were installed beforehand below the
// directory that SYNTH_SERVERS names (node_modules and a Python environment py).
func TestRealServers(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	dir := os.Getenv("SYNTH_SERVERS")
	if dir == "" {
		t.Skip("SYNTH_SERVERS does not name a directory with installed servers")
	}
	for _, s := range realServers {
		t.Run(s.name, func(t *testing.T) {
			home := t.TempDir()
			work := filepath.Join(home, "work")
			plant(t, work)
			command := make([]string, len(s.command))
			for i, w := range s.command {
				switch {
				case w == "WORK":
					w = work
				case strings.Contains(w, "/"):
					w = filepath.Join(dir, w)
				}
				command[i] = w
			}
			session, surface := startServer(t, home, command...)
			seed, err := strconv.ParseInt(cmp.Or(os.Getenv("SYNTH_SEED"), "1"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Drive(t.Context(), Config{Session: session, Surface: surface, Seed: seed, Hints: WorkspaceHints(work, seed, noFile), CallTimeout: 20 * time.Second,
				OnReturn: func(c Call, o Outcome, r client.Result) {
					if o != OK && testing.Verbose() {
						t.Logf("%d %s %s %s %s: %s %.200s %v", c.N, c.What, c.Tool, c.Class, c.Args, o, r.Raw, r.Err)
					}
				}})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range append(append(r.Tools, r.Resources...), r.Prompts...) {
				b, _ := json.Marshal(c)
				switch {
				case c.OK > 0:
					t.Logf("%s", b)
				case strings.Contains(" "+strings.Join(s.cannot, " ")+" ", " "+c.Name+" "):
					t.Logf("cannot succeed here: %s", b)
				default:
					t.Errorf("never succeeded: %s", b)
				}
			}
			t.Logf("calls %d in %v, unreached %v, shortfalls %v, changes %v", r.Calls, r.Elapsed, r.Unreached, r.Shortfalls, r.Changes)
		})
	}
}
