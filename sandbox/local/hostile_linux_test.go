//go:build linux && e2e

package local

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// ask starts the hostile server in one of its modes, calls its tool and decodes
// what the tool says.
func ask(t *testing.T, mode string, into any) *sandboxtest.Recorder {
	t.Helper()
	sandboxtest.Need(t, "userns", "strace")
	s := spec(fixture(t, "hostile", ""), mode)
	s.ServerDir, _ = sandbox.ServerDir("", s.Command, exec.LookPath)
	s.TraceSet = "core"
	s.Limits = agent.Limits{Pids: 256, File: 64 << 20, Memory: 1 << 30}
	rec := sandboxtest.NewRecorder()
	r, err := sandbox.Start(bounded(t), New(), s, rec)
	must(t, err)
	defer func() {
		if err := r.Close(bounded(t)); err != nil {
			t.Error(err)
		}
	}()
	must(t, r.Stdin([]byte(hello+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"`+mode+`","arguments":{}}}`+"\n")))
	if !rec.Until(within30, func() bool { return strings.Count(rec.Out(), "\n") == 2 }) {
		t.Fatalf("out %q err %q events %+v", rec.Out(), rec.Err(), rec.Events())
	}
	must(t, r.Sync(bounded(t)))
	var answer struct {
		Result struct {
			Content []struct{ Text string }
		}
	}
	_, line, _ := strings.Cut(rec.Out(), "\n")
	must(t, json.Unmarshal([]byte(line), &answer))
	must(t, json.Unmarshal([]byte(answer.Result.Content[0].Text), into))
	return rec
}

// innerReached are signals and limits that the inner namespace's first process,
// which guards nothing, takes from a target of its own uid.
var innerReached = []string{
	"kill-1-SIGSTOP", "kill-1-SIGTERM", "kill-1-SIGQUIT", "kill-1-SIGSEGV", "kill-1-SIGKILL", "prlimit-1", "oom-score-1",
}

func TestNothingEscapes(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	var told map[string]string
	rec := ask(t, "escape", &told)
	for _, name := range slices.Sorted(maps.Keys(told)) {
		if strings.HasPrefix(told[name], "denied: ") || os.Getuid() != 0 && slices.Contains(innerReached, name) {
			continue
		}
		t.Errorf("%s: %s", name, told[name])
	}
	if len(told) < 40 {
		t.Errorf("only %d attempts", len(told))
	}
	if got := rec.Troubles(); len(got) != 0 || len(sandboxtest.EventsOf[session.EventExit](rec)) != 0 {
		t.Errorf("events %+v", got)
	}
}

func TestNothingTells(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	var told struct {
		Looked int
		Found  []struct{ Word, Where, Text string }
	}
	ask(t, "tells", &told)
	for _, f := range told.Found {
		if !strings.Contains(f.Text, "--trace=") { // strace's own command line, which cannot hide
			t.Errorf("%+v", f)
		}
	}
	if told.Looked < 20 {
		t.Errorf("looked at %d things only", told.Looked)
	}
}
