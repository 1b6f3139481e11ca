//go:build linux && e2e

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// peer is the directory of glassport, which .ci/setup/glassport.sh installs.
func peer(t *testing.T) string {
	t.Helper()
	cache := os.Getenv("COALMINE_CACHE")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			t.Skip(err)
		}
		cache = filepath.Join(dir, "coalmine")
	}
	dir := filepath.Join(cache, "glassport", "current")
	if _, err := os.Stat(filepath.Join(dir, "logs.jsonl")); err != nil {
		if strings.Contains(os.Getenv("COALMINE_REQUIRE"), "glassport") {
			t.Fatalf("glassport is required here (COALMINE_REQUIRE), and .ci/setup/glassport.sh has not installed it")
		}
		t.Skip("needs glassport: run .ci/setup/glassport.sh")
	}
	return dir
}

// glassport runs it and returns what it prints.
func glassport(t *testing.T, status int, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(filepath.Join(peer(t), "py", "bin", "glassport"), args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "GLASSPORT_PII_PATTERNS=")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, _ := cmd.Output()
	if got := cmd.ProcessState.ExitCode(); got != status || errs.Len() > 0 {
		t.Fatalf("glassport %v: status %d\n%s%s", args, got, out, errs.String())
	}
	return out
}

// taken is a log that glassport's own tests read, with what it says of it.
type taken struct {
	Log   string `json:"log"`
	Error string `json:"error"`
	Found []struct {
		Subcategory string `json:"subcategory"`
		Severity    int    `json:"severity"`
		Kind        string `json:"kind"`
		Seq         any    `json:"seq"`
	} `json:"found"`
	Declared   []string `json:"declared"`
	Called     []string `json:"called"`
	Fabricated []string `json:"fabricated"`
}

// row is one finding of one log.
type row struct {
	seq                     uint64
	kind, subcategory       string
	severity, theirs, yours int
}

func (r row) String() string {
	return fmt.Sprintf("%6d  %-28s %d  %-13s  %d  %d", r.seq, r.subcategory, r.severity, r.kind, r.theirs, r.yours)
}

// rows puts both answers side by side.
func rows(p *taken, l *detect.Log) []row {
	var out []row
	at := func(r row) *row {
		for i := range out {
			if o := &out[i]; o.seq == r.seq && o.kind == r.kind && o.subcategory == r.subcategory && o.severity == r.severity {
				return o
			}
		}
		out = append(out, r)
		return &out[len(out)-1]
	}
	for _, f := range p.Found {
		n, _ := f.Seq.(float64)
		at(row{seq: uint64(n), kind: f.Kind, subcategory: f.Subcategory, severity: f.Severity}).theirs++
	}
	for i := range l.Annotations {
		a := &l.Annotations[i]
		at(row{seq: a.Seq(), kind: a.Kind, subcategory: a.Subcategory, severity: a.Severity}).yours++
	}
	return out
}

// differs says why a row may differ: what analyze/detect/DIFFERENCES.md lists.
// "" is a difference that nobody answers for.
func differs(r row, l *detect.Log, log string) string {
	head := l.State.HeadMissing
	switch {
	case head && r.theirs > 0 && slices.Contains([]string{"premature_call", "declaration_unavailable", "call_before_declaration", "orphaned_response"}, r.subcategory):
		return "1: a log that begins in the middle, or has gaps, proves no order"
	case r.theirs > 0 && r.subcategory == "declaration_unavailable" && l.State.Expired:
		return "2: a list whose ttlMs passed is the client's to refresh"
	case r.yours > 0 && r.subcategory == "surface_change":
		return "3: another declaration under the same name"
	case r.yours > 0 && r.subcategory == "not_protocol":
		return "4: a line of the server that no client can read"
	case r.theirs > 0 && r.subcategory == "unexpected_egress_host" && strings.Contains(log, "yyyyyyyyyy"):
		return "5: a word with dots is not a host"
	case r.yours > 0 && strings.Contains(lineOf(log, r.seq), `"frame": [`):
		return "7: the messages of a batch are read"
	case r.theirs > 0 && r.subcategory == "detector_error":
		return "6: what its tests, or a malformed schema, made fail there does not fail here"
	}
	return ""
}

// lineOf is the log's line of a frame.
func lineOf(log string, seq uint64) string {
	for line := range strings.Lines(log) {
		if strings.Contains(line, fmt.Sprintf(`"seq": %d,`, seq)) {
			return line
		}
	}
	return ""
}

// TestGlassportsOwnLogs judges every log that glassport's own tests read, and
// holds the answers against glassport's, row by row.
func TestGlassportsOwnLogs(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	f, err := os.Open(filepath.Join(peer(t), "logs.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	logs, same := 0, 0
	reasons := map[string]int{}
	t.Log("log     seq  subcategory                  severity kind  glassport ours")
	for lines.Scan() {
		var p taken
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		if logs++; p.Error != "" {
			continue
		}
		l, err := detect.Read(strings.NewReader(p.Log+"\n"), "log", detect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows(&p, l) {
			if r.theirs == r.yours {
				same += r.yours
				t.Logf("%3d %s", logs, r)
				continue
			}
			why := differs(r, l, p.Log)
			reasons[why] += max(r.theirs, r.yours) - min(r.theirs, r.yours)
			t.Logf("%3d %s  differs, %s", logs, r, why)
			if why == "" {
				t.Errorf("log %d differs without a reason: %s\n%.3000s", logs, r, p.Log)
			}
		}
		if l.Summary.DeclarationKnown && p.Declared != nil {
			if diff := cmp.Diff(sorted(p.Declared), sorted(l.Summary.DeclaredTools)); diff != "" && !strings.Contains(diff, "redacted") && !strings.Contains(diff, `\u`) {
				t.Errorf("log %d: declared tools\n%s", logs, diff)
			}
		}
		if len(p.Called) != len(l.Summary.CalledTools) || len(p.Fabricated) != len(l.Summary.FabricatedCalls) {
			t.Errorf("log %d: calls %v, %v; fabricated %v, %v", logs, p.Called, l.Summary.CalledTools, p.Fabricated, l.Summary.FabricatedCalls)
		}
	}
	t.Logf("%d logs, %d findings the same; differing by reason: %v", logs, same, reasons)
	if logs < 200 || same < 700 {
		t.Errorf("only %d logs with %d findings were compared", logs, same)
	}
}

func sorted(in []string) []string {
	out := append([]string{}, in...)
	slices.Sort(out)
	return out
}

// recorded writes the conversation as a run's log does.
func recorded(t *testing.T) string {
	t.Helper()
	path := t.TempDir()
	dir, err := os.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	l, err := (session.Output{Root: dir}).Create(session.Header{Started: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range conversation {
		dir := map[byte]session.Dir{'c': session.C2S, 's': session.S2C}[line[0]]
		l.Frame(dir, time.Duration(i)*time.Millisecond, []byte(line[2:]))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(path, session.FramesFile)
}

// TestGlassportReadsOurs: a session recorded here is read there without
// complaint, and summed up alike.
func TestGlassportReadsOurs(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	log := recorded(t)
	var theirs, own map[string]any
	if err := json.Unmarshal(glassport(t, 0, "summarize", "--json", log), &theirs); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(ours(t, 0, "summarize", "--json", "--client", "other", log), &own); err != nil {
		t.Fatal(err)
	}
	for _, m := range []map[string]any{theirs, own} {
		for _, v := range m["context_violations"].([]any) {
			delete(v.(map[string]any), "explanation") // each has its own words
		}
	}
	if diff := cmp.Diff(theirs, own); diff != "" {
		t.Error(diff)
	}
	out := string(glassport(t, 1, "detect", log))
	var l detected
	if err := json.Unmarshal(ours(t, 1, "detect", "--json", "--client", "other", log), &l); err != nil {
		t.Fatal(err)
	}
	if len(l.Annotations) != 6 || l.Verdict != detect.HostileOrNot {
		t.Errorf("%+v", l)
	}
	for i := range l.Annotations {
		a := &l.Annotations[i]
		want := fmt.Sprintf("seq=%v %s:", a.Metadata["seq"], a.Subcategory)
		t.Logf("%-40s in glassport's: %v", want, strings.Contains(out, want))
		if !strings.Contains(out, want) {
			t.Errorf("glassport does not say %q:\n%s", want, out)
		}
	}
}

// TestWeReadGlassports lets glassport record a session of a real server.
func TestWeReadGlassports(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	dir, log := "", ""
	// Glassport forwards first and logs then: an answer may be logged before its
	// request. Such a log is out of order, as both would say.
	for range 20 {
		if dir, log = record(t); inOrder(t, log) {
			break
		}
	}
	var l detected
	if err := json.Unmarshal(ours(t, 0, "detect", "--json", log), &l); err != nil {
		t.Fatal(err)
	}
	if len(l.Annotations)+len(l.NotSeen) > 0 || l.Verdict != detect.Clean {
		t.Errorf("%+v", l)
	}
	if out := string(ours(t, 0, "health", dir)); !strings.Contains(out, "healthy; sessions: 1, frames: 7,") {
		t.Error(out)
	}
}

// inOrder reports whether each request stands before its answer.
func inOrder(t *testing.T, log string) bool {
	t.Helper()
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for id := range 3 {
		asked, answered := bytes.Index(data, fmt.Appendf(nil, `"id": %d, "method"`, id)), bytes.Index(data, fmt.Appendf(nil, `"id": %d, "result"`, id))
		if asked < 0 || answered < asked {
			return false
		}
	}
	return true
}

// record lets glassport record a session and returns its directory and the log.
func record(t *testing.T) (dir, log string) {
	t.Helper()
	dir = t.TempDir()
	cmd := exec.Command(filepath.Join(peer(t), "py", "bin", "glassport"), "wrap", "--log-dir", dir, "--", sandboxtest.Build(t, "./testdata/servers/honest"))
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
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
	answers := bufio.NewScanner(out)
	for _, l := range []string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"format_note","arguments":{"text":"hello"}}}`,
	} {
		if _, err := io.WriteString(in, l+"\n"); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(l, `"id"`) && !answers.Scan() {
			t.Fatalf("no answer to %s", l)
		}
		// Glassport logs beside the way: what it has passed on may not be in its log
		// yet, and a call that is written before the list would be out of order there.
		logged(t, dir, l)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("%v, %v", logs, err)
	}
	return dir, logs[0]
}

// logged waits until glassport has logged a message and the answer to it.
func logged(t *testing.T, dir, message string) {
	t.Helper()
	var m struct{ ID *int }
	if err := json.Unmarshal([]byte(message), &m); err != nil {
		t.Fatal(err)
	}
	want := "notifications/initialized"
	if m.ID != nil {
		want = fmt.Sprintf(`"id": %d, "result"`, *m.ID)
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		logs, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range logs {
			if data, err := os.ReadFile(name); err == nil && strings.Contains(string(data), want) {
				return
			}
		}
	}
	t.Fatalf("glassport has not logged %s", want)
}

// TestDriftAsGlassports watches the same directory with both.
func TestDriftAsGlassports(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	dir := t.TempDir()
	write := func(day int, lines ...string) {
		var b strings.Builder
		for i, l := range lines {
			dir := map[byte]string{'c': "c2s", 's': "s2c"}[l[0]]
			fmt.Fprintf(&b, `{"schema_version": "0.1", "seq": %d, "ts": "2026-11-%02dT10:00:%02d+00:00", "dir": "%s", "frame": %s, "raw": null}`+"\n", i+1, day, i, dir, l[2:])
		}
		name := fmt.Sprintf("202611%02dT100000Z_srv_%d.jsonl", day, day)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	change := func(pairs ...string) []string {
		out := slices.Clone(conversation)
		for i := range out {
			out[i] = strings.NewReplacer(pairs...).Replace(out[i])
		}
		return out
	}
	write(1, conversation[:7]...)
	write(2, conversation[:7]...)
	write(3, conversation...)
	write(4, change(`"version": "1"`, `"version": "2"`, `"tools": {}`, `"tools": {}, "logging": {}`, `["text"]`, `["text", "more"]`)...)
	write(5, change(`"name": "echo", "inputSchema"`, `"name": "other", "inputSchema"`, "evil.example", "new.example")...)
	type drifts map[string][]struct {
		Source   string `json:"source"`
		Findings []struct {
			Kind     string `json:"kind"`
			Severity int    `json:"severity"`
		} `json:"findings"`
	}
	read := func(raw []byte) []string {
		var d drifts
		if err := json.Unmarshal(raw, &d); err != nil {
			t.Fatal(err)
		}
		var out []string
		for server, sessions := range d {
			for _, s := range sessions {
				for _, f := range s.Findings {
					out = append(out, fmt.Sprintf("%s %s %s %d", server, s.Source, f.Kind, f.Severity))
				}
			}
		}
		slices.Sort(out)
		return out
	}
	theirs, own := read(glassport(t, 1, "watch", dir, "--json")), read(ours(t, 1, "watch", "--json", dir))
	for _, l := range theirs {
		t.Logf("%-70s ours too: %v", l, slices.Contains(own, l))
	}
	if diff := cmp.Diff(theirs, own); diff != "" || len(theirs) < 9 {
		t.Error(diff)
	}
}
