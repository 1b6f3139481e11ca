package profile

import (
	"net/netip"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// TestStatementsBelongToTheCallThatTheyCameIn checks that what a service was told is an effect of the
// call in which it came, that what was undone is none, and that an input proves itself outside of
// quotes only.
func TestStatementsBelongToTheCallThatTheyCameIn(t *testing.T) {
	t.Parallel()
	row := canaries.Canary{ID: "row", Kind: canaries.KindRow, Value: "acct_Zq81LmPx7TtUvW2y", URL: "postgres:customers"}
	b := NewBuilder(Context{Canaries: []canaries.Canary{row}, Flows: true})
	const token = "hbdkqxwzmnprtv"
	for call := 1; call <= 2; call++ {
		b.Mark(&session.Mark{Kind: session.MarkCall, Call: call, Tool: "find", What: "tool", Time: time.Duration(call) * time.Second,
			Oracles: []session.Injection{{Oracle: session.OracleCommand, Token: token, At: "/name"}}})
		b.Mark(&session.Mark{Kind: session.MarkReturn, Call: call, Tool: "find", What: "ok", Time: time.Duration(call)*time.Second + time.Second/2})
	}
	flow := func(e trace.Flow) {
		e.Flow, e.Proto, e.Service, e.App, e.Dest, e.Stamp = 1, "tcp", "postgres", "postgres", netip.MustParseAddrPort("127.0.0.1:5432"), 3*time.Second
		b.Flow(&e)
	}
	told := func(at time.Duration, s trace.Statement) {
		s.Time = at
		flow(trace.Flow{Type: trace.FlowStatement, Statement: &s})
	}
	flow(trace.Flow{Type: trace.FlowOpen})
	flow(trace.Flow{Type: trace.FlowData, View: trace.ViewWire, Data: []byte("UPDATE customers SET reference = '" + row.Value + "'")})
	told(1100*time.Millisecond, trace.Statement{Verb: "SELECT", Does: trace.StatementReads, Object: "people", Text: "SELECT '" + token + "'", Bare: "SELECT ''"})
	told(2100*time.Millisecond, trace.Statement{Verb: "SELECT", Does: trace.StatementReads, Object: "people", Text: "SELECT " + token, Bare: "SELECT " + token[:7] + " $ @ " + token[7:], Refused: true})
	told(2200*time.Millisecond, trace.Statement{Verb: "DROP TABLE", Does: trace.StatementDestroys, Object: "people", Text: "DROP TABLE people", Undone: true})
	flow(trace.Flow{Type: trace.FlowClose})
	p := b.Profile()
	var got []finding.Effect
	for _, e := range p.Effects {
		switch e.Kind {
		case finding.Statement:
			got = append(got, e)
		case finding.Secret:
			t.Errorf("a row that goes to its service: %+v", e)
		}
	}
	if len(got) != 2 || got[0].Call != 1 || got[0].Rung != finding.RungOpened || got[1].Call != 2 || got[1].Rung != finding.RungAttempted || got[0].Target != "postgres: SELECT people" {
		t.Errorf("%+v", got)
	}
	if len(p.Hits) != 1 || p.Hits[0].Call != 2 || p.Hits[0].Oracle != session.OracleStatement || p.Hits[0].How != HitStatement {
		t.Errorf("%+v", p.Hits)
	}
}
