package session

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func wireLog(t *testing.T, opts WireOptions) *WireLog {
	t.Helper()
	l, err := NewWireLog(opts)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestWireName(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	for what, want := range map[string]string{
		"npx":                       "20260102T020405Z_npx_7.jsonl",
		"/usr/bin/my-server.js":     "20260102T020405Z__usr_bin_my_server_js_7.jsonl",
		"../é":                      "20260102T020405Z______7.jsonl",
		strings.Repeat("long", 100): "20260102T020405Z_" + strings.Repeat("long", 8) + "_7.jsonl",
	} {
		if got := WireName(at, what, 7); got != want {
			t.Errorf("%q: %s, want %s", what, got, want)
		}
	}
}

func TestWireLogLines(t *testing.T) {
	dir := t.TempDir()
	l := wireLog(t, WireOptions{Dir: dir, What: "x"})
	at := started
	l.Frame(WireFrame{Dir: C2S, At: at, Raw: []byte("{\"id\":1}\r\n"), Gate: &Gate{Action: "blocked", Tool: "rm", Declared: []string{"a", "b"}, Reason: "not declared"}})
	l.Frame(WireFrame{Dir: S2C, At: at, Raw: []byte(`{"id":1}`), SSE: &SSE{Event: "message", ID: "7"}})
	l.Frame(WireFrame{Dir: S2C, At: at, Raw: []byte("/messages?id=1"), SSE: &SSE{Event: "endpoint"}})
	l.Drop(2)
	name := l.Name()
	if err := l.Close(); err == nil {
		t.Error("records were dropped, and Close says nothing")
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	for i, want := range []string{
		`{"schema_version": "0.1", "seq": 1, "ts": "2026-06-09T18:39:29+00:00", "dir": "c2s", "frame": {"id": 1}, "raw": null, "gate": {"action": "blocked", "tool": "rm", "declared": ["a", "b"], "reason": "not declared", "evidence_level": "blocked_policy"}}`,
		`{"schema_version": "0.1", "seq": 2, "ts": "2026-06-09T18:39:29+00:00", "dir": "s2c", "frame": {"id": 1}, "raw": null, "sse_meta": {"event": "message", "id": "7"}}`,
		`{"schema_version": "0.1", "seq": 3, "ts": "2026-06-09T18:39:29+00:00", "dir": "s2c", "frame": null, "raw": "/messages?id=1", "sse_meta": {"event": "endpoint"}}`,
	} {
		if lines[i] != want {
			t.Errorf("line %d is\n%s\nwant\n%s", i+1, lines[i], want)
		}
	}
	if !strings.HasPrefix(lines[3], `{"type": "glassport.metrics", "ts": "2026-06-09T18:39:29+00:00", "frames_seen": 3, "frames_blocked": 1, `) ||
		!strings.HasSuffix(lines[3], `, "records_dropped": 2}`) {
		t.Errorf("metrics: %s", lines[3])
	}
}

func TestWireLogRotates(t *testing.T) {
	dir := t.TempDir()
	l := wireLog(t, WireOptions{Dir: dir, What: "x", Rotate: 64 << 10})
	const n = 3000
	for i := range n {
		l.Frame(WireFrame{Dir: C2S, At: time.Now(), Raw: fmt.Appendf(nil, `{"id":%d,"x":"%s"}`, i, strings.Repeat("y", 100))})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*_x*.jsonl"))
	if err != nil || len(names) < 3 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	seen := map[uint64]bool{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for f, err := range ReadFrames(bytes.NewReader(data), nil) {
			if err != nil || seen[f.Seq] {
				t.Fatalf("%s: seq %d, %v", name, f.Seq, err)
			}
			seen[f.Seq] = true
		}
	}
	if len(seen) != n {
		t.Errorf("%d frames of %d", len(seen), n)
	}
}

func TestWireLogIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	l := wireLog(t, WireOptions{Dir: dir, What: "x"})
	defer l.Close()
	for name, want := range map[string]os.FileMode{dir: 0o700, l.Name(): 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestWireDir(t *testing.T) {
	t.Setenv("HOME", "/home/dev")
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv(DirEnv, "")
	for _, c := range []struct{ env, value, want string }{
		{"HOME", "/home/dev", "/home/dev/.local/state/coalmine/sessions"},
		{"XDG_STATE_HOME", "relative", "/home/dev/.local/state/coalmine/sessions"},
		{"XDG_STATE_HOME", "/state", "/state/coalmine/sessions"},
		{DirEnv, "/logs", "/logs"},
	} {
		t.Setenv(c.env, c.value)
		if got, err := WireDir(); got != c.want || err != nil {
			t.Errorf("%s=%s: %s, %v", c.env, c.value, got, err)
		}
	}
}

// A record of a gate always says what it proves.
func TestGateEvidenceLevels(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]EvidenceLevel{
		"blocked": EvidencePolicy, "injected": EvidenceInjected, "gate_would_block": EvidenceIntended, "gate_skipped": EvidenceForwarded,
		"gate_disabled": EvidenceForwarded, "gate_allowed": EvidenceForwarded, "": EvidenceObserved, "another": EvidenceObserved,
	} {
		if got := (&Gate{Action: action}).Level(); got != want {
			t.Errorf("%q: %s, want %s", action, got, want)
		}
	}
	if got := (&Gate{Action: "blocked", Evidence: EvidenceGap}).Level(); got != EvidenceGap {
		t.Error(got)
	}
}
