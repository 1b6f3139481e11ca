package frames

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// built is the index of a log.
func built(log string) *Index {
	x := New(strings.NewReader(log))
	x.Build(context.Background(), false)
	return x
}

// line is a line of a log.
func line(seq int, dir, frame string) string {
	return fmt.Sprintf(`{"schema_version": "0.1", "seq": %d, "ts": "2026-11-21T10:32:07.%06d+00:00", "dir": "%s", "frame": %s, "raw": null}`+"\n", seq, seq, dir, frame)
}

func TestIndex(t *testing.T) {
	t.Parallel()
	log := line(1, "c2s", `{"jsonrpc": "2.0", "id": 1, "method": "initialize"}`) +
		line(2, "s2c", `{"jsonrpc": "2.0", "id": 1, "result": {"serverInfo": {"name": "weather", "version": "2"}}}`) +
		line(3, "c2s", `{"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"arguments": {}, "name": "read"}}`) +
		line(4, "s2c", `{"jsonrpc": "2.0", "id": "a", "method": "ping"}`) + // the server's own id
		line(5, "s2c", `{"jsonrpc": "2.0", "id": "a", "result": {"isError": true}}`) +
		line(6, "c2s", `{"jsonrpc": "2.0", "id": "a", "result": {}}`) +
		line(7, "s2c", `{"jsonrpc": "2.0", "id": 9, "error": {"code": 1}}`) +
		line(8, "s2c", `{"jsonrpc": "2.0", "method": "notifications/message"}`) +
		line(9, "s2c", `[1]`) + line(10, "s2c", `7`) + "no frame\n" +
		`{"seq": 12, "ts": "x", "dir": "c2s", "frame": null, "raw": "garbage", "gate": {"action": "blocked"}}` + "\n"
	x := built(log)
	want := []Frame{
		{Seq: 1, Kind: Request, Method: "initialize", Pair: 1},
		{Seq: 2, Kind: Answer, Method: "initialize", Pair: 0},
		{Seq: 3, Kind: Request, Method: "tools/call", Tool: "read", Pair: 4},
		{Seq: 4, Kind: Request, Method: "ping", Pair: 5},
		{Seq: 5, Kind: Answer, Method: "tools/call", Tool: "read", Pair: 2, Failed: true},
		{Seq: 6, Kind: Answer, Method: "ping", Pair: 3},
		{Seq: 7, Kind: Answer, Pair: -1, Failed: true},
		{Seq: 8, Kind: Notification, Method: "notifications/message", Pair: -1},
		{Seq: 9, Kind: Batch, Pair: -1},
		{Seq: 10, Kind: Other, Pair: -1},
		{Kind: Damaged, Pair: -1},
		{Seq: 12, Kind: NoJSON, Pair: -1, Blocked: true},
	}
	s := x.State()
	if s.Frames != len(want) || s.Calls != 1 || s.Failed != 2 || s.Blocked != 1 || s.Server != "weather 2" || !s.End || s.Bytes != int64(len(log)) {
		t.Fatalf("state %+v", s)
	}
	for i, w := range want {
		f := x.Frame(i)
		f.Time, f.Size, f.Dir = time.Time{}, 0, ""
		if f != w {
			t.Errorf("frame %d is %+v, want %+v", i, f, w)
		}
		text, err := x.Line(i, 1<<20, nil)
		if err != nil || !strings.Contains(log, string(text)+"\n") || len(text) == 0 {
			t.Errorf("line %d is %q, %v", i, text, err)
		}
	}
	if x.Find(12) != 11 || x.Find(3) != 2 || x.Find(11) != -1 || x.Find(0) != -1 {
		t.Error("a frame is not found by its number")
	}
	if m, err := x.Read(2); err != nil || string(m.Body) != "{}" {
		t.Errorf("the body of a call is %s, %v", m.Body, err)
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	x := built(line(1, "c2s", `{"id": 1, "method": "tools/call", "params": {"name": "Read"}}`) +
		line(2, "s2c", `{"id": 1, "error": {"message": "No Such File"}}`) +
		line(3, "c2s", `{"id": 2, "method": "tools/list"}`))
	for typed, want := range map[string]string{
		"": "[0 1 2]", "tool:read": "[0 1]", "method:LIST": "[2]", "dir:received": "[1]", "dir:c2s": "[0 2]", "errors": "[0 1]",
		"unanswered": "[2]", "no such": "[1]", "NO such x": "[]", "tool:read dir:sent": "[0]", "blocked": "[]", "tool:read tool:write": "[0 1]",
	} {
		f, err := ParseFilter(typed)
		if err != nil {
			t.Fatal(err)
		}
		found, next := x.Match(&f, 0)
		if got := fmt.Sprint(found); got != want || next != 3 {
			t.Errorf("%q chooses %s up to %d, want %s", typed, got, next, want)
		}
		if f.All() != (typed == "") {
			t.Errorf("%q chooses all: %t", typed, f.All())
		}
	}
	if _, err := ParseFilter("dir:up"); err == nil {
		t.Error("a direction that does not exist is taken")
	}
}

// TestFollow: frames that are written later are seen, and a line only when it is whole.
func TestFollow(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "log.jsonl")
	w, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	f, x, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		x.Build(ctx, true)
	}()
	until := func(bytes int64) State {
		for {
			select {
			case <-x.Changed():
			case <-ctx.Done():
				t.Fatal("the index does not grow")
			}
			if s := x.State(); s.Bytes >= bytes {
				return s
			}
		}
	}
	one, two := line(1, "c2s", `{"id": 1, "method": "ping"}`), line(2, "s2c", `{"id": 1, "result": {}}`)
	write := func(s string) {
		if _, err := io.WriteString(w, s); err != nil {
			t.Error(err)
		}
	}
	write(one + two[:20])
	if s := until(int64(len(one) + 20)); s.Frames != 1 {
		t.Fatalf("%d frames of a line and a half", s.Frames)
	}
	write(two[20:])
	until(int64(len(one + two)))
	if text, err := x.Line(1, 1000, nil); err != nil || string(text)+"\n" != two {
		t.Fatalf("the second line is %q, %v", text, err)
	}
	stop()
	<-done
}

// FuzzIndex: whatever the log is, each frame's line and its counterpart are there.
func FuzzIndex(f *testing.F) {
	f.Add([]byte(line(1, "c2s", `{"id": 1, "method": "tools/call", "params": {"name": "x"}}`) + line(2, "s2c", `{"id": 1, "result": {}}`)))
	f.Add([]byte("{\n[]\n\x00\"\\u"))
	f.Fuzz(func(t *testing.T, log []byte) {
		x := New(bytes.NewReader(log))
		x.Build(context.Background(), false)
		s := x.State()
		at := int64(0)
		for i := range s.Frames {
			fr := x.Frame(i)
			if fr.Pair >= s.Frames || fr.Pair >= 0 && x.Frame(fr.Pair).Pair != i {
				t.Fatalf("frame %d has the counterpart %d", i, fr.Pair)
			}
			text, err := x.Line(i, session.MaxLine, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(log[at:], text) {
				t.Fatalf("line %d is not in the log behind byte %d", i, at)
			}
			at += int64(len(text))
			_ = x.Preview(i, 40)
			if _, err := x.Read(i); err == nil && fr.Kind == Damaged {
				t.Fatalf("frame %d is damaged, and can be read", i)
			}
		}
		// The same as a Scanner says.
		scan, n := session.NewScanner(bytes.NewReader(log)), 0
		for {
			_, err := scan.Next()
			var bad *session.LineError
			if err != nil && !errors.As(err, &bad) {
				break
			}
			n++
		}
		if n != s.Frames {
			t.Fatalf("%d frames in the index, %d in the log", s.Frames, n)
		}
	})
}

// What coalmine spy saw stands between the frames: it has a time and no number, and pairs stay.
func TestWhatTheServerDid(t *testing.T) {
	t.Parallel()
	x := built(line(1, "c2s", `{"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "read"}}`) +
		`{"type":"glassport.effect","ts":"2026-11-21T10:32:07.5Z","pid":7,"comm":"x","calls":["read"],"effect":"secret","target":"/h/.netrc","text":"opened ~/.netrc"}` + "\n" +
		line(2, "s2c", `{"jsonrpc": "2.0", "id": "a", "result": {}}`) +
		`{"type":"glassport.finding","ts":"2026-11-21T10:32:07.5Z","pid":7,"comm":"x","rule":"CM101","severity":"high","message":"it opened ~/.netrc","fingerprint":"f"}` + "\n")
	s := x.State()
	if s.Frames != 4 || s.Effects != 1 || s.Findings != 1 || s.Failed != 0 || !s.End {
		t.Fatalf("%+v", s)
	}
	if f := x.Frame(1); f.Kind != Effect || f.Method != "secret" || f.Tool != "read" || f.Seq != 0 || f.Time.Nanosecond() != 5e8 {
		t.Errorf("%+v", f)
	}
	if x.Frame(0).Pair != 2 || x.Frame(2).Pair != 0 || x.Find(2) != 2 {
		t.Errorf("%+v, %+v", x.Frame(0), x.Frame(2))
	}
	if got := x.Preview(1, 100); got != `"opened ~/.netrc"` {
		t.Error(got)
	}
	for filter, want := range map[string]string{"effects": "[1 3]", "errors": "[3]", "tool:read": "[0 1 2]", "netrc": "[1 3]"} {
		f, err := ParseFilter(filter)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := x.Match(&f, 0); fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", filter, got, want)
		}
	}
}
