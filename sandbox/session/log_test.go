package session

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var started = time.Date(2026, 6, 9, 18, 39, 29, 0, time.UTC)

func header() Header {
	return Header{RunID: "r1", Started: started, Clock0: 5 * time.Second, Seed: 42, Command: []string{"node", "server.js"}, Target: "server",
		Sandbox: "local", Tracer: "strace", Network: "sinkhole", User: "dev", Home: "/home/dev", Workspaces: []string{"/home/dev/w"}, Version: "v0",
		Canaries: []canaries.Canary{{ID: "ssh-key", Kind: "ssh", Value: "<s3cr&t>", Path: "/home/dev/.ssh/id_rsa"}}}
}

func root(t testing.TB) *os.Root {
	t.Helper()
	r, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func newLog(t testing.TB, dir *os.Root) *Log {
	t.Helper()
	l, err := (Output{Root: dir}).Create(header())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func closeLog(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// contents reads a run back; errs are the lines that could not be read.
func contents(t testing.TB, dir *os.Root) (r *Reader, frames []Frame, lines []Line, errs []error) {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range r.Frames() {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		frames = append(frames, f)
	}
	for l, err := range r.Trace() {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		lines = append(lines, l)
	}
	return r, frames, lines, errs
}

func golden(t *testing.T, dir *os.Root, name, file string) {
	t.Helper()
	got, err := dir.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-update rewrites it):\n%s", path, diff)
	}
}

func TestGolden(t *testing.T) {
	dir := root(t)
	l := newLog(t, dir)
	at := func(us int) time.Duration { return 5*time.Second + time.Duration(us)*time.Microsecond }
	l.Mark(Mark{Time: at(0), Kind: MarkPhase, Phase: "start"})
	l.Frame(C2S, at(0), []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`))
	l.Record(&trace.Record{Seq: 1, Time: at(10), Tid: 7, Call: "openat", Op: trace.OpOpen, Path: "/home/dev/.ssh/id_rsa", Given: "../.ssh/id_rsa", Real: true, Flags: "O_RDONLY", FD: 3, Ret: 3})
	l.Record(&trace.Record{Seq: 2, Time: at(11), Tid: 7, Call: "connect", Op: trace.OpConnect, Addr: &trace.Addr{Family: "inet", Host: "93.184.216.34", Port: 80}, FD: 4, Ret: -1, Err: "ENETUNREACH"})
	l.Frame(S2C, at(1500), []byte("{ \"jsonrpc\" : \"2.0\", \"id\":1,\t\"result\":{\"text\":\"\\u00e9 \\ud83d\\ude00 \\/ \\u2028 \\ud800 \\u001B<&>\",\"n\":[1.0,-0,1E5,10000000000000000000000],\"e\":{},\"l\":[]}}\r"))
	l.Frame(S2C, at(1501), []byte("Server running \"on\" stdio\x07"))
	l.Frame(S2C, at(1502), []byte("{\"broken\":\"\xff\xe2\x82a\"}"))
	l.Frame(S2C, at(1503), nil)
	l.Frame(S2C, at(1504), []byte("null"))
	l.Mark(Mark{Time: at(1600), Kind: MarkEvent, Event: &Event{Stamp: 1, Body: EventExit{}}})
	l.Mark(Mark{Time: at(1700), Kind: MarkEvent, Unread: []byte(`no JSON`)})
	closeLog(t, l)
	golden(t, dir, FramesFile, "session.jsonl")
	golden(t, dir, TraceFile, "trace.jsonl")

	r, frames, lines, errs := contents(t, dir)
	if len(frames) != 6 || len(lines) != 14 || len(errs) != 0 || r.Torn() {
		t.Fatalf("%d frames, %d lines, errors %v, torn %v", len(frames), len(lines), errs, r.Torn())
	}
	if diff := cmp.Diff(header(), r.Header, cmpopts.IgnoreFields(Header{}, "Schema")); diff != "" {
		t.Error(diff)
	}
	if f := frames[1]; f.Time != at(1500) || !f.TS.Equal(started.Add(1500*time.Microsecond)) || f.Dir != S2C || f.Seq != 2 {
		t.Errorf("frame 2 is %+v", f)
	}
	if got := string(frames[5].Bytes()); got != "null" {
		t.Errorf("the frame null is %q", got)
	}
}

func TestFilesArePrivate(t *testing.T) {
	dir := root(t)
	closeLog(t, newLog(t, dir))
	closeLog(t, newLog(t, dir)) // in place of the first
	for _, name := range []string{FramesFile, TraceFile} {
		info, err := dir.Stat(name)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
}

func TestLinksAreRefused(t *testing.T) {
	for _, name := range []string{FramesFile, TraceFile} {
		dir := root(t)
		if err := dir.WriteFile("victim", []byte("keep"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := dir.Symlink("victim", name); err != nil {
			t.Fatal(err)
		}
		if _, err := (Output{Root: dir}).Create(header()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("a link for %s: %v", name, err)
		}
		if got, _ := dir.ReadFile("victim"); string(got) != "keep" {
			t.Errorf("the link's target holds %q", got)
		}
	}
	dir := root(t)
	closeLog(t, newLog(t, dir))
	for _, name := range []string{FramesFile, TraceFile} {
		if err := errors.Join(dir.Rename(name, "real-"+name), dir.Symlink("real-"+name, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(dir); err == nil {
		t.Error("a link was read")
	}
	r := &Reader{dir: dir}
	for _, err := range r.Frames() {
		if err == nil {
			t.Error("a link was read")
		}
	}
}

func TestOldHardLinkKeepsItsContent(t *testing.T) {
	dir := root(t)
	if err := errors.Join(dir.WriteFile("victim", []byte("keep"), 0o600), dir.Link("victim", FramesFile)); err != nil {
		t.Fatal(err)
	}
	l := newLog(t, dir)
	l.Frame(C2S, 0, []byte("{}"))
	closeLog(t, l)
	if got, _ := dir.ReadFile("victim"); string(got) != "keep" {
		t.Errorf("the old file holds %q", got)
	}
}

func TestNothingIsLeftUnwritten(t *testing.T) {
	dir := root(t)
	l := newLog(t, dir)
	defer l.Close()
	l.Frame(C2S, 6*time.Second, []byte(`{"id":1}`))
	l.Mark(Mark{Kind: MarkCall, Call: 1, Tool: "t"})
	got, err := dir.ReadFile(FramesFile)
	if err != nil || !strings.HasSuffix(string(got), "\"raw\": null}\n") {
		t.Errorf("on disk after a call's mark: %q %v", got, err)
	}
	l.Record(&trace.Record{Seq: 1, Call: "openat"})
	deadline := time.Now().Add(10 * time.Second)
	for {
		if got, _ := dir.ReadFile(TraceFile); strings.Contains(string(got), "openat") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a record never reached the disk")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestLimit(t *testing.T) {
	dir := root(t)
	l := newLog(t, dir)
	const limit = 64 << 10
	l.SetLimit(limit)
	for i := range 2000 {
		l.Record(&trace.Record{Seq: uint64(i + 1), Call: "openat", Path: "/a/long/enough/path/to/fill/it"})
	}
	for range 1000 {
		l.Frame(S2C, 6*time.Second, []byte(`{"jsonrpc":"2.0","method":"flood"}`))
	}
	l.Mark(Mark{Kind: MarkReturn, Call: 1, What: "ok"})
	if seq := l.Frame(C2S, 7*time.Second, []byte("{}")); seq != 1001 {
		t.Errorf("seq %d of a frame that was not kept", seq)
	}
	lost := l.Lost()
	closeLog(t, l)
	_, frames, lines, errs := contents(t, dir)
	var records, marks, told int64
	for _, line := range lines {
		switch {
		case line.Record != nil:
			records++
		case line.Mark.Kind == MarkLoss:
			told += line.Mark.N
		case line.Mark.Kind == MarkReturn:
			marks++
		}
	}
	if len(errs) > 0 || marks != 1 || records == 0 || len(frames) == 0 {
		t.Errorf("%d records, %d frames, %d marks, errors %v", records, len(frames), marks, errs)
	}
	if unkept := 2000 - records + 1001 - int64(len(frames)); told != unkept || lost != unkept {
		t.Errorf("%d lost, marks say %d, Lost %d", unkept, told, lost)
	}
	var size int64
	for _, name := range []string{FramesFile, TraceFile} {
		info, err := dir.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > limit+2048 {
		t.Errorf("%d bytes", size)
	}
}

func TestErrorIsKeptNotRaised(t *testing.T) {
	dir := root(t)
	l := newLog(t, dir)
	l.Frame(C2S, 6*time.Second, []byte("{}"))
	l.Flush()
	if err := l.trace.f.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		l.Mark(Mark{Kind: MarkPhase, Phase: "call"})
		if seq := l.Frame(C2S, 6*time.Second, []byte("{}")); seq == 0 {
			t.Error("no seq")
		}
	}
	if err := l.Err(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Err is %v", err)
	}
	if err := l.Close(); !errors.Is(err, fs.ErrClosed) || l.Close() == nil {
		t.Errorf("Close is %v", err)
	}
	if l.Lost() == 0 {
		t.Error("nothing was counted as lost")
	}
}

func TestAfterClose(t *testing.T) {
	dir := root(t)
	l := newLog(t, dir)
	closeLog(t, l)
	before, _ := dir.ReadFile(FramesFile)
	l.Frame(C2S, 0, []byte("{}"))
	l.Record(&trace.Record{})
	l.Mark(Mark{Kind: MarkPhase})
	l.Flush()
	closeLog(t, l)
	if after, _ := dir.ReadFile(FramesFile); string(after) != string(before) {
		t.Errorf("written after Close: %q", after)
	}
}

func TestManyWriters(t *testing.T) {
	dir := root(t)
	l := newLog(t, dir)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				l.Frame(S2C, 6*time.Second, fmt.Appendf(nil, `{"w":%d,"i":%d}`, w, i))
				l.Record(&trace.Record{Seq: uint64(i)})
				l.Mark(Mark{Kind: MarkStderr, Text: strings.Repeat("x", 100)})
			}
		})
	}
	wg.Wait()
	closeLog(t, l)
	_, frames, lines, errs := contents(t, dir)
	if len(frames) != 1600 || len(lines) != 3*1600 || len(errs) > 0 {
		t.Fatalf("%d frames, %d lines, errors %v", len(frames), len(lines), errs)
	}
	for i, f := range frames {
		if f.Seq != uint64(i+1) {
			t.Fatalf("frame %d has seq %d", i, f.Seq)
		}
	}
}

func TestHostileSizes(t *testing.T) {
	dir := root(t)
	l := newLog(t, dir)
	l.Frame(S2C, 6*time.Second, []byte(strings.Repeat(" ", 40<<20)+"{}"))
	l.Frame(S2C, 6*time.Second, []byte(strings.Repeat("\x01", 16<<20)))
	l.Frame(S2C, 6*time.Second, []byte("["+strings.Repeat("[", 600)+strings.Repeat("]", 601)))
	l.Mark(Mark{Kind: MarkStderr, Text: strings.Repeat("é", 1<<20)})
	l.Mark(Mark{Kind: MarkEvent, Unread: []byte(`"` + strings.Repeat("x", 1<<20) + `"`)})
	l.Mark(Mark{Kind: MarkEvent, Event: &Event{Body: EventNote{Reason: strings.Repeat("x", 1<<20)}}})
	l.Frame(S2C, 6*time.Second, []byte("{}"))
	closeLog(t, l)
	r, frames, lines, errs := contents(t, dir)
	if len(errs) > 0 || len(frames) != 3 || r.Torn() {
		t.Fatalf("%d frames, errors %v", len(frames), errs)
	}
	if len(frames[0].Raw) != maxText || frames[1].Raw == nil || frames[2].Message == nil || frames[2].Seq != 4 {
		t.Errorf("frames of %d, %d, %d bytes", len(frames[0].Raw), len(frames[1].Raw), len(frames[2].Message))
	}
	for _, line := range lines {
		if m := line.Mark; m != nil && len(m.Text) > 2*maxText {
			t.Errorf("a %s mark of %d bytes", m.Kind, len(m.Text))
		}
	}
}
