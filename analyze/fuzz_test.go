package analyze_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// files are the two files of a log in which most things happen.
func files(t testing.TB) (frames, lines []byte) {
	l := analyzetest.New(t, func(h *session.Header) { h.Canaries = h.Canaries[:2] })
	l.Begin(analyzetest.Note, quiet)
	l.Call("format_note", `{"text":"x"}`, func() {
		l.Read(sshKey)
		l.Connect("93.184.216.34", 80, "ENETUNREACH")
		l.Record(trace.Record{Op: trace.OpFork, Child: 200})
		l.Record(trace.Record{Op: trace.OpExec, Tid: 200, Path: "/usr/bin/curl", Argv: []string{"curl", "x"}})
		l.Record(trace.Record{Op: trace.OpRename, Path: home + "/.ssh", To: "/tmp/s"})
		l.Frame(session.S2C, "banner")
	}, nil)
	l.List(quiet)
	l.Mark(session.Mark{Kind: session.MarkStderr, Text: "x"})
	l.Event(session.EventLoss{Reason: "x", N: 3})
	l.End()
	l.Judge(analyze.Options{})
	read := func(name string) []byte {
		b, err := l.Dir().ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	return read(session.FramesFile), read(session.TraceFile)
}

// A log is judged without a panic, in bounds, and twice alike, whatever stands in it.
func FuzzJudge(f *testing.F) {
	frames, lines := files(f)
	f.Add(frames, lines)
	f.Add(frames[:len(frames)/2], lines)
	f.Add(frames, lines[:len(lines)/2])
	f.Add([]byte("{}\nnull\n[]\n"), lines)
	header, _, _ := bytes.Cut(lines, []byte("\n"))
	for _, l := range []string{
		`{"type":"record","seq":1,"t":-5,"tid":-1,"call":"","op":"connect","addr":{"family":"inet","host":"x","port":-1},"fd":0,"ret":0}`,
		`{"type":"record","seq":1,"t":1,"tid":1,"call":"rename","op":"rename","path":"/","to":"/","fd":0,"ret":0}`,
		`{"type":"mark","t":1,"kind":"call","call":-3,"tool":"x"}` + "\n" + `{"type":"mark","t":1,"kind":"return","call":9}`,
		`{"type":"mark","t":1,"kind":"event","event":[1]}`,
		`{"type":"mark","t":1,"kind":"loss","n":-9223372036854775808}`,
		`{"type":"mark","t":9223372036854775807,"kind":"phase","phase":"\u001b"}`,
	} {
		f.Add(frames, append(append(bytes.Clone(header), '\n'), l...))
	}
	f.Fuzz(func(t *testing.T, frames, lines []byte) {
		dir, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		for name, data := range map[string][]byte{session.FramesFile: frames, session.TraceFile: lines} {
			if err := dir.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var said [2][]byte
		for i := range said {
			log, err := session.Open(dir)
			if err != nil {
				return
			}
			res, err := analyze.JudgeReader(log, analyze.Options{})
			if err != nil {
				return
			}
			if said[i], err = json.Marshal(res); err != nil {
				t.Fatal(err)
			}
			if len(res.Inconclusive) > 50 || len(res.Server.Stderr) > 8<<10 {
				t.Fatal("out of bounds")
			}
			if err := report.SARIF(io.Discard, res, report.SARIFOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := report.Text(io.Discard, res, report.TextOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(said[0], said[1]) {
			t.Fatal("judged otherwise the second time")
		}
	})
}
