package profile

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// The pieces of a command's token that somebody else than a shell joined prove nothing.
func TestJoinedIsNotRun(t *testing.T) {
	t.Parallel()
	for argv, want := range map[string]int{"touch q7k2": 1, "ls touch q7k2": 0, "grep -e q7k2": 0} {
		b := NewBuilder(Context{Home: "/home/dana"})
		b.Mark(&session.Mark{Kind: session.MarkCall, Call: 1, Tool: "run", What: "tool", Oracles: []session.Injection{{Oracle: session.OracleCommand, Token: "q7k2"}}})
		b.Record(&trace.Record{Op: trace.OpExec, Tid: 1, Path: "/usr/bin/x", Argv: strings.Fields(argv), Time: time.Second})
		if got := len(b.Profile().Hits); got != want {
			t.Errorf("%s: %d", argv, got)
		}
	}
}

// What a served document carries belongs to the call in which it has its effect.
func TestServed(t *testing.T) {
	t.Parallel()
	b := NewBuilder(Context{Home: "/home/dana"})
	b.Mark(&session.Mark{Kind: session.MarkPhase, Phase: string(finding.PhaseStart)})
	b.Mark(&session.Mark{Kind: session.MarkServed, Oracles: []session.Injection{
		{Oracle: session.OracleServed, Context: session.ServedLine, Token: "linetoken"},
		{Oracle: session.OracleServed, Context: session.ServedLink, Token: "linktoken", Host: "linktoken.example.net"},
		{Oracle: session.OracleServed, Context: session.ServedInner, Token: "innertoken", Host: "10.0.0.1"},
		{Oracle: session.OracleServed, Context: session.ServedOrder, Token: "ordertoken"},
	}})
	b.Record(&trace.Record{Op: trace.OpExec, Tid: 1, Path: "/usr/bin/touch", Argv: []string{"touch", "linetoken"}})
	b.Mark(&session.Mark{Time: time.Second, Kind: session.MarkCall, Call: 7, Tool: "run", What: "tool"})
	b.Record(&trace.Record{Op: trace.OpOpen, Tid: 1, Path: "/tmp/linetoken", Flags: "O_CREAT|O_WRONLY", Time: 2 * time.Second})
	b.Record(&trace.Record{Op: trace.OpExec, Tid: 1, Path: "/usr/bin/grep", Argv: []string{"grep", "touch line''token"}, Time: 2 * time.Second})
	for _, f := range []trace.Flow{
		{Type: trace.FlowQuery, Flow: 3, Host: "linktoken.example.net"},
		{Type: trace.FlowRequest, Flow: 1, Method: "GET", Path: "/latest/innertoken", Authority: "10.0.0.1", Dest: netip.MustParseAddrPort("10.0.0.1:80")},
		{Type: trace.FlowRequest, Flow: 2, Method: "GET", Path: "/ordertoken?x=innertoken", Authority: "a.example", Host: "a.example", Dest: netip.MustParseAddrPort("192.0.2.1:80")},
	} {
		f.Stamp = 3 * time.Second
		b.Flow(&f)
	}
	b.Listed(4, 0, []byte("a tool that says ordertoken"))
	var got []string
	for _, h := range b.Profile().Hits {
		got = append(got, h.How+" "+h.Context)
		if want := map[bool]int{true: 0, false: 7}[h.Phase == finding.PhaseStart || h.How == HitListed]; h.Call != want {
			t.Errorf("%+v", h)
		}
	}
	want := []string{"exec command", "create command", "asked link", "asked link within", "listed word for a model"}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
