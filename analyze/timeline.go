package analyze

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Lane groups what is drawn on one line of a timeline.
type Lane string

// The lanes, from top to bottom.
const (
	LaneSent     Lane = "sent"     // frames of the client
	LaneReceived Lane = "received" // frames of the server
	LaneFiles    Lane = "files"
	LanePrograms Lane = "programs"
	LaneSecrets  Lane = "secrets"
	LaneNetwork  Lane = "network" // what the kernel saw
	LaneFlows    Lane = "flows"   // what the sinkhole saw
	LaneOther    Lane = "other"
)

// Lanes lists the lanes in their order.
var Lanes = []Lane{LaneSent, LaneReceived, LaneFiles, LanePrograms, LaneSecrets, LaneNetwork, LaneFlows, LaneOther}

// Moment is one thing on a timeline.
type Moment struct {
	// Time is on the run's clock, and so is End, which only a span has.
	Time, End time.Duration
	Lane      Lane
	Text      string
	// Rung, Noise and Ambiguous are the effect's.
	Rung      finding.Rung
	Noise     string
	Ambiguous bool
	// Source and Seq say where it stands, as evidence does.
	Source string
	Seq    uint64
}

// Timeline is what happened in one call, in the order of time.
type Timeline struct {
	Call       int
	Tool, What string
	Outcome    session.Outcome
	Start, End time.Duration
	Moments    []Moment
	// More counts the moments that were left out.
	More int
}

// Span is a phase of the run. The calls, and the listings between them, are one.
type Span struct {
	Phase      finding.Phase
	Start, End time.Duration
}

// The bounds of what is kept for drawing.
const (
	maxTimelines = 24
	maxMoments   = 120
	maxFrames    = 100_000
	maxSpans     = 64
)

// timelineBuilder collects what timelines are drawn from.
type timelineBuilder struct {
	// plain takes decoys out of a frame that holds one, before it is cut.
	plain  func(seq uint64, b []byte) string
	frames []framed
	// flows are the moments at which flows ended, by their number.
	flows map[uint64]time.Duration
	spans []Span
	calls bool
	last  time.Duration
}

// framed is what a timeline shows of a frame. There may be many: they are kept short.
type framed struct {
	call int32
	sent bool
	time time.Duration
	seq  uint64
	text string
}

// moment is the frame on its timeline.
func (f *framed) moment() Moment {
	lane := LaneReceived
	if f.sent {
		lane = LaneSent
	}
	return Moment{Time: f.time, Lane: lane, Text: f.text, Source: "frame", Seq: f.seq}
}

// mark follows the phases.
func (b *timelineBuilder) mark(m *session.Mark) {
	b.last = max(b.last, m.Time)
	var phase finding.Phase
	switch {
	case m.Kind == session.MarkCall:
		phase, b.calls = finding.PhaseCall, true
	case m.Kind == session.MarkPhase && (!b.calls || m.Phase == string(finding.PhaseShutdown)):
		phase = finding.Phase(m.Phase)
	default:
		return
	}
	if n := len(b.spans); n > 0 && (b.spans[n-1].Phase == phase || n >= maxSpans) {
		return
	}
	b.spans = append(b.spans, Span{Phase: phase, Start: m.Time})
}

// flow keeps when a flow ended.
func (b *timelineBuilder) flow(f *trace.Flow) {
	if f.Type != trace.FlowClose && f.Type != trace.FlowRefused || len(b.flows) >= maxFrames {
		return
	}
	if b.flows == nil {
		b.flows = map[uint64]time.Duration{}
	}
	b.flows[f.Flow] = f.Stamp
}

// frame keeps a frame that crossed during a call.
func (b *timelineBuilder) frame(f *session.Frame, call int, msgs []wire.Message) {
	if call == 0 || len(b.frames) >= maxFrames {
		return
	}
	b.frames = append(b.frames, framed{int32(call), f.Dir == session.C2S, f.Time, f.Seq, b.frameText(f, msgs)}) //nolint:gosec // a log has fewer calls
}

// maxPreview bounds what a timeline quotes of a message.
const maxPreview = 200

func (b *timelineBuilder) frameText(f *session.Frame, msgs []wire.Message) string {
	if len(msgs) == 0 {
		return "no JSON-RPC: " + b.preview(f.Seq, f.Bytes())
	}
	m := msgs[0]
	method := text.Printable(m.Method, 60)
	switch {
	case m.Error != nil:
		return fmt.Sprintf("error %d: %s", m.Error.Code, b.preview(f.Seq, []byte(m.Error.Message)))
	case m.IsResponse():
		return "result " + b.preview(f.Seq, m.Result)
	case m.Params == nil:
		return method
	}
	var p struct {
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(m.Params, &p) == nil && p.Arguments != nil {
		return method + " " + b.preview(f.Seq, p.Arguments)
	}
	return method + " " + b.preview(f.Seq, m.Params)
}

func (b *timelineBuilder) preview(seq uint64, raw []byte) string {
	return text.Printable(b.plain(seq, raw), maxPreview)
}

// plain is bytes of a frame without the decoys that it holds: what can not be
// taken out is not quoted.
func (j *judge) plain(seq uint64, b []byte) string {
	if !j.tainted.perhaps(seq) {
		return string(b[:min(len(b), 4*maxPreview)])
	}
	s := j.set.Redact(string(b))
	if len(j.set.Find([]byte(s))) > 0 {
		return "(not shown: it holds a decoy secret)"
	}
	return s
}

var laneOf = map[finding.EffectKind]Lane{
	finding.FileRead: LaneFiles, finding.FileWrite: LaneFiles, finding.FileDelete: LaneFiles, finding.FileMeta: LaneFiles,
	finding.Exec: LanePrograms, finding.Secret: LaneSecrets,
	finding.Statement: LaneNetwork, finding.NetConnect: LaneNetwork, finding.NetListen: LaneNetwork, finding.UnixSocket: LaneNetwork,
}

// draw fills a result's timelines: of the calls that findings name, worst first,
// and then of the first call of each tool.
func (b *timelineBuilder) draw(res *Result, j *judge) {
	for i := range b.spans {
		b.spans[i].End = b.last
		if i+1 < len(b.spans) {
			b.spans[i].End = b.spans[i+1].Start
		}
	}
	res.Spans = b.spans
	res.Decoys = j.decoys()
	res.Timelines = []Timeline{}
	index := map[int]int{}
	for _, n := range b.chosen(res, j) {
		for _, c := range j.profile.Calls {
			if c.N == n {
				index[n] = len(res.Timelines)
				res.Timelines = append(res.Timelines, Timeline{Call: n, Tool: c.Tool, What: c.What, Outcome: c.Outcome, Start: c.Start, End: max(c.End, c.Start)})
				break
			}
		}
	}
	add := func(call int, m Moment) {
		if i, ok := index[call]; ok {
			res.Timelines[i].Moments = append(res.Timelines[i].Moments, m)
		}
	}
	for i := range b.frames {
		add(int(b.frames[i].call), b.frames[i].moment())
	}
	for i := range j.profile.Effects {
		e := &j.profile.Effects[i]
		for _, m := range b.moments(e) {
			add(e.Call, m)
		}
	}
	for i := range res.Timelines {
		res.Timelines[i].normalize()
	}
}

// decoys are the places of the secrets that the run has effects on, as a reader
// thinks of them.
func (j *judge) decoys() map[string]string {
	touched := map[string]bool{}
	for i := range j.profile.Effects {
		if e := &j.profile.Effects[i]; e.Kind == finding.Secret {
			touched[e.Target] = true
		}
	}
	out := map[string]string{}
	for _, c := range j.header.Canaries {
		if touched[c.ID] {
			out[c.ID] = c.Where(j.header.Home)
		}
	}
	return out
}

// moments are an effect's evidence. What crossed the wire is drawn as its frame.
func (b *timelineBuilder) moments(e *finding.Effect) []Moment {
	lane, ok := laneOf[e.Kind]
	if !ok {
		lane = LaneOther
	}
	var out []Moment
	for _, ev := range e.Evidence {
		if ev.Time == 0 {
			continue
		}
		text := ev.Text
		if e.Count > 1 {
			text = fmt.Sprintf("%s (%d times)", text, e.Count)
		}
		m := Moment{Time: ev.Time, Lane: lane, Text: text, Rung: e.Rung, Noise: e.Noise, Ambiguous: e.Ambiguous, Source: ev.Source, Seq: ev.Seq}
		if ev.Source == "flow" && e.Kind == finding.NetConnect {
			m.Lane, m.End = LaneFlows, b.flows[ev.Seq]
		}
		out = append(out, m)
	}
	return out
}

// chosen are the numbers of the calls to draw.
func (b *timelineBuilder) chosen(res *Result, j *judge) []int {
	var out []int
	choose := func(n int) {
		if n > 0 && len(out) < maxTimelines && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	for _, f := range res.Findings {
		choose(f.Call)
	}
	shown := map[string]bool{}
	for _, n := range out {
		for _, c := range j.profile.Calls {
			if c.N == n {
				shown[c.Tool] = true
			}
		}
	}
	for _, c := range j.profile.Calls {
		if !shown[c.Tool] && c.Outcome == session.OutcomeOK {
			shown[c.Tool] = true
			choose(c.N)
		}
	}
	return out
}

// normalize sorts the moments, drops those said twice and bounds them: what is
// ordinary goes first.
func (t *Timeline) normalize() {
	slices.SortStableFunc(t.Moments, func(a, b Moment) int { return cmp.Compare(a.Time, b.Time) })
	type key struct {
		at   time.Duration
		lane Lane
		text string
	}
	seen := map[key]bool{}
	t.Moments = slices.DeleteFunc(t.Moments, func(m Moment) bool {
		k := key{m.Time, m.Lane, m.Text}
		defer func() { seen[k] = true }()
		return seen[k]
	})
	before := len(t.Moments)
	for _, ordinary := range []bool{true, false} {
		if len(t.Moments) <= maxMoments {
			break
		}
		left := len(t.Moments) - maxMoments
		t.Moments = slices.DeleteFunc(t.Moments, func(m Moment) bool {
			if left == 0 || ordinary && m.Noise == "" {
				return false
			}
			left--
			return true
		})
	}
	t.More = before - len(t.Moments)
	for _, m := range t.Moments {
		t.Start, t.End = min(t.Start, m.Time), max(t.End, m.Time, m.End)
	}
}
