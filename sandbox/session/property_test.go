package session

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

func text() *rapid.Generator[string] {
	return rapid.OneOf(rapid.Just(""), rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("\"\\\x00\x1f\x7f\u2028\u00e9\U0001f600<&>/\n"))))
}

func records() *rapid.Generator[*trace.Record] {
	return rapid.Custom(func(t *rapid.T) *trace.Record {
		r := &trace.Record{
			Seq: rapid.Uint64().Draw(t, "seq"), Time: time.Duration(rapid.Int64().Draw(t, "time")), Tid: rapid.Int().Draw(t, "tid"),
			Call: text().Draw(t, "call"), Op: trace.Op(text().Draw(t, "op")), Path: text().Draw(t, "path"), Given: text().Draw(t, "given"),
			Real: rapid.Bool().Draw(t, "real"), To: text().Draw(t, "to"), Flags: text().Draw(t, "flags"), FD: rapid.Int().Draw(t, "fd"),
			Child: rapid.Int().Draw(t, "child"), Ret: rapid.Int64().Draw(t, "ret"), Err: text().Draw(t, "err"),
			Injected: rapid.Bool().Draw(t, "injected"), Unfinished: rapid.Bool().Draw(t, "unfinished"),
			Argv: rapid.SliceOfN(text(), 0, 4).Draw(t, "argv"), Cwd: text().Draw(t, "cwd"), Exe: text().Draw(t, "exe"), Script: rapid.Bool().Draw(t, "script"),
		}
		if rapid.Bool().Draw(t, "has addr") {
			r.Addr = &trace.Addr{Family: text().Draw(t, "family"), Host: text().Draw(t, "host"), Port: rapid.IntRange(0, 65535).Draw(t, "port")}
		}
		return r
	})
}

func marks() *rapid.Generator[Mark] {
	return rapid.Custom(func(t *rapid.T) Mark {
		m := Mark{
			Time: time.Duration(rapid.Int64Range(0, 1<<60).Draw(t, "time")), Code: Code(text().Draw(t, "code")),
			Kind:  rapid.SampledFrom([]MarkKind{MarkPhase, MarkCall, MarkEvent, MarkStderr, MarkInconclusive, MarkInputs, MarkReached, MarkPlanned, "news"}).Draw(t, "kind"),
			Phase: text().Draw(t, "phase"), Call: rapid.Int().Draw(t, "call"), Tool: text().Draw(t, "tool"), What: text().Draw(t, "what"),
			Seq: rapid.Uint64().Draw(t, "seq"), Text: text().Draw(t, "text"), N: rapid.Int64().Draw(t, "n"), Data: rapid.SliceOf(rapid.Byte()).Draw(t, "data"),
			From: rapid.SliceOf(rapid.Int()).Draw(t, "from"),
		}
		if !rapid.Bool().Draw(t, "has a payload") {
			return m
		}
		switch m.Kind {
		case MarkEvent:
			e := events().Draw(t, "event")
			m.Event = &e
		case MarkInputs:
			m.Inputs = &Inputs{Classes: map[string]int{text().Draw(t, "class"): 2}, Enums: Reached{1, rapid.Int().Draw(t, "total")}, Listed: Reached{2, 3}}
		case MarkReached:
			m.Dialled = &Dialled{Network: text().Draw(t, "network"), Host: text().Draw(t, "host"), Port: rapid.Int().Draw(t, "port"), Sent: rapid.Int64().Draw(t, "sent"), Err: text().Draw(t, "err")}
			if rapid.Bool().Draw(t, "was reached") {
				m.Dialled.Address = netip.MustParseAddrPort("[2001:db8::1]:443")
			}
		default:
			m.Unread, _ = json.Marshal(text().Draw(t, "payload"))
		}
		return m
	})
}

// TestRecordIsWhatEncodingJSONMakes holds the hand-written encoder to trace.Record's tags.
func TestRecordIsWhatEncodingJSONMakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := records().Draw(t, "record")
		var buf bytes.Buffer
		e := json.NewEncoder(&buf)
		e.SetEscapeHTML(false)
		if err := e.Encode(recordLine{Type: "record", Record: *r}); err != nil {
			t.Fatal(err)
		}
		want := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSuffix(buf.String(), "\n"))
		if got := string(appendRecord(nil, r)); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

func TestWriteThenRead(t *testing.T) {
	parent := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		name, err := os.MkdirTemp(parent, "")
		if err != nil {
			t.Fatal(err)
		}
		dir, err := os.OpenRoot(name)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		l, err := (Output{Root: dir}).Create(header())
		if err != nil {
			t.Fatal(err)
		}
		want := write(t, l)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		compare(t, dir, want)
	})
}

// written is what a log was given.
type written struct {
	raw    [][]byte
	stamps []time.Duration
	lines  []Line // but for those that Frame writes
}

func write(t *rapid.T, l *Log) (w written) {
	for range rapid.IntRange(0, 20).Draw(t, "steps") {
		switch rapid.IntRange(0, 2).Draw(t, "what") {
		case 0:
			raw := []byte(text().Draw(t, "raw"))
			if rapid.Bool().Draw(t, "json") {
				raw, _ = json.Marshal(map[string]any{"k": string(raw), "n": rapid.Float64().Draw(t, "n"), string(raw): nil})
			}
			w.raw = append(w.raw, raw)
			w.stamps = append(w.stamps, time.Duration(rapid.Int64Range(0, 1<<50).Draw(t, "stamp")))
			l.Frame(S2C, w.stamps[len(w.stamps)-1], raw)
		case 1:
			r := records().Draw(t, "record")
			w.lines = append(w.lines, Line{Record: r})
			l.Record(r)
		case 2:
			m := marks().Draw(t, "mark")
			w.lines = append(w.lines, Line{Mark: &m})
			l.Mark(m)
		}
	}
	return w
}

func compare(t *rapid.T, dir *os.Root, want written) {
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for f, err := range r.Frames() {
		if err != nil {
			t.Fatal(err)
		}
		if i >= len(want.raw) || f.Seq != uint64(i+1) || f.Time/1000 != want.stamps[i]/1000 {
			t.Fatalf("frame %d: %+v", i, f)
		}
		if !sameLine(want.raw[i], f) {
			t.Fatalf("frame %q reads as %q", want.raw[i], f.Bytes())
		}
		i++
	}
	if i != len(want.raw) {
		t.Fatalf("%d frames of %d", i, len(want.raw))
	}
	var got []Line
	for line, err := range r.Trace() {
		if err != nil {
			t.Fatal(err)
		}
		if line.Mark == nil || line.Mark.Kind != MarkFrame && line.Mark.Kind != MarkBadLine {
			got = append(got, line)
		}
	}
	if diff := cmp.Diff(want.lines, got, cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.AddrPort{})); diff != "" {
		t.Fatal(diff)
	}
}

func sameLine(raw []byte, f Frame) bool {
	if f.Message == nil {
		return string(bytes.TrimRight(raw, "\r\n")) == string(f.Raw) && !json.Valid(raw)
	}
	var a, b any
	return json.Unmarshal(raw, &a) == nil && json.Unmarshal(f.Message, &b) == nil && cmp.Equal(a, b)
}

// FuzzFrame: whatever crosses the wire, the line is whole, is JSON, and says the same.
func FuzzFrame(f *testing.F) {
	for _, s := range []string{`{"a":[1,"\ud83d\ude00\ud800\/\u0000\u0022\u005c"]}`, "\xff\xfe", "{\"a\":\"\xc3\"}", `"\u007f"`, " [ 1 , 2 ] \r", "\xe2\x82", "\xf0\x9f\x98x\xed\xa0\x80"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		line := bytes.TrimRight(raw, "\r\n")
		text := appendValid(nil, line)
		if !utf8.Valid(text) || utf8.Valid(line) && !bytes.Equal(text, line) {
			t.Fatalf("%q became %q", line, text)
		}
		isJSON := wire.CheckJSON(text) == nil
		out := appendFrame(nil, 1, started, S2C, text, isJSON)
		if bytes.ContainsAny(out, "\r\n") || !utf8.Valid(out) {
			t.Fatalf("line %q", out)
		}
		got, err := NewScanner(bytes.NewReader(append(out, '\n'))).Next()
		if err != nil || (got.Message != nil) != isJSON {
			t.Fatalf("%q reads as %+v, %v", out, got, err)
		}
		if !isJSON && !bytes.Equal(got.Raw, text) {
			t.Fatalf("%q reads as %q", text, got.Raw)
		}
		if isJSON && !sameLine(text, *got) {
			t.Fatalf("%q reads as %q", text, got.Message)
		}
	})
}
