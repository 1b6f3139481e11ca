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

// TestScannerReadsAsReadFrames holds the fast reader against the plain one.
func TestScannerReadsAsReadFrames(t *testing.T) {
	data, err := os.ReadFile("testdata/glassport-0.7.1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	sc := NewScanner(bytes.NewReader(data))
	n := 0
	for want, err := range ReadFrames(bytes.NewReader(data), nil) {
		if err != nil {
			t.Fatal(err)
		}
		got, err := sc.Next()
		if err != nil {
			t.Fatal(err)
		}
		n++
		if !got.TS.Equal(want.TS) {
			t.Errorf("seq %d: time %v, want %v", want.Seq, got.TS, want.TS)
		}
		g := *got
		g.TS, want.TS = time.Time{}, time.Time{}
		if diff := cmp.Diff(want, g); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := sc.Next(); !errors.Is(err, io.EOF) || n == 0 || sc.Metrics == nil || sc.Metrics.FramesSeen == 0 || sc.Torn {
		t.Errorf("%d frames, then %v, metrics %+v", n, err, sc.Metrics)
	}
}

func TestScannerForms(t *testing.T) {
	const head = `{"schema_version": "0.1", "seq": 3, "ts": "2026-11-21T10:32:07.054353+00:00", "dir": `
	for _, c := range []struct{ name, line, message, raw, err string }{
		{"canonical", head + `"c2s", "frame": {"id": 1}, "raw": null}`, `{"id": 1}`, "", ""},
		{"compact", `{"seq":3,"ts":"2026-11-21T10:32:07.054353Z","dir":"s2c","frame":{"id":1},"raw":null}`, `{"id":1}`, "", ""},
		{"raw", head + `"s2c", "frame": null, "raw": "x\u001b[1m"}`, "", "x\x1b[1m", ""},
		{"gate", head + `"c2s", "frame": {}, "raw": null, "gate": {"action": "blocked"}}`, `{}`, "", ""},
		{"a frame that ends early", head + `"c2s", "frame": {}}, "raw": null}`, "", "", "data after"},
		{"members beside the frame", head + `"c2s", "frame": {}, "frame": [1], "raw": null}`, `[1]`, "", ""},
		{"direction", head + `"up", "frame": {}, "raw": null}`, "", "", "neither"},
		{"nothing", head + `"c2s"}`, "", "", "neither frame nor raw"},
		{"null", head + `"c2s", "frame": null, "raw": null}`, "null", "", ""},
		{"no JSON", "banner", "", "", "unexpected"},
		{"too deep", head + `"c2s", "frame": ` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `, "raw": null}`, "", "", "nested"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sc := NewScanner(strings.NewReader(c.line + "\n" + head + `"c2s", "frame": 7, "raw": null}` + "\n"))
			f, err := sc.Next()
			if c.err != "" {
				var le *LineError
				if !errors.As(err, &le) || le.Line != 1 || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
			} else if err != nil || string(f.Message) != c.message || string(f.Raw) != c.raw {
				t.Errorf("%+v, %v", f, err)
			}
			if f, err = sc.Next(); err != nil || string(f.Message) != "7" || sc.Line() != 2 {
				t.Errorf("the line behind it: %+v, %v", f, err)
			}
		})
	}
}

func TestScannerTornAndLong(t *testing.T) {
	sc := NewScanner(strings.NewReader(`{"seq": 1, "dir": "c2s", "frame": {"id"`))
	if _, err := sc.Next(); !errors.Is(err, io.EOF) || !sc.Torn {
		t.Errorf("torn: %v, %v", err, sc.Torn)
	}
	// A line of 1 GiB passes in bounded memory.
	long := io.MultiReader(io.LimitReader(zeros{}, 1<<30), strings.NewReader("\n"+`{"seq": 2, "dir": "c2s", "frame": 1}`+"\n"))
	sc = NewScanner(long)
	if _, err := sc.Next(); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("a long line: %v", err)
	}
	if f, err := sc.Next(); err != nil || f.Seq != 2 {
		t.Errorf("behind a long line: %+v, %v", f, err)
	}
	if cap(sc.lines.buf) > MaxLine+1<<20 {
		t.Errorf("%d bytes are kept", cap(sc.lines.buf))
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func FuzzScanner(f *testing.F) {
	f.Add([]byte(`{"schema_version": "0.1", "seq": 3, "ts": "2026-11-21T10:32:07.054353+00:00", "dir": "c2s", "frame": {"id": 1}, "raw": null}` + "\n"))
	f.Add([]byte("{\"type\": \"glassport.metrics\", \"frames_seen\": 3}\n\xff\n{"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var want []Frame
		for fr, err := range ReadFrames(bytes.NewReader(in), nil) {
			if err == nil {
				want = append(want, fr)
			}
		}
		sc := NewScanner(bytes.NewReader(in))
		got := map[string]int{}
		for {
			fr, err := sc.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				got[string(fr.Dir)+string(fr.Bytes())]++
			}
		}
		// Every frame of the plain reader is one of this, but for what is nested too deep.
		for _, fr := range want {
			if got[string(fr.Dir)+string(fr.Bytes())] == 0 && bytes.Count(in, []byte("[")) < 100 && bytes.Count(in, []byte("{")) < 100 {
				t.Fatalf("%q lost of %q", fr.Bytes(), in)
			}
		}
	})
}
