package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

const traceHeader = `{"type":"header","schema":"coalmine/trace/v1","started":"2026-06-09T18:39:29Z"}` + "\n"

func files(t testing.TB, frames, lines string) *os.Root {
	t.Helper()
	dir := root(t)
	if err := dir.WriteFile(FramesFile, []byte(frames), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dir.WriteFile(TraceFile, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestOpenRefuses(t *testing.T) {
	for name, lines := range map[string]string{
		"empty":        "",
		"no JSON":      "banner\n",
		"no header":    `{"type":"mark","t":1,"kind":"phase"}` + "\n",
		"other schema": strings.Replace(traceHeader, "/v1", "/v9", 1),
		"torn header":  traceHeader[:40],
	} {
		if _, err := Open(files(t, "", lines)); err == nil || !strings.Contains(err.Error(), TraceFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(root(t)); err == nil {
		t.Error("no files at all")
	}
}

func TestKilledRun(t *testing.T) {
	dir := root(t)
	l := newLog(t, dir)
	for i := range 20 {
		l.Frame(S2C, 6*time.Second, []byte(`{"jsonrpc":"2.0","id":1,"result":{"text":"é"}}`))
		l.Record(&trace.Record{Seq: uint64(i + 1), Call: "openat", Path: "/x"})
	}
	closeLog(t, l)
	frames, _ := dir.ReadFile(FramesFile)
	lines, _ := dir.ReadFile(TraceFile)
	first := bytes.IndexByte(lines, '\n') + 1
	for cut := range 200 {
		part, partLines := frames[:len(frames)-cut*7], lines[:max(first, len(lines)-cut*11)]
		r, got, gotLines, errs := contents(t, files(t, string(part), string(partLines)))
		if len(errs) > 0 {
			t.Fatalf("cut %d: %v", cut, errs)
		}
		// The metrics line is no frame, the header no line.
		if whole := min(20, bytes.Count(part, []byte("}\n"))); len(got) < whole-1 || len(got) > whole+1 {
			t.Fatalf("cut %d: %d frames of %d", cut, len(got), whole)
		}
		if whole := bytes.Count(partLines, []byte("\n")) - 1; len(gotLines) < whole {
			t.Fatalf("cut %d: %d lines of %d", cut, len(gotLines), whole)
		}
		if torn := tornAt(part) || tornAt(partLines); r.Torn() != torn {
			t.Fatalf("cut %d: torn is %v", cut, r.Torn())
		}
	}
}

func tornAt(p []byte) bool {
	last := p[bytes.LastIndexByte(p, '\n')+1:]
	return len(last) > 0 && !json.Valid(last)
}

func TestBadLinesAreNamedAndPassedOver(t *testing.T) {
	good := `{"schema_version": "0.1", "seq": 3, "ts": "2026-06-09T18:39:29Z", "dir": "c2s", "frame": {"id": 1}, "raw": null}` + "\n"
	frames := "garbage\n" + `{"dir":"up","ts":"2026-06-09T18:39:29Z","frame":1}` + "\n" + `{"dir":"c2s","ts":"yesterday","frame":1}` + "\n" +
		`{"dir":"c2s","ts":"2026-06-09T18:39:29Z"}` + "\n" + `{"dir":"c2s","seq":"x"}` + "\n\n" + good + "[1]\n" + `{"type":"glassport.header"}` + "\n"
	lines := traceHeader + "{\n" + `{"type":"other"}` + "\n" + `{"type":"record","seq":-1}` + "\n" + `{"seq":7,"type":"record","call":"openat"}` + "\n" + `{"type":"mark","kind":7}` + "\n"
	r, got, gotLines, errs := contents(t, files(t, frames, lines))
	if len(got) != 1 || got[0].Seq != 3 || len(gotLines) != 1 || gotLines[0].Record.Seq != 7 || r.Torn() {
		t.Errorf("frames %+v, lines %+v", got, gotLines)
	}
	for i, want := range []string{"session.jsonl: line 1:", "session.jsonl: line 2: dir", "session.jsonl: line 3: ts", "session.jsonl: line 4: neither", "session.jsonl: line 5:", "session.jsonl: line 8:",
		"trace.jsonl: line 2:", "trace.jsonl: line 3: type", "trace.jsonl: line 4:", "trace.jsonl: line 6:"} {
		if i >= len(errs) || !strings.HasPrefix(errs[i].Error(), want) {
			t.Fatalf("errors %v, want one with %q", errs, want)
		}
	}
}

func TestReadFrames(t *testing.T) {
	log := `{"type": "glassport.header", "schema_version": "0.2"}
{"schema_version": "0.2", "seq": 1, "ts": "2026-06-09T18:39:29.123456+00:00", "dir": "c2s", "frame": {"id": 1}, "raw": null, "gate": {"action": "blocked"}, "sse_meta": {"event": "message"}}
{"schema_version": "0.2", "seq": 2, "ts": "2026-06-09T18:39:30+00:00", "dir": "s2c", "frame": null, "raw": "banner"}
{"schema_version": "0.2", "se`
	var torn bool
	var got []Frame
	for f, err := range ReadFrames(strings.NewReader(log), &torn) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, f)
	}
	if !torn || len(got) != 2 || string(got[0].Gate) != `{"action": "blocked"}` || got[0].SSE == nil || got[0].TS.Nanosecond() != 123456000 || string(got[1].Bytes()) != "banner" {
		t.Errorf("torn %v, frames %+v", torn, got)
	}
}

func TestStopsWhenAsked(t *testing.T) {
	line := `{"seq": 1, "ts": "2026-06-09T18:39:29Z", "dir": "c2s", "frame": {}, "raw": null}` + "\n"
	for range ReadFrames(strings.NewReader(line+"garbage\n"+line), nil) {
		break
	}
	n := 0
	for _, err := range ReadFrames(strings.NewReader(line+"garbage\n"+line), nil) {
		if n++; err != nil {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d lines", n)
	}
}

func TestLongLineIsPassedOver(t *testing.T) {
	l := newLines(strings.NewReader(strings.Repeat("x", MaxLine+1) + "\nok\n" + strings.Repeat("y", MaxLine+1)))
	if _, err := l.next(); !errors.Is(err, errLong) {
		t.Fatal(err)
	}
	if line, err := l.next(); err != nil || string(line) != "ok" {
		t.Fatalf("%q %v", line, err)
	}
	if _, err := l.next(); !errors.Is(err, errLong) {
		t.Fatal(err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"schema_version": "0.1", "seq": 3, "ts": "2026-06-09T18:39:29Z", "dir": "c2s", "frame": {"id": 1}, "raw": null}`), []byte(`{"type":"record","seq":1}`))
	f.Add([]byte("garbage\n{}"), []byte(`{"type":"mark","t":1,"kind":"event","event":{}}`+"\n{"))
	f.Fuzz(func(t *testing.T, frames, lines []byte) {
		_, got, gotLines, _ := contents(t, files(t, string(frames), traceHeader+string(lines)))
		for _, f := range got {
			if f.Dir != C2S && f.Dir != S2C {
				t.Fatalf("frame %+v", f)
			}
		}
		for _, l := range gotLines {
			if (l.Record == nil) == (l.Mark == nil) {
				t.Fatalf("line %+v", l)
			}
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	l := newLog(b, root(b))
	l.SetLimit(1 << 40)
	r := &trace.Record{Seq: 1, Time: 12345678901, Tid: 77, Call: "openat", Op: trace.OpOpen, Path: "/usr/lib/node_modules/x/index.js", Real: true, Flags: "O_RDONLY|O_CLOEXEC", FD: 17, Ret: 17}
	for b.Loop() {
		l.Record(r)
	}
	b.StopTimer()
	closeLog(b, l)
}

func BenchmarkFrame(b *testing.B) {
	for name, size := range map[string]int{"100B": 30, "1MB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			l := newLog(b, root(b))
			l.SetLimit(1 << 30)
			line := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", size) + `"}]}}`)
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				l.Frame(S2C, 6*time.Second, line)
			}
			b.StopTimer()
			closeLog(b, l)
		})
	}
}

func BenchmarkReadRecords(b *testing.B) {
	dir := root(b)
	l := newLog(b, dir)
	for i := range 10_000 {
		l.Record(&trace.Record{Seq: uint64(i + 1), Call: "openat", Op: trace.OpOpen, Path: "/usr/lib/node_modules/x/index.js", Real: true, Flags: "O_RDONLY|O_CLOEXEC", FD: 17, Ret: 17})
	}
	closeLog(b, l)
	for b.Loop() {
		r, err := Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range r.Trace() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
