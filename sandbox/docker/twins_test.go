//go:build linux && e2e

package docker

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// TestTwins runs both twins in every language in the project's own image: the
// honest one does nothing, the leaky one is seen at both of its deeds.
func TestTwins(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	sandboxtest.Need(t, "docker", "strace")
	servers := filepath.Join(sandboxtest.ModuleRoot(t), "testdata", "servers")
	for _, twin := range []string{"honest", "leaky"} {
		for language, command := range map[string][]string{
			"python": {"python3", filepath.Join(servers, twin, twin+".py")},
			"node":   {"node", filepath.Join(servers, twin, twin+".mjs")},
			"static": {sandboxtest.Build(t, "./testdata/servers/"+twin)},
		} {
			t.Run(twin+"/"+language, func(t *testing.T) {
				spec, _ := specFor(t, DefaultImage, command...)
				spec.ServerDir = filepath.Dir(command[len(command)-1])
				spec.TraceSet = "core"
				key := spec.User.Home + "/.ssh/id_rsa"
				spec.Files = []rootfs.File{{Path: key, Mode: 0o600, Data: []byte("a key\n")}}
				spec.Watch = []string{key}
				rec := callTwin(t, spec)
				opened, connected := false, false
				for _, r := range rec.Records() {
					opened = opened || r.Op == trace.OpOpen && r.Path == key && r.OK()
					connected = connected || r.Op == trace.OpConnect && r.Addr != nil && r.Addr.Host == "93.184.216.34" && !r.OK()
				}
				read := len(sandboxtest.EventsOf[session.EventAccess](rec)) > 0
				if leaky := twin == "leaky"; opened != leaky || read != leaky || connected != leaky {
					t.Errorf("opened %v, read %v, connected %v", opened, read, connected)
				}
				if len(rec.TraceErrors()) > 0 || len(sandboxtest.EventsOf[session.EventLoss](rec)) > 0 {
					t.Errorf("lost: %v %v", rec.TraceErrors(), sandboxtest.EventsOf[session.EventLoss](rec))
				}
			})
		}
	}
}

// callTwin shakes hands with a twin, calls its tool and stops it.
func callTwin(t *testing.T, spec sandbox.Spec) *sandboxtest.Recorder {
	t.Helper()
	rec := sandboxtest.NewRecorder()
	run, err := sandbox.Start(t.Context(), New(""), spec, rec)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = run.Close(t.Context()) }()
	say := func(line string, answer string) {
		if err := run.Stdin([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
		if !rec.Until(20*time.Second, func() bool { return strings.Contains(rec.Out(), answer) }) {
			t.Fatalf("no %s in %q; stderr %q", answer, rec.Out(), rec.Err())
		}
	}
	say(`{"jsonrpc":"2.0","id":101,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"client","version":"1"}}}`, `101`)
	say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "")
	say(`{"jsonrpc":"2.0","id":102,"method":"tools/call","params":{"name":"format_note","arguments":{"text":"x","note":"x"}}}`, `102`)
	if err := run.Stop(t.Context(), time.Second); err != nil {
		t.Error(err)
	}
	return rec
}
