package session

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What a server did stands between the frames of its log, and is none of them.
func TestDidLines(t *testing.T) {
	t.Parallel()
	l := wireLog(t, WireOptions{Dir: t.TempDir(), What: "x"})
	at := time.Date(2026, 6, 9, 18, 39, 29, 5000, time.UTC)
	effect := Did{Type: DidEffect, TS: at, PID: 7, Comm: "node", Calls: []string{"search"}, Effect: "secret", Target: "~/.netrc", Text: "opened ~/.netrc"}
	found := Did{Type: DidFinding, TS: at, PID: 7, Comm: "node", Rule: "CM101", Severity: "high", Message: "“search” opened ~/.netrc", Fingerprint: "f"}
	l.Did(&effect)
	l.Frame(WireFrame{Dir: C2S, At: at, Raw: []byte(`{"id":1}`)})
	l.Did(&found)
	name := l.Name()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l.Did(&effect) // too late
	if l.Dropped() != 1 {
		t.Errorf("%d records were dropped, want 1", l.Dropped())
	}
	log, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(log), `"frames_seen": 1, `) || !strings.Contains(string(log), `"seq_range": [1, 1]`) {
		t.Errorf("the metrics count other than frames: %s", log)
	}
	if kept, err := CheckWireLog(bytes.NewReader(log)); kept != IntegrityKept || err != nil {
		t.Errorf("%s, %v", kept, err)
	}
	sc := NewScanner(bytes.NewReader(log))
	var got []Did
	sc.Did = func(d *Did) { got = append(got, *d) }
	if f, err := sc.Next(); err != nil || f.Seq != 1 {
		t.Fatalf("%+v, %v", f, err)
	}
	if f, err := sc.Next(); !errors.Is(err, io.EOF) {
		t.Fatalf("another frame: %+v, %v", f, err)
	}
	effect.Line, found.Line = 1, 3
	if diff := cmp.Diff([]Did{effect, found}, got); diff != "" {
		t.Error(diff)
	}
}

func TestDidThatCannotBeRead(t *testing.T) {
	t.Parallel()
	sc := NewScanner(strings.NewReader(`{"type": "glassport.effect", "pid": "x"}` + "\n" + `{"type": "glassport.other"}` + "\n"))
	sc.Did = func(d *Did) { t.Errorf("%+v", d) }
	if f, err := sc.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("%+v, %v", f, err)
	}
}
