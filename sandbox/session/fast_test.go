package session

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// recordOf draws a record with anything in it.
func recordOf(t *rapid.T) trace.Record {
	text := rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[a-z/._-]{1,20}`), rapid.String())
	r := trace.Record{
		Seq: uint64(rapid.Int64Range(0, 1<<60).Draw(t, "seq")), Time: time.Duration(rapid.Int64Range(-5, 1<<60).Draw(t, "t")), Tid: rapid.Int().Draw(t, "tid"),
		Call: text.Draw(t, "call"), Op: trace.Op(text.Draw(t, "op")), Path: text.Draw(t, "path"), Given: text.Draw(t, "given"), Real: rapid.Bool().Draw(t, "real"),
		To: text.Draw(t, "to"), Argv: rapid.SliceOfN(text, 0, 3).Draw(t, "argv"), Cwd: text.Draw(t, "cwd"), Exe: text.Draw(t, "exe"), Script: rapid.Bool().Draw(t, "script"), Passed: rapid.SliceOfN(text, 0, 3).Draw(t, "passed"), Flags: text.Draw(t, "flags"), FD: rapid.IntRange(-1, 99).Draw(t, "fd"),
		Child: rapid.IntRange(0, 9).Draw(t, "child"), Pid: rapid.IntRange(-1, 9).Draw(t, "pid"), Ret: rapid.Int64().Draw(t, "ret"), Err: text.Draw(t, "err"),
		Injected: rapid.Bool().Draw(t, "injected"), Unfinished: rapid.Bool().Draw(t, "unfinished"),
	}
	if rapid.Bool().Draw(t, "has an address") {
		r.Addr = &trace.Addr{Family: text.Draw(t, "family"), Host: text.Draw(t, "host"), Port: rapid.IntRange(0, 65535).Draw(t, "port")}
	}
	return r
}

// A record's line says what encoding/json's would, and is read as it was written.
func TestRecordsAreReadAsWritten(t *testing.T) {
	fast := 0
	rapid.Check(t, func(rt *rapid.T) {
		want := recordOf(rt)
		line := appendRecord(nil, &want)
		var slow recordLine
		if err := json.Unmarshal(line, &slow); err != nil {
			rt.Fatalf("%v: %s", err, line)
		}
		whole, err := json.Marshal(recordLine{Type: "record", Record: want})
		if err != nil {
			rt.Fatal(err)
		}
		var other recordLine
		if err := json.Unmarshal(whole, &other); err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(other, slow); d != "" {
			rt.Fatalf("the line leaves something out: %s", d)
		}
		if got, ok := parseRecord(line); ok {
			fast++
			if d := cmp.Diff(&slow.Record, got); d != "" {
				rt.Fatalf("%s: %s", line, d)
			}
		}
	})
	if fast == 0 {
		t.Error("no line was read the fast way")
	}
}

// Whatever the fast way accepts, encoding/json reads alike.
func FuzzParseRecord(f *testing.F) {
	r := trace.Record{Seq: 1, Time: 2, Tid: 3, Call: "connect", Op: trace.OpConnect, Path: "/a", Argv: []string{"a", "b"}, Passed: []string{"/c"}, Addr: &trace.Addr{Family: "inet", Host: "::1", Port: 1}, Pid: 1, FD: -1, Err: "EPERM", Real: true}
	f.Add(appendRecord(nil, &r))
	f.Add([]byte(`{"type":"record","seq":01}`))
	f.Add([]byte(`{"type":"record","addr":{},"seq":1}`))
	f.Add([]byte(`{"type":"record","addr":{"port":1},"addr":{"host":"x"},"argv":[],"argv":["a"]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		got, ok := parseRecord(line)
		if !ok {
			return
		}
		var slow recordLine
		if err := json.Unmarshal(line, &slow); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if d := cmp.Diff(&slow.Record, got); d != "" {
			t.Fatalf("%q: %s", line, d)
		}
	})
}

// A mark is read the fast way as encoding/json reads it.
func TestMarksAreReadAsWritten(t *testing.T) {
	fast := 0
	text := rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[a-z/._-]{1,20}`), rapid.String())
	rapid.Check(t, func(rt *rapid.T) {
		line := appendMark(nil, Mark{
			Time: time.Duration(rapid.Int64Range(-5, 1<<60).Draw(rt, "t")), Kind: MarkKind(text.Draw(rt, "kind")), Phase: text.Draw(rt, "phase"), Call: rapid.Int().Draw(rt, "call"),
			Tool: text.Draw(rt, "tool"), What: text.Draw(rt, "what"), Seq: rapid.Uint64().Draw(rt, "seq"), Text: text.Draw(rt, "text"), N: rapid.Int64().Draw(rt, "n"), Turn: rapid.IntRange(0, 3).Draw(rt, "turn"),
			From: rapid.SliceOfN(rapid.IntRange(1, 9), 0, 2).Draw(rt, "from"),
		})
		if sameMark(rt.Fatalf, line) {
			fast++
		}
	})
	if fast == 0 {
		t.Error("no line was read the fast way")
	}
}

// sameMark reports whether a line is read the fast way, and fails where that reads otherwise
// than encoding/json.
func sameMark(fail func(string, ...any), line []byte) bool {
	got, ok := parseMark(line)
	if !ok {
		return false
	}
	var slow markLine
	if err := json.Unmarshal(line, &slow); err != nil {
		fail("%q: %v", line, err)
	}
	if d := cmp.Diff(&slow.Mark, got); d != "" {
		fail("%q: %s", line, d)
	}
	return true
}

// FuzzParseMark is FuzzParseRecord for marks.
func FuzzParseMark(f *testing.F) {
	f.Add([]byte(`{"type":"mark","t":1,"kind":"call","call":3,"tool":"a","what":"tool","n":-2,"turn":1}`))
	f.Add([]byte(`{"type":"mark","t":1,"kind":"frame","seq":7}`))
	f.Add([]byte(`{"type":"mark","t":1,"t":2,"phase":"x","Phase":"y","text":"z"}`))
	f.Fuzz(func(t *testing.T, line []byte) { sameMark(t.Fatalf, line) })
}
