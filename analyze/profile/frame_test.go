package profile

import (
	"fmt"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// What frames show stands behind all that the trace does, however early they are
// read, and counts for the call in which they crossed.
func TestFramesStandBehindTheTrace(t *testing.T) {
	const value, text = "hunter2-hunter2-hunter2", "a text of its own in a file"
	b := NewBuilder(Context{Canaries: []canaries.Canary{{ID: "secret", Kind: "token", Value: value}}})
	call := func(n int, in ...session.Injection) {
		b.Mark(&session.Mark{Kind: session.MarkCall, Call: n, Tool: fmt.Sprintf("tool_%d", n), Time: time.Duration(n) * time.Second, Oracles: in})
	}
	frame := func(seq uint64, raw string) bool {
		b.Crossed(&session.Mark{Kind: session.MarkFrame, Seq: seq}, false)
		return b.Frame(seq, 0, []byte(raw))
	}
	call(1, session.Injection{Oracle: session.OraclePath, Path: "/etc/aim", Value: text}, session.Injection{Oracle: session.OraclePrototype, Token: "polluted"})
	if !frame(1, value) || frame(2, text) || !frame(3, "again "+value) {
		t.Error("a decoy was not told from other text")
	}
	b.Listed(4, 0, []byte("a tool that is polluted"))
	call(2)
	frame(5, text) // nobody aimed at it in this call
	b.Record(&trace.Record{Op: trace.OpOpen, Tid: 1, Path: "/srv/late.txt", Flags: "O_RDONLY", Time: 3 * time.Second})
	p := b.Profile()
	if len(p.Effects) != 2 || p.Effects[0].Target != "/srv/late.txt" || p.Effects[1].Target != "secret" || p.Effects[1].Count != 2 || p.Effects[1].Tool != "tool_1" || p.Effects[1].Evidence[0].Seq != 1 {
		t.Errorf("%+v", p.Effects)
	}
	if len(p.Hits) != 2 || p.Hits[0].How != HitReturn || p.Hits[0].Evidence.Seq != 2 || p.Hits[1].How != HitListed || p.Hits[1].Call != 1 {
		t.Errorf("%+v", p.Hits)
	}
}

// What a port answers to a call that aimed at a file shows that the file came back.
func TestAPortAnswersWithAFile(t *testing.T) {
	const text = "a text of its own in a file"
	b := NewBuilder(Context{})
	aim := session.Injection{Oracle: session.OraclePath, Path: "/etc/aim", Value: text, At: "/GET ~1files~1{name}: name"}
	b.Mark(&session.Mark{Kind: session.MarkCall, Call: 1, Tool: session.ListenerTool, What: session.WhatListener})
	b.Mark(&session.Mark{Kind: session.MarkAnswered, Call: 1, Tool: session.ListenerTool, What: "port 3000", Text: text})
	b.Mark(&session.Mark{Kind: session.MarkCall, Call: 2, Tool: session.ListenerTool, What: session.WhatListener, Oracles: []session.Injection{aim}})
	b.Mark(&session.Mark{Kind: session.MarkAnswered, Call: 2, Tool: session.ListenerTool, What: "port 3000", Text: "HTTP/1.1 200 OK\r\n\r\n" + text})
	hits := b.Profile().Hits
	if len(hits) != 1 || hits[0].Call != 2 || hits[0].How != HitReturn || hits[0].Evidence.Source != "event" {
		t.Errorf("%+v", hits)
	}
}
