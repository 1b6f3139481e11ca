//go:build linux && e2e

package sandbox_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// hostile is the fixture that misbehaves in one way, on the one CPU of an
// ordinary user's HOME.
func hostile(t testing.TB, mode string) sandbox.Spec {
	s := spec(sandboxtest.Build(t, "./testdata/servers/hostile"), mode)
	s.Env = append(s.Env, "HOME=/home/dev")
	s.Limits = agent.Limits{Pids: 256, File: 64 << 20, Memory: 1 << 30}
	return s
}

// call calls the hostile server's only tool and returns its text.
func (a alive) call(t testing.TB, tool string) string {
	t.Helper()
	before := len(a.Out())
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": before + 1, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": map[string]any{}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Stdin(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	a.sees(t, "the tool's answer", func() bool { return strings.HasSuffix(a.Out()[before:], "\n") })
	var answer struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	if err := json.Unmarshal([]byte(a.Out()[before:]), &answer); err != nil || len(answer.Result.Content) != 1 || answer.Result.IsError {
		t.Fatalf("answer %q: %v", a.Out()[before:], err)
	}
	return answer.Result.Content[0].Text
}

// innerReached are attempts upon PID 1 that an inner namespace's init, which
// has the target's uid and guards nothing, may grant: its signals do nothing.
var innerReached = map[string]bool{
	"kill-1-SIGSTOP": true, "kill-1-SIGTERM": true, "kill-1-SIGQUIT": true, "kill-1-SIGSEGV": true, "kill-1-SIGKILL": true,
	"prlimit-1": true, "oom-score-1": true,
}

func TestNothingEscapes(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	kinds(t, func(t *testing.T, b sandboxtest.Bare, set string) {
		s := hostile(t, "escape")
		s.TraceSet = set
		run := start(t, b, s)
		var told map[string]string
		if err := json.Unmarshal([]byte(run.call(t, "escape")), &told); err != nil {
			t.Fatal(err)
		}
		if len(told) < 40 {
			t.Errorf("only %d attempts", len(told))
		}
		for _, name := range slices.Sorted(maps.Keys(told)) {
			switch result := told[name]; {
			case strings.HasPrefix(result, "denied: "):
			case b.SingleUID && innerReached[name]:
			case set == "" && untracedMay(name):
			default:
				t.Errorf("%s: %s", name, result)
			}
		}
		// Whatever was sent to PID 1 and the tracer, they are alive and in order.
		if err := run.Sync(bounded(t)); err != nil {
			t.Fatal(err)
		}
		run.call(t, "escape")
		if got := run.Troubles(); len(got) != 0 {
			t.Errorf("events %+v", got)
		}
		for _, r := range run.Records() {
			if strings.Contains(r.Path, "forged") {
				t.Errorf("a forged record: %+v", r)
			}
		}
		if run.Lost() != 0 || strings.Contains(run.Err(), "forged") {
			t.Errorf("%d lost, stderr %q", run.Lost(), run.Err())
		}
	})
}

// untracedMay names what only the tracer refuses.
func untracedMay(name string) bool {
	return strings.HasPrefix(name, "seccomp") || strings.HasPrefix(name, "io-uring")
}

func TestNothingTells(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	kinds(t, func(t *testing.T, b sandboxtest.Bare, set string) {
		s := hostile(t, "tells")
		s.TraceSet = set
		var told struct {
			Looked int
			Found  []struct{ Word, Where, Text string }
		}
		if err := json.Unmarshal([]byte(start(t, b, s).call(t, "tells")), &told); err != nil {
			t.Fatal(err)
		}
		for _, f := range told.Found {
			if strings.Contains(f.Text, "--trace=") {
				continue // strace's own command line, which cannot hide
			}
			// The bare sandbox shows the host's files and mounts: only what the agent makes counts.
			if strings.HasSuffix(f.Where, "/mountinfo") || strings.HasSuffix(f.Where, "/mounts") {
				continue
			}
			if strings.HasPrefix(f.Where, "/proc/") || strings.Contains(f.Where, "comm") || strings.Contains(f.Where, "cmdline") {
				t.Errorf("%+v", f)
			}
		}
		if told.Looked < 5 {
			t.Errorf("looked at %d things only", told.Looked)
		}
	})
}

func TestAFloodOfForksIsEnded(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Storm)
	kinds(t, func(t *testing.T, b sandboxtest.Bare, set string) {
		s := hostile(t, "forks")
		s.TraceSet = set
		s.Limits.Pids = 100
		run := start(t, b, s)
		if err := run.Stdin([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":{}}}` + "\n")); err != nil {
			t.Fatal(err)
		}
		if x := run.ends(t); !strings.HasPrefix(x.Reason, "limit: pids") {
			t.Errorf("exit %+v, stderr %q", x, run.Err())
		}
	})
}

func file(path, text string) rootfs.File {
	return rootfs.File{Path: path, Mode: 0o600, Data: []byte(text)}
}
