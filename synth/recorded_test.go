package synth

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// A replay of a kept log has each call that reached the server, with its very arguments.
func TestRecordedCallsAreThoseOfTheLog(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"local-ebpf-findings-leaky-2", "local-ebpf-clean-web", "local-strace-clean-node-honest-mjs-d-honest-mjs"} {
		dir := t.TempDir()
		analyzetest.UnpackRun(t, filepath.Join("..", "testdata", "runs", name+".tar.gz"), dir)
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		log, err := session.Open(root)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Recorded(log)
		if err != nil {
			t.Fatal(err)
		}
		if r.User == "" || r.Home == "" {
			t.Errorf("%s: user %q, home %q", name, r.User, r.Home)
		}
		i := 0
		for f, err := range log.Frames() {
			if err != nil {
				t.Fatal(err)
			}
			var m struct {
				Method string
				Params struct {
					Name      string
					Arguments json.RawMessage
				}
			}
			if f.Dir != session.C2S || json.Unmarshal(f.Message, &m) != nil || m.Method != wire.MethodCall {
				continue
			}
			for i < len(r.Steps) && r.Steps[i].What != WhatTool {
				i++
			}
			if i == len(r.Steps) || r.Steps[i].Name != m.Params.Name || !bytes.Equal(r.Steps[i].Args, m.Params.Arguments) {
				t.Fatalf("%s: call %d of the log is %s %s", name, i, m.Params.Name, m.Params.Arguments)
			}
			i++
		}
		if i == 0 || i != len(r.Steps) && r.Steps[i].What == WhatTool {
			t.Errorf("%s: %d of %d calls are in the log", name, i, len(r.Steps))
		}
	}
}

func TestLogsWithoutCallsAreNoReplay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, text := range map[string]string{session.FramesFile: "", session.TraceFile: `{"type":"header","schema":"` + session.Schema + `"}` + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log, err := session.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Recorded(log); err == nil || !strings.Contains(err.Error(), "it has none") {
		t.Error(err)
	}
}
