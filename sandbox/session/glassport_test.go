package session

import (
	"bytes"
	"os"
	"testing"
	"time"
)

// TestGlassportsOwnLog reads a log that glassport 0.7.1 wrote of a server in
// Python and writes it again: every frame's line comes out byte for byte.
func TestGlassportsOwnLog(t *testing.T) {
	want, err := os.ReadFile("testdata/glassport-0.7.1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	dir := root(t)
	var l *Log
	var first time.Time
	for f, err := range ReadFrames(bytes.NewReader(want), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if l == nil {
			first = f.TS
			if l, err = (Output{Root: dir}).Create(Header{Started: first}); err != nil {
				t.Fatal(err)
			}
		}
		l.Frame(f.Dir, f.TS.Sub(first), f.Bytes())
	}
	closeLog(t, l)
	got, err := dir.ReadFile(FramesFile)
	if err != nil {
		t.Fatal(err)
	}
	a, b := bytes.SplitAfter(want, []byte("\n")), bytes.SplitAfter(got, []byte("\n"))
	if len(a) != 10 || len(b) != len(a) {
		t.Fatalf("%d lines became %d", len(a), len(b))
	}
	for i := range len(a) - 2 { // the metrics tell of each log's own end
		if !bytes.Equal(a[i], b[i]) {
			t.Errorf("line %d:\n%s%s", i+1, a[i], b[i])
		}
	}
}
