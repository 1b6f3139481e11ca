package analyze_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Each reason for doubt has its code, and the tool and the phase where they are known.
func TestGapsHaveCodes(t *testing.T) {
	during := func(work func(*analyzetest.Log)) func(*analyzetest.Log) {
		return func(l *analyzetest.Log) {
			l.Begin(quiet)
			l.Call("do", `{}`, func() { work(l) }, nil)
			l.End()
		}
	}
	for name, c := range map[string]struct {
		write func(*analyzetest.Log)
		want  []session.Gap // without texts and remedies
	}{
		"none": {during(func(*analyzetest.Log) {}), nil},
		"an unknown kind of mark": {during(func(l *analyzetest.Log) {
			l.Mark(session.Mark{Kind: "news"})
			l.Mark(session.Mark{Kind: "news", Unread: []byte(`{"a":1}`)})
		}), []session.Gap{{Code: session.GapMarkUnknown}}},
		"an unknown type of event": {during(func(l *analyzetest.Log) {
			l.Event(session.EventUnknown{Type: "news", Raw: []byte(`{"type":"news","t":1,"x":2}`)})
		}), []session.Gap{{Code: session.GapEventUnknown, Tool: "do", Phase: "call"}}},
		"an event that can not be read": {during(func(l *analyzetest.Log) {
			l.Mark(session.Mark{Kind: session.MarkEvent, Unread: []byte(`{"type":"done","n":7}`)})
		}), []session.Gap{{Code: session.GapLogDamaged}}},
		"a loss with a code": {during(func(l *analyzetest.Log) {
			l.Event(session.EventLoss{Code: session.GapClockStepped, Reason: "x"})
		}), []session.Gap{{Code: session.GapClockStepped, Tool: "do", Phase: "call"}}},
		"a loss without one": {during(func(l *analyzetest.Log) { l.Event(session.EventLoss{Reason: "x"}) }),
			[]session.Gap{{Code: session.GapRecordsLost, Tool: "do", Phase: "call"}}},
		"a mark with a code": {during(func(l *analyzetest.Log) {
			l.Mark(session.Doubt(session.Gap{Code: session.GapNotListed, Phase: "list", Text: "x"}))
		}), []session.Gap{{Code: session.GapNotListed, Phase: "list"}}},
		"a mark without one": {during(func(l *analyzetest.Log) {
			l.Mark(session.Mark{Kind: session.MarkInconclusive, Text: "x"})
		}), []session.Gap{{Code: session.GapOther}}},
		"a mark of a later version": {during(func(l *analyzetest.Log) {
			l.Mark(session.Mark{Kind: session.MarkInconclusive, Code: "<news>", Text: "x"})
		}), []session.Gap{{Code: session.GapOther}}},
		"lost records": {during(func(l *analyzetest.Log) { l.Mark(session.Mark{Kind: session.MarkLoss}) }), []session.Gap{{Code: session.GapRecordsLost}}},
		"lost traffic": {during(func(l *analyzetest.Log) { l.Flow(trace.Flow{Type: trace.FlowLoss, Error: "x"}) }),
			[]session.Gap{{Code: session.GapTrafficLost, Tool: "do", Phase: "call"}}},
		"a limit between calls": {func(l *analyzetest.Log) {
			l.Begin(quiet)
			l.Call("do", `{}`, nil, nil)
			l.Event(session.EventLimit{Reason: "memory"})
			l.Event(session.EventExit{Code: 137, Signal: "SIGKILL"})
		}, []session.Gap{{Code: session.GapLimitReached, Phase: "idle"}}},
		"no handshake": {func(l *analyzetest.Log) {
			l.Phase(finding.PhaseStart)
			l.Event(session.EventStarted{})
		}, []session.Gap{{Code: session.GapCutOff}, {Code: session.GapHandshakeFailed, Phase: "handshake"}, {Code: session.GapNothingDeclared}}},
		"tools": {func(l *analyzetest.Log) {
			l.Begin(quiet, analyzetest.Note)
			l.CallEnding("do", `{}`, "timeout", nil, nil)
			l.End()
		}, []session.Gap{{Code: session.GapToolNeverCalled, Tool: "format_note"}, {Code: session.GapToolNeverAnswered, Tool: "do"}}},
	} {
		t.Run(name, func(t *testing.T) {
			l := analyzetest.New(t, nil)
			c.write(l)
			res := l.Judge(analyze.Options{})
			var got []session.Gap
			for i, g := range res.Gaps {
				if g.Remedy == "" || g.Text != res.Inconclusive[i] {
					t.Errorf("%+v beside %q", g, res.Inconclusive[i])
				}
				got = append(got, session.Gap{Code: g.Code, Tool: g.Tool, Phase: g.Phase})
			}
			if !slices.Equal(got, c.want) || len(res.Gaps) != len(res.Inconclusive) {
				t.Errorf("%+v\nwant %+v", res.Gaps, c.want)
			}
			if want := map[bool]analyze.Verdict{true: analyze.Clean, false: analyze.Inconclusive}[c.want == nil]; res.Verdict != want && res.Verdict != analyze.Findings {
				t.Errorf("verdict %s", res.Verdict)
			}
		})
	}
}

// What this version does not know makes the verdict inconclusive by itself.
func TestTheUnknownIsNeverSilence(t *testing.T) {
	for name, m := range map[string]session.Mark{
		"mark":  {Kind: "news"},
		"event": {Kind: session.MarkEvent, Event: &session.Event{Stamp: 1, Body: session.EventUnknown{Type: "news", Raw: []byte(`{"type":"news","t":1}`)}}},
	} {
		l := analyzetest.New(t, nil)
		l.Begin(quiet)
		l.Call("do", `{}`, nil, nil)
		l.Mark(m)
		l.End()
		if res := l.Judge(analyze.Options{}); res.Verdict != analyze.Inconclusive {
			t.Errorf("an unknown kind of %s: %s", name, res.Verdict)
		}
	}
}

// A text of which only the beginning is searched for orders is a gap.
func TestLongText(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]bool{1000: false, text.MaxText + 1: true} {
		l := analyzetest.New(t, nil)
		l.Begin(quiet)
		l.Call("do", `{}`, func() {
			l.Frame(session.S2C, `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"`+strings.Repeat("a ", size/2+1)+`"}}`)
		}, nil)
		l.End()
		res := l.Judge(analyze.Options{})
		if got := slices.ContainsFunc(res.Gaps, func(g session.Gap) bool { return g.Code == session.GapTextNotRead }); got != want {
			t.Errorf("%d bytes: %q", size, res.Inconclusive)
		}
	}
}
