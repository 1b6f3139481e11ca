//go:build linux && e2e

package wiretap

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// The wire report compares what real clients get of real servers with and
// without the tap and the gate. "make wire-report" runs all of it, an ordinary
// test run the Go SDK's client.

// path is where the server answers on a transport.
var path = map[string]string{"sse": "/sse", "http": "/mcp"}

// client is one that is driven: what runs it on a transport and a target.
type driven struct {
	name string
	run  func(t *testing.T, kind string, target []string) string
}

// output runs a program and returns its stdout.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return fmt.Sprintf("%s%v: %s", out, err, errs.String())
	}
	return string(out)
}

func clients() []driven {
	npm := sandboxtest.Cache("servers/current/npm/node_modules/@modelcontextprotocol/sdk")
	return []driven{
		{"go", goClient},
		{"typescript", func(t *testing.T, kind string, target []string) string {
			return output(t, "node", append([]string{"testdata/client.mjs", npm, kind}, target...)...)
		}},
		{"python", func(t *testing.T, kind string, target []string) string {
			return output(t, sandboxtest.Cache("servers/current/py/bin/python"), append([]string{"testdata/client.py", kind}, target...)...)
		}},
		{"inspector", inspector},
	}
}

func inspector(t *testing.T, kind string, target []string) string {
	bin := sandboxtest.Cache("clients/current/node_modules/.bin/mcp-inspector")
	args := append([]string{"--cli"}, target...)
	if kind != "stdio" {
		args = append(args, "--transport", kind)
	}
	out := ""
	for _, more := range [][]string{{"--method", "tools/list"}, {"--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=hi"}, {"--method", "prompts/list"}} {
		out += output(t, bin, append(slices.Clone(args), more...)...)
	}
	return out
}

func goClient(t *testing.T, kind string, target []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var transport mcp.Transport
	switch kind {
	case "stdio":
		transport = &mcp.CommandTransport{Command: exec.Command(target[0], target[1:]...), TerminateDuration: 100 * time.Millisecond}
	case "sse":
		transport = &mcp.SSEClientTransport{Endpoint: target[0]}
	default:
		transport = &mcp.StreamableClientTransport{Endpoint: target[0]}
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		return err.Error()
	}
	defer s.Close()
	var out []string
	say := func(v any, err error) {
		line, _ := json.Marshal(v)
		out = append(out, fmt.Sprintf("%s %v", line, err))
	}
	say(s.InitializeResult(), nil)
	tools, err := s.ListTools(ctx, nil)
	say(tools, err)
	for name, args := range map[string]any{"echo": map[string]any{"message": "grüße \u2028"}, "get-sum": map[string]any{"a": 1, "b": 2}} {
		r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
		say(r, err)
	}
	prompts, err := s.ListPrompts(ctx, nil)
	say(prompts, err)
	_, err = s.GetPrompt(ctx, &mcp.GetPromptParams{Name: "no-such-prompt"})
	say(nil, err)
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// freePort is a port that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// serve starts the reference server on HTTP and returns its URL.
func serve(t *testing.T, kind string) string {
	t.Helper()
	port := freePort(t)
	command := sandboxtest.Everything(kind)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "PORT="+port)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	deadline := time.Now().Add(30 * time.Second)
	for {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			c.Close()
			return "http://127.0.0.1:" + port + path[kind]
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// front puts a proxy in front of a URL and returns the URL to use instead.
func front(t *testing.T, at string, g *gate.Gate) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	o := LogOptions{Dir: t.TempDir(), Say: func(line string) { t.Error(line) }}
	go func() {
		ended <- HTTP(ctx, HTTPOptions{URL: at, Gate: g, Ready: func(local string) { ready <- local }}, o)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case local := <-ready:
		return local
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	}
	return ""
}

// between is the reference server on stdio behind a program, with what crosses
// before and behind that program in files.
func between(dir string, program ...string) []string {
	quoted := func(words []string) string {
		var out []string
		for _, w := range words {
			out = append(out, "'"+w+"'")
		}
		return strings.Join(out, " ")
	}
	// The server does not end with its input, but by a signal, which a shell does not pass on.
	inner := fmt.Sprintf("tee %[1]s/b.in | setpriv --pdeathsig KILL %[2]s | tee %[1]s/b.out", dir, quoted(sandboxtest.Everything("stdio")))
	return []string{"sh", "-c", fmt.Sprintf(`tee %[1]s/a.in | setpriv --pdeathsig TERM %[2]s sh -c "$0" | tee %[1]s/a.out`, dir, strings.Join(program, " ")), inner}
}

// sameBytes compares what crossed before and behind.
func sameBytes(t *testing.T, dir string) {
	t.Helper()
	for _, d := range []string{"in", "out"} {
		before, err := os.ReadFile(filepath.Join(dir, "a."+d))
		if err != nil {
			t.Fatal(err)
		}
		behind, err := os.ReadFile(filepath.Join(dir, "b."+d))
		if err != nil {
			t.Fatal(err)
		}
		if len(before) == 0 || !bytes.Equal(before, behind) {
			t.Errorf("%s: %d bytes on the client's side, %d on the server's, or they differ", d, len(before), len(behind))
		}
	}
}

func whole() bool { return os.Getenv("COALMINE_WIRE_REPORT") != "" }

// needReport skips where what the report drives is not installed.
func needReport(t *testing.T) {
	t.Helper()
	sandboxtest.Need(t, "node")
	wanted := []string{sandboxtest.Everything("stdio")[1]}
	if whole() {
		wanted = append(wanted, sandboxtest.Cache("clients/current/complete"), sandboxtest.Cache("servers/current/py/bin/python"))
	}
	for _, file := range wanted {
		if _, err := os.Stat(file); err != nil {
			if whole() {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
}

func TestWireReport(t *testing.T) {
	needReport(t)
	at := map[string]string{}
	for _, kind := range []string{"sse", "http"} {
		at[kind] = serve(t, kind)
	}
	for _, c := range clients() {
		if c.name != "go" && !whole() {
			continue
		}
		for _, kind := range []string{"stdio", "sse", "http"} {
			alone := []string{at[kind]}
			if kind == "stdio" {
				alone = sandboxtest.Everything(kind)
			}
			want := sync.OnceValue(func() string { return c.run(t, kind, alone) })
			for _, by := range []string{"tap", "gate"} {
				t.Run(c.name+" "+kind+" "+by, func(t *testing.T) {
					t.Parallel()
					sandboxtest.Acquire(t, sandboxtest.Light)
					sameThrough(t, c, kind, by, at[kind], want())
				})
			}
		}
	}
}

// sameThrough runs a client with the tap or the gate between and compares what it
// gets with what it got of the server alone.
func sameThrough(t *testing.T, c driven, kind, by, at, want string) {
	t.Helper()
	if !strings.Contains(want, "get-sum") {
		t.Fatalf("nothing comes of the server itself: %.500s", want)
	}
	var g *gate.Gate
	if by == "gate" {
		g = gate.New(gate.Options{Closed: true, Validate: Validator(), Scan: func([]byte) []string { return nil }})
	}
	var target []string
	dir := t.TempDir()
	if kind == "stdio" {
		target = between(dir, "env", modeEnv+"="+by, session.DirEnv+"="+dir, os.Args[0])
	} else {
		target = []string{front(t, at, g)}
	}
	if diff := cmp.Diff(want, c.run(t, kind, target)); diff != "" {
		t.Error(diff)
	}
	// The inspector starts the server anew for each request.
	if kind == "stdio" && c.name != "inspector" {
		sameBytes(t, dir)
	}
}

// frontMode runs a client, its last argument a URL, with the tap in front of that URL.
func frontMode() {
	args := slices.Clone(os.Args[1:])
	last := len(args) - 1
	ready := make(chan string, 1)
	go func() {
		dir, err := os.MkdirTemp("", "front")
		if err == nil {
			defer os.RemoveAll(dir)
			err = HTTP(context.Background(), HTTPOptions{URL: args[last], Ready: func(local string) { ready <- local }}, LogOptions{Dir: dir, Say: func(string) {}})
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}()
	u, err := url.Parse(<-ready)
	if err != nil {
		os.Exit(1)
	}
	args[last] = u.String()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if cmd.Run() != nil {
		os.Exit(1)
	}
}
