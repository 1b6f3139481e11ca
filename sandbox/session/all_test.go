package session

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// both is what All yields of two files, a word for each entry.
func both(t testing.TB, frames, lines string) (out []string, r *Reader) {
	t.Helper()
	r, err := Open(files(t, "", traceHeader+lines))
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range r.All(NewScanner(strings.NewReader(frames))) {
		word := ""
		switch {
		case err != nil:
			word = "error"
		case e.Damage != nil:
			word = fmt.Sprintf("damage in line %d", e.Damage.Line)
		case e.Record != nil:
			word = "record"
		case e.Mark != nil:
			word = string(e.Mark.Kind)
		}
		if e.Frame != nil {
			word += fmt.Sprintf(", frame %d", e.Frame.Seq)
		}
		out = append(out, strings.TrimPrefix(word, ", "))
	}
	return out, r
}

func frameLine(seq int) string {
	return fmt.Sprintf(`{"schema_version": "0.1", "seq": %d, "ts": "2026-06-09T18:39:29+00:00", "dir": "c2s", "frame": {}, "raw": null}`+"\n", seq)
}

func frameMark(seq int) string {
	return fmt.Sprintf(`{"type":"mark","t":1,"kind":"frame","seq":%d}`+"\n", seq)
}

func TestAll(t *testing.T) {
	const record, call = `{"type":"record","seq":1}` + "\n", `{"type":"mark","kind":"call"}` + "\n"
	for _, tt := range []struct {
		name, frames, lines string
		want                []string
		torn                bool
	}{
		{"nothing", "", "", nil, false},
		{"each with its mark", frameLine(1) + frameLine(2), frameMark(1) + record + call + frameMark(2), []string{"frame, frame 1", "record", "call", "frame, frame 2"}, false},
		{"a mark is missing", frameLine(1) + frameLine(2) + frameLine(3), call + frameMark(2), []string{"call", "frame 1", "frame, frame 2", "frame 3"}, false},
		{"a frame is missing", frameLine(2), frameMark(1) + record + frameMark(2) + frameMark(3), []string{"frame", "record", "frame, frame 2", "frame"}, false},
		{"damage", "x\n" + frameLine(2) + "y\n", record + frameMark(2), []string{"record", "damage in line 1", "frame, frame 2", "damage in line 3"}, false},
		{"no time", `{"seq":1,"ts":"yesterday","dir":"c2s","frame":{}}` + "\n", frameMark(1), []string{"damage in line 1", "frame"}, false},
		{"a bad line of the trace", frameLine(1), "{\n" + frameMark(1), []string{"error", "frame, frame 1"}, false},
		{"out of order", frameLine(2) + frameLine(1), frameMark(1) + frameMark(2), []string{"frame", "frame, frame 2", "frame 1"}, false},
		{"torn", frameLine(1) + `{"seq":2,`, frameMark(1) + frameMark(2), []string{"frame, frame 1", "frame"}, true},
		{"the metrics", frameLine(1) + `{"type":"glassport.metrics"}` + "\n", frameMark(1), []string{"frame, frame 1"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, r := both(t, tt.frames, tt.lines)
			if diff := cmp.Diff(tt.want, got); diff != "" || r.Torn() != tt.torn {
				t.Errorf("%s\ntorn %v", diff, r.Torn())
			}
		})
	}
}

func TestAllWithoutFrames(t *testing.T) {
	r, err := Open(files(t, "", traceHeader+frameMark(1)))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for e, err := range r.All(nil) {
		if n++; err != nil || e.Mark == nil || e.Frame != nil {
			t.Errorf("%+v, %v", e, err)
		}
	}
	if n != 1 {
		t.Errorf("%d entries", n)
	}
}

// A file that fails ends with damage, and the trace is read on.
func TestAllWhereFramesFail(t *testing.T) {
	r, err := Open(files(t, "", traceHeader+frameMark(1)+frameMark(2)))
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the disk has gone")
	var damage error
	n := 0
	for e := range r.All(NewScanner(iotest.ErrReader(broken))) {
		n++
		if e.Damage != nil {
			damage = e.Damage
		}
	}
	if n != 3 || !errors.Is(damage, broken) {
		t.Errorf("%d entries, %v", n, damage)
	}
}

// Whatever of both files is missing, each frame and each line comes once, in the
// order of its file, and a frame never comes with another's mark.
func TestAllLosesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var frames, lines strings.Builder
		nFrames, nLines := 0, 0
		for seq := range rapid.IntRange(0, 12).Draw(rt, "frames") {
			if rapid.Bool().Draw(rt, "has a frame") {
				frames.WriteString(frameLine(seq + 1))
				nFrames++
			}
			if rapid.Bool().Draw(rt, "has a mark") {
				lines.WriteString(frameMark(seq + 1))
				nLines++
			}
		}
		r, err := Open(files(t, "", traceHeader+lines.String()))
		if err != nil {
			rt.Fatal(err)
		}
		lastFrame, lastMark := uint64(0), uint64(0)
		for e, err := range r.All(NewScanner(strings.NewReader(frames.String()))) {
			if err != nil || e.Damage != nil || e.Mark == nil && e.Frame == nil {
				rt.Fatalf("%+v, %v", e, err)
			}
			if e.Mark != nil {
				if nLines--; e.Mark.Seq <= lastMark {
					rt.Fatalf("the mark of %d behind that of %d", e.Mark.Seq, lastMark)
				}
				lastMark = e.Mark.Seq
			}
			if e.Frame != nil {
				if nFrames--; e.Frame.Seq <= lastFrame || e.Mark != nil && e.Mark.Seq != e.Frame.Seq {
					rt.Fatalf("the frame %d behind %d, with %+v", e.Frame.Seq, lastFrame, e.Mark)
				}
				lastFrame = e.Frame.Seq
			}
		}
		if nFrames != 0 || nLines != 0 {
			rt.Fatalf("%d frames and %d lines too few", nFrames, nLines)
		}
	})
}
