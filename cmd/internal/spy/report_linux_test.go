//go:build linux && e2e

package spy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// The report compares what spy saw of real clients and servers with what a tap between
// them recorded. COALMINE_SPY names the program; "make spy-report" builds it.

// modeEnv turns the test's own program into another one.
const modeEnv = "COALMINE_SPY_TEST_MODE"

func TestMain(m *testing.M) {
	switch os.Getenv(modeEnv) {
	case "client":
		goClient(os.Args[1], os.Args[2:])
	case "asker":
		if err := asker(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "noter":
		noter()
	case "echo":
		echo()
	case "dropper":
		dropper()
	case "secretecho":
		secretEcho()
	case "watcher":
		watcher()
	case "crowd":
		crowd()
	case "secret":
		askSecretly(os.Args[1])
	case "front":
		front(os.Args[1], os.Args[2], os.Args[3])
	default:
		os.Exit(m.Run())
	}
}

// goClient is a client of the Go SDK's.
func goClient(kind string, target []string) {
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
		fmt.Fprintln(os.Stderr, err)
		return // the comparison misses its messages
	}
	_, _ = s.ListTools(ctx, nil) // what crosses counts, not what it says
	for range 20 {
		_, _ = s.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"message": "grüße"}})
	}
	_ = s.Close()
}

// program is coalmine, and skips where no report is asked for.
func program(t *testing.T) string {
	t.Helper()
	bin := os.Getenv("COALMINE_SPY")
	if bin == "" {
		t.Skip("make spy-report compares spy with the tap")
	}
	return bin
}

// watched is a command that spy watches.
type watchedRun struct {
	dir  string // of the logs
	said string
	cpu  time.Duration
	took time.Duration
}

// waiting starts a shell that becomes a command as soon as its input gets a line or ends.
func waiting(t *testing.T, env []string, command ...string) (shell *exec.Cmd, start io.WriteCloser) {
	t.Helper()
	shell = exec.Command("sh", append([]string{"-c", `read x; exec "$@"`, "sh"}, command...)...)
	shell.Env = append(os.Environ(), env...)
	shell.Stderr = os.Stderr
	shell.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	start, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	return shell, start
}

// watchRun has spy watch a shell that waits until spy is ready, and then runs a command.
func watchRun(t *testing.T, bin string, env []string, command ...string) watchedRun {
	t.Helper()
	r := watchedRun{dir: t.TempDir()}
	shell, start := waiting(t, env, command...)
	spy := exec.Command(bin, "spy", "--pid", fmt.Sprint(shell.Process.Pid), "--out", r.dir, "--format", "jsonl", "--redact", "never", "--tls")
	spy.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	said, err := spy.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := spy.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(said)
	for {
		line, err := lines.ReadString('\n')
		r.said += line
		if err != nil {
			t.Fatalf("spy: %s", r.said)
		}
		if strings.Contains(line, "watching") {
			break
		}
	}
	begun := time.Now()
	_, _ = io.WriteString(start, "go\n")
	_ = start.Close()
	if err := shell.Wait(); err != nil {
		t.Errorf("%v: %v", command, err)
	}
	r.took = time.Since(begun)
	time.Sleep(300 * time.Millisecond) // as long as spy waits for what comes late
	_ = spy.Process.Signal(os.Interrupt)
	rest, _ := io.ReadAll(lines)
	r.said += string(rest)
	_ = spy.Wait()
	r.cpu = spy.ProcessState.UserTime() + spy.ProcessState.SystemTime()
	return r
}

// messages are the JSON values of a log by direction.
type messages map[session.Dir][]string

func readLog(t *testing.T, name string) messages {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := messages{}
	for frame, err := range session.ReadFrames(f, nil) {
		if err != nil {
			t.Fatal(err)
		}
		// A body that is no message, such as "Accepted", may break off when its reader leaves.
		if frame.Message != nil {
			out[frame.Dir] = append(out[frame.Dir], string(frame.Message))
		}
	}
	return out
}

func logs(t *testing.T, dir string) (all []messages) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		all = append(all, readLog(t, name))
	}
	return all
}

// compare counts the messages that both have, and all that either has. Order matters where
// all of one direction crosses on one stream: a message in another place is none.
func compare(tap, spy messages, ordered bool) (same, all int) {
	for _, d := range []session.Dir{session.C2S, session.S2C} {
		a, b := tap[d], spy[d]
		all += max(len(a), len(b))
		if ordered && len(a) == len(b) {
			for i := range a {
				if a[i] == b[i] {
					same++
				}
			}
			continue
		}
		left := map[string]int{}
		for _, m := range a {
			left[m]++
		}
		for _, m := range b {
			if left[m] > 0 {
				left[m]--
				same++
			} else {
				fmt.Printf("  not the tap's: %s %d bytes: %.120s\n", d, len(m), m)
			}
		}
		for m, n := range left {
			if n > 0 {
				fmt.Printf("  not seen: %s %d bytes: %.120s\n", d, len(m), m)
			}
		}
	}
	return same, all
}

// join is all that several logs have.
func join(all []messages) messages {
	out := messages{}
	for _, m := range all {
		for d, list := range m {
			out[d] = append(out[d], list...)
		}
	}
	return out
}

// served is a server that a report starts.
type served struct {
	name string
	// kinds are how it can be talked to: "tls" is HTTP behind a program that speaks TLS.
	kinds   []string
	command func(kind string) []string
}

// servers are the official reference server of npm, a server on the official Python SDK, and servers of PyPI,
// which talk over stdio alone.
func servers() []served {
	python := func(name string) string { return sandboxtest.Cache("servers/current/py/bin/" + name) }
	out := []served{
		{"", []string{"stdio", "http", "sse", "tls"}, sandboxtest.Everything},
		{"python-sdk", []string{"stdio", "http", "sse", "tls"}, func(kind string) []string {
			name := map[string]string{"stdio": "stdio", "sse": "sse", "http": "streamable-http"}[kind]
			return []string{python("python"), "testdata/desk.py", name}
		}},
	}
	for _, name := range []string{"mcp-server-time", "mcp-server-git"} {
		out = append(out, served{name, []string{"stdio"}, func(string) []string { return []string{python(name)} }})
	}
	return out
}

// scriptOf is a program that runs a command.
func scriptOf(t *testing.T, command []string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(name, []byte("#!/bin/sh\nexec '"+strings.Join(command, "' '")+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// onHTTP runs a server, a tap before it, and a client with the tap's URL as its last argument.
const onHTTP = onHTTPUp + `
"$@" http://127.0.0.1:$proxy$at >/dev/null
kill -TERM $tap; wait $tap; kill $server; wait $server; exit 0`

// onHTTPUp starts the server and the tap.
const onHTTPUp = `export PORT=$1; proxy=$2; at=$3; bin=$4; logs=$5; shift 5
$SERVER >/dev/null 2>&1 & server=$!
up() { python3 -c 'import socket,sys,time
for _ in range(300):
    try: socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close(); break
    except OSError: time.sleep(0.1)' $1; }
up $PORT
"$bin" tap --http --url http://127.0.0.1:$PORT$at --listen 127.0.0.1:$proxy --log-dir "$logs" 2>/dev/null & tap=$!
up $proxy`

type driven struct {
	name  string
	env   []string
	words []string // the transport and the target follow
}

func clients() []driven {
	wiretap := "../wiretap/testdata/"
	npm := sandboxtest.Cache("servers/current/npm/node_modules/@modelcontextprotocol/sdk")
	return []driven{
		{"go", []string{modeEnv + "=client"}, []string{os.Args[0]}},
		{"typescript", nil, []string{"node", wiretap + "client.mjs", npm}},
		{"python", nil, []string{sandboxtest.Cache("servers/current/py/bin/python"), wiretap + "client.py"}},
		{inspector, nil, []string{"sh", "-c", inspects, "sh", sandboxtest.Cache("clients/current/node_modules/.bin/mcp-inspector")}},
	}
}

const inspector = "inspector"

// inspects has the Inspector ask a server, which it starts or connects to anew for each request.
const inspects = `bin=$1 kind=$2; shift 2
flags=; [ $kind = stdio ] || flags="--transport $kind"
for ask in tools/list "tools/call --tool-name echo --tool-arg message=hi" prompts/list; do
	"$bin" --cli "$@" $flags --method $ask # a server without the tool says so
done`

var total struct{ same, all int }

// judgeAll compares what spy saw in any order, where each message of the tap's log crossed several times.
func judgeAll(t *testing.T, name string, r watchedRun, tapLogs string, times int) {
	t.Helper()
	taps, seen := logs(t, tapLogs), logs(t, r.dir)
	if len(taps) == 0 {
		t.Fatalf("%s: the tap has no log", name)
	}
	var expected []messages
	for range times {
		expected = append(expected, taps...)
	}
	same, all := compare(join(expected), join(seen), false)
	total.same, total.all = total.same+same, total.all+all
	fmt.Printf("%s: %d conversations, %d/%d messages\n", name, len(seen), same, all)
	if same != all || len(seen) != times*len(taps) {
		t.Errorf("%s: %d of %d are the same, %d conversations; %s", name, same, all, len(seen), r.said)
	}
}

// judge compares each conversation that spy saw with the tap's log: before the tap, and
// behind it.
func judge(t *testing.T, name string, r watchedRun, tapLogs string, ordered bool) {
	t.Helper()
	if !ordered {
		judgeAll(t, name, r, tapLogs, 2)
		return
	}
	taps, seen := logs(t, tapLogs), logs(t, r.dir)
	if len(taps) == 0 {
		t.Fatalf("%s: the tap has no log", name)
	}
	var same, all int
	for _, s := range seen {
		a, b := compare(taps[0], s, true)
		same, all = same+a, all+b
	}
	total.same, total.all = total.same+same, total.all+all
	fmt.Printf("%s: %d conversations, %d/%d messages\n", name, len(seen), same, all)
	if same != all || len(seen) != 2*len(taps) {
		t.Errorf("%s: %d of %d are the same, %d conversations; %s", name, same, all, len(seen), r.said)
	}
}

// talks has a client talk with a server in one way.
func talks(t *testing.T, bin string, c driven, s served, kind string) {
	name := strings.TrimSuffix(c.name+" "+kind+" "+s.name, " ")
	tapLogs, words := t.TempDir(), slices.Clone(c.words)
	if kind == "stdio" {
		target := append([]string{bin, "tap", "--log-dir", tapLogs, "--"}, s.command(kind)...)
		if c.name == inspector {
			target = []string{scriptOf(t, target)} // it takes flags that stand behind its own
		}
		r := watchRun(t, bin, c.env, append(append([]string{"sh", "-c", `"$@" >/dev/null 2>&1`, "sh"}, append(words, kind)...), target...)...)
		judge(t, name, r, tapLogs, c.name != inspector)
		return
	}
	script, crossed, ports, spoken := onHTTP, 2, []string{freePort(t), freePort(t)}, kind
	if kind == "tls" {
		script, crossed, ports, spoken = onTLS, 3, []string{freePort(t), os.Args[0], freePort(t), freePort(t)}, "http"
	}
	at := map[string]string{"http": "/mcp", "sse": "/sse"}[spoken]
	env := append(slices.Clone(c.env), "SERVER="+strings.Join(s.command(spoken), " "))
	command := slices.Concat([]string{"bash", "-c", script, "bash"}, ports, []string{at, bin, tapLogs}, words, []string{spoken})
	judgeAll(t, name, watchRun(t, bin, env, command...), tapLogs, crossed)
}

func TestSpyReport(t *testing.T) {
	bin := program(t)
	sandboxtest.Need(t, "node")
	for _, c := range clients() {
		for _, s := range servers() {
			for _, kind := range s.kinds {
				if kind == "tls" && c.name == inspector {
					continue // it is a TypeScript client, and starts anew for each request
				}
				t.Run(c.name+" "+kind+" "+s.name, func(t *testing.T) { talks(t, bin, c, s, kind) })
			}
		}
	}
	wait := "3"
	if os.Getenv("COALMINE_SPY_WAIT") != "" {
		wait = os.Getenv("COALMINE_SPY_WAIT")
	}
	t.Run("plain stdio", func(t *testing.T) {
		tapLogs := t.TempDir()
		r := watchRun(t, bin, nil, "python3", "testdata/client.py", wait, bin, "tap", "--log-dir", tapLogs, "--", "python3", "testdata/server.py")
		judge(t, "plain stdio: 2 and 7 MB, an answer after "+wait+" s, batches, unknown methods", r, tapLogs, true)
	})
	fmt.Printf("spy: %d/%d\n", total.same, total.all)
}

// An unprivileged start says what is missing.
func TestUnprivileged(t *testing.T) {
	bin := program(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can become nobody")
	}
	dir, err := os.MkdirTemp("", "spy")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	data, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, "coalmine")
	if err := os.WriteFile(own, data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(own, "spy", "--duration", "1s")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	fmt.Printf("unprivileged: %s", out)
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "lacks CAP_BPF and CAP_PERFMON") || !strings.Contains(string(out), "hint: ") {
		t.Errorf("%v: %s", err, out)
	}
}
