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
