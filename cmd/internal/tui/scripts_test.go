package tui

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the kept screens anew")

// script is a list of keys on something that is shown. After each step the screen is compared;
// what a step starts in the background is over by the next one.
type script struct {
	name string
	// on is a name below the directory that fixtures makes.
	on    string
	steps []string
	// big is for a terminal alone: it needs a million frames.
	big bool
}

// scripts are played by the hermetic test in the model, and by make tui-report in a terminal.
// A step is keys with a space between them; a word that is no key is typed.
var scripts = []script{
	{name: "session", on: "weather.jsonl", steps: []string{"", "G enter", "p", "q f errors enter", "e / lisbon enter", "n", "t", "x ?"}},
	{name: "values", on: "weather.jsonl", steps: []string{"", "f tool:long enter", "G enter", "G k enter", "G"}},
	{name: "hostile", on: "hostile.jsonl", steps: []string{"", "G enter", "q g down enter", "q f errors enter"}},
	{name: "run", on: "leaky", steps: []string{"", "2", "enter", "G enter", "3", "4", "s f", "5 enter"}},
	{name: "report", on: "leaky/report.json", steps: []string{"", "4"}},
	{name: "directory", on: ".", steps: []string{"", "down enter", "esc"}},
	{name: "million", on: "million.jsonl", big: true, steps: []string{"", "G", "f tool:tool_36 errors enter", "enter", "q x / 499999 enter", "g"}},
}

// sizes are the terminals' columns and rows.
var sizes = [][2]int{{80, 24}, {120, 40}, {40, 12}}

// kept is the file of a script's screens at a size.
func (s *script) kept(size [2]int) string {
	return filepath.Join("testdata", "screens", fmt.Sprintf("%s-%dx%d.txt", s.name, size[0], size[1]))
}

// header stands above a step's screen.
func header(step string) string { return "---- " + strings.TrimSpace("keys: "+step) + "\n" }

// readKept reads the screens of a file, one for each step.
func readKept(t *testing.T, name string, steps []string) []string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	rest := string(data)
	var out []string
	for i, step := range steps {
		var ok bool
		if rest, ok = strings.CutPrefix(rest, header(step)); !ok {
			t.Fatalf("%s has other steps: -update writes it anew", name)
		}
		screen := rest
		if i+1 < len(steps) {
			if screen, _, ok = strings.Cut(rest, header(steps[i+1])); !ok {
				t.Fatalf("%s has other steps: -update writes it anew", name)
			}
		}
		rest = rest[len(screen):]
		out = append(out, screen)
	}
	return out
}

// trimmed are a screen's lines without what fills them.
func trimmed(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	return b.String()
}

// logWriter writes a log as taps do.
type logWriter struct {
	w   io.Writer
	seq int
}

func (l *logWriter) frame(dir, frame string) {
	l.seq++
	fmt.Fprintf(l.w, `{"schema_version": "0.1", "seq": %d, "ts": "2026-11-21T%02d:%02d:%02d.%06d+00:00", "dir": "%s", "frame": %s, "raw": null}`+"\n",
		l.seq, l.seq/3_600_000%24, l.seq/60_000%60, l.seq/1000%60, l.seq%1000*1000, dir, frame)
}

func (l *logWriter) raw(dir, raw string) {
	l.seq++
	fmt.Fprintf(l.w, `{"schema_version": "0.1", "seq": %d, "ts": "2026-11-21T10:32:07.000000+00:00", "dir": "%s", "frame": null, "raw": "%s"}`+"\n", l.seq, dir, raw)
}

func (l *logWriter) hello() {
	l.frame("c2s", `{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "client", "version": "1"}}}`)
	l.frame("s2c", `{"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "weather", "version": "1.2.0"}}}`)
	l.frame("c2s", `{"jsonrpc": "2.0", "method": "notifications/initialized"}`)
}

// call writes a call and its answer.
func (l *logWriter) call(id int, tool, arguments, result string) {
	l.frame("c2s", fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "%s", "arguments": %s}}`, id, tool, arguments))
	l.frame("s2c", fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, %s}`, id, result))
}

func textResult(text string, failed bool) string {
	return fmt.Sprintf(`"result": {"content": [{"type": "text", "text": "%s"}], "isError": %t}`, text, failed)
}

func sessionLog(l *logWriter) {
	l.hello()
	for i := range 12 {
		l.call(i+1, []string{"forecast", "history", "alerts"}[i%3], fmt.Sprintf(`{"city": "%s", "days": %d}`, []string{"Lisbon", "Oslo"}[i%2], i), textResult("sunny, 21 degrees", i == 7))
	}
	l.call(20, "unknown", `{}`, `"error": {"code": -32602, "message": "Unknown tool"}`)
	l.frame("s2c", `{"jsonrpc": "2.0", "id": 99, "result": {}}`)
	l.frame("c2s", `{"jsonrpc": "2.0", "id": 21, "method": "tools/call", "params": {"name": "slow", "arguments": {}}}`)
	l.call(30, "long", `{}`, textResult(strings.Repeat(`every line of a long text\n`, 400), false))
}

// hostileLog holds what would act on a terminal if it got there.
func hostileLog(l *logWriter) {
	l.frame("c2s", `{"jsonrpc": "2.0", "id": 1, "method": "\u001b]0;title\u0007\u001b[2J", "params": {"name": "x"}}`)
	l.frame("s2c", `{"jsonrpc": "2.0", "id": 1, "result": {"\u001b[31mkey": "\u001b[2J\u009b31m\u202egnirts\u202c", "marks": "a`+strings.Repeat("\u0300", 60)+`b", "wide": "`+strings.Repeat("漢字", 80)+`", "tags": "\udb40\udc41", "bell": "\u0007\b\r\n\t", "flag": "🇵🇹👩‍👩‍👧"}}`)
	l.frame("c2s", strings.Repeat("[", 400)+strings.Repeat("]", 400))
	l.raw("s2c", `\u001b[?1049l\u001b[H not JSON \u0000`)
	fmt.Fprintln(l.w, "this line is no frame \x1b[31m")
	l.frame("s2c", `{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "`+strings.Repeat("n", 5000)+`"}}`)
	l.frame("s2c", `"a text"`)
	l.frame("s2c", `[{"jsonrpc": "2.0", "id": 3, "method": "ping"}]`)
}

func millionLog(l *logWriter) {
	l.hello()
	for i := 1; l.seq < 1_000_000; i++ {
		l.call(i, fmt.Sprintf("tool_%d", i%37), fmt.Sprintf(`{"city": "Lisbon", "n": %d}`, i), textResult("sunny on Monday, 21 degrees", i%1000 == 0))
	}
}

func writeLog(t testing.TB, path string, write func(*logWriter)) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	b := bufio.NewWriterSize(f, 1<<20)
	write(&logWriter{w: b})
	if err := errors.Join(b.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// fixtures makes what the scripts show, in a directory.
func fixtures(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "runs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	writeLog(t, filepath.Join(dir, "weather.jsonl"), sessionLog)
	writeLog(t, filepath.Join(dir, "hostile.jsonl"), hostileLog)
	unpackRun(t, "local-ebpf-findings-leaky-2", filepath.Join(dir, "leaky"))
	for i, name := range []string{"hostile.jsonl", "leaky", "weather.jsonl"} {
		at := time.Date(2026, 11, 21, 10, i, 0, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// unpackRun unpacks a kept run with its report.
func unpackRun(t testing.TB, name, to string) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "testdata", "runs", name+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		below, ok := strings.CutPrefix(h.Name, "run/")
		if h.Name == "reports/report.json" {
			below, ok = "report.json", true
		}
		if !ok || h.Typeflag != tar.TypeReg || !filepath.IsLocal(below) {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, below)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, below), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
