package detect

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/pii"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/analyze/wirelog"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Options say how a log is judged.
type Options struct {
	// OwnClient says that coalmine was the client: what only judges the client is off.
	OwnClient bool
	// Sent is what coalmine gave the server in an earlier session, and the server may have
	// kept some of it; nil for nothing. It is for an OwnClient.
	Sent *Sent
	// Known is what was read in other sessions, nil for none.
	Known *Known
	// Patterns are a user's own, beside the built-in ones.
	Patterns []*pii.Pattern
	// SummaryOnly asks for no more than Log.Summary tells: detectors that it does
	// not need are off.
	SummaryOnly bool
	// extra are detectors of a test.
	extra []detector
}

// MaxAnnotations bounds what is kept of one log; the rest is counted.
const MaxAnnotations = 50_000

// maxErrors bounds how often one detector's failure is told.
const maxErrors = 20

// detector looks at events in their order. It keeps a bounded state of its own
// and finds its facts in the session's.
type detector interface {
	name() string
	event(c *context)
}

// context is what a detector is given: one event, the facts by then, and a
// place for what it finds.
type context struct {
	*wirelog.Event
	state *wire.State
	scan  *pii.Scanner // for payloads
	say   *pii.Scanner // for what is said about them
	own   bool
	known *Known
	sent  *Sent // of our own, nil for another's client
	// given are the arguments of the call that is answered, nil where they are not known.
	given []byte
	found []Annotation
}

// add notes one observation. extra are pairs of a name and a value for the metadata.
func (c *context) add(kind, subcategory string, severity int, extra []any, format string, args ...any) {
	a := Annotation{Kind: kind, Subcategory: subcategory, Severity: severity, Annotator: Annotator,
		EventID: eventID(c.Event), Line: c.Line, Metadata: map[string]any{"seq": c.Seq}}
	a.Explanation = c.say.Redact(fmt.Sprintf(format, args...))
	for i := 0; i+1 < len(extra); i += 2 {
		a.Metadata[extra[i].(string)] = c.redact(extra[i+1])
	}
	c.found = append(c.found, a)
}

// identify gives the newest annotation its identity, whose words never change.
func (c *context) identify(format string, args ...any) {
	c.found[len(c.found)-1].Identity = c.say.Redact(fmt.Sprintf(format, args...))
}

// redact keeps a secret that is used as a name out of the metadata.
func (c *context) redact(v any) any {
	switch v := v.(type) {
	case string:
		return c.say.Redact(v)
	case []string:
		for i := range v {
			v[i] = c.say.Redact(v[i])
		}
	}
	return v
}

// ofTool marks what was added last as concerning the use of a tool.
func (c *context) ofTool() {
	category := toolUse
	c.found[len(c.found)-1].Category = &category
}

// Engine runs all detectors over one session. One goroutine uses it.
type Engine struct {
	// Annotations are what was found so far, in the order of the wire, at most
	// MaxAnnotations; Dropped counts those beyond.
	Annotations []Annotation
	Dropped     int
	// Failures counts how often a detector failed.
	Failures int

	detectors []detector
	// calls is nil where no detector asks what a call gave.
	calls  openCalls
	errors []int
	limits int
	ctx    context
}

// NewEngine returns an Engine for one session.
func NewEngine(o Options) *Engine {
	e := &Engine{ctx: context{scan: pii.NewScanner(o.Patterns), say: pii.NewScanner(o.Patterns), own: o.OwnClient, known: o.Known}}
	if o.Known == nil {
		e.ctx.known = &Known{}
	}
	if o.OwnClient {
		e.ctx.sent = o.Sent.clone()
	}
	e.detectors = []detector{fabricated{}, &sequence{}, newSchemas(), serverRequests{}, gateRecords{}, taint{}, newData(), &declarations{}, answers{}, messages{}, secretForms{}, contexts{}, notProtocol{}, contradictions{}, &replacements{}, &additions{}, &rewordings{}, terminals{}, handouts{}, downloads{}, &likely{}}
	e.calls = openCalls{}
	if o.SummaryOnly {
		e.detectors, e.calls = []detector{&sequence{}, newSchemas(), serverRequests{}}, nil
	}
	e.detectors = append(e.detectors, o.extra...)
	e.errors = make([]int, len(e.detectors))
	return e
}

// Event judges one event with the session's facts after it.
func (g *Engine) Event(e *wirelog.Event, s *wire.State) {
	g.ctx.Event, g.ctx.state = e, s
	g.ctx.sent.event(e)
	if g.calls != nil {
		g.ctx.given = g.calls.event(&g.ctx)
	}
	for i := 0; i < len(g.detectors); {
		i = g.run(i, func(d detector) { d.event(&g.ctx) })
	}
	g.limits = min(g.limits, len(s.Limits)) // a loss within the log begins anew
	for ; g.limits < len(s.Limits); g.limits++ {
		g.ctx.add(Anomaly, "analysis_limit", 1, []any{"reason", s.Limits[g.limits]},
			"a bound of the analysis was met (%s): not everything could be told", s.Limits[g.limits])
	}
	if len(g.ctx.found) > 0 {
		g.keep()
	}
}

// run calls f for the detectors from i on, and returns where to go on: behind
// the last, or behind the one that failed.
func (g *Engine) run(i int, f func(detector)) (next int) {
	found := len(g.ctx.found)
	defer func() {
		if p := recover(); p != nil {
			// What a failed detector said before is not to be relied on.
			g.ctx.found = g.ctx.found[:found]
			g.failed(i, p)
			next = i + 1
		}
	}()
	for ; i < len(g.detectors); i++ {
		found = len(g.ctx.found)
		f(g.detectors[i])
	}
	return i
}

// failed notes a detector's failure. Only its kind is told: the rest may quote the wire.
func (g *Engine) failed(i int, p any) {
	g.Failures++
	if g.errors[i]++; g.errors[i] > maxErrors {
		return
	}
	name := g.detectors[i].name()
	g.ctx.add(Anomaly, "detector_error", 2, []any{"detector", name, "error_type", strings.TrimPrefix(fmt.Sprintf("%T", p), "*")},
		"the detector %s failed here; the others went on", name)
}

// keep takes over what the detectors found.
func (g *Engine) keep() {
	for i := range g.ctx.found {
		a := &g.ctx.found[i]
		if len(g.Annotations) >= MaxAnnotations {
			g.Dropped++
			continue
		}
		a.ID = "ann_" + digest(fmt.Sprintf("%s/%s/%d", a.EventID, a.Subcategory, i))
		g.Annotations = append(g.Annotations, *a)
	}
	g.ctx.found = g.ctx.found[:0]
}

// Observer sees each event beside the detectors.
type Observer func(*wirelog.Event, *wire.State)

// Log is what one session log comes to.
type Log struct {
	// Name is the log's file name.
	Name        string
	Annotations []Annotation
	Dropped     int
	Failures    int
	// Truncated counts texts whose first part alone was searched.
	Truncated int
	Stats     wirelog.Stats
	// State is what was known at the end.
	State   *wire.State
	Summary Summary
	// Metrics is the line with which the tap closed the log, nil for none.
	Metrics *session.Metrics
	// Effects are what the server did beside talking, as coalmine spy saw it. Their texts are as
	// they stand in the log.
	Effects []session.Did
}

// Session judges a log that its caller reads: the detectors' part of one pass that
// feeds others, too. One goroutine uses it.
type Session struct {
	frames *wirelog.Decoder
	engine *Engine
	sum    *summarizer
	also   []Observer
	// effects are what the server did, at most maxDid.
	effects []session.Did
}

// NewSession returns a Session for one log.
func NewSession(o Options, also ...Observer) *Session {
	return &Session{frames: wirelog.NewDecoder(), engine: NewEngine(o), sum: newSummarizer(), also: also}
}

// Sent is what coalmine as the client gave the server so far, nil for another's client.
func (s *Session) Sent() *Sent { return s.engine.ctx.sent }

// Served takes a text that hosts of coalmine's served to the server: what the server repeats of it is not its own.
func (s *Session) Served(text string) { s.engine.ctx.sent.served(text) }

// Frame judges the frame that a Scanner has returned last.
func (s *Session) Frame(f *session.Frame, from *session.Scanner) {
	s.frames.Frame(f, from.Envelope(), from.Line())
	for e := s.frames.Next(); e != nil; e = s.frames.Next() {
		s.engine.Event(e, s.frames.State)
		s.sum.event(e, s.frames.State)
		for _, f := range s.also {
			f(e, s.frames.State)
		}
	}
}

// Damage counts a line of the log that is no frame.
func (s *Session) Damage(bad *session.LineError) { s.frames.Damage(bad) }

// End is what the log, which has this name, comes to: from is at its end.
func (s *Session) End(name string, from *session.Scanner) *Log {
	s.frames.End(from.Torn, from.Metrics)
	l := s.Now()
	l.Name, l.Metrics = name, from.Metrics
	l.Effects = s.effects
	l.Summary = s.sum.summary(l)
	return l
}

// Now is what the frames so far come to, without a summary.
func (s *Session) Now() *Log {
	g := s.engine
	return &Log{Annotations: g.Annotations, Dropped: g.Dropped, Failures: g.Failures, Truncated: g.ctx.scan.Truncated, Stats: s.frames.Stats, State: s.frames.State}
}

// Read judges a whole log. The error is one of reading; damage within the log
// is counted in Stats. It closes nothing.
func Read(log io.Reader, file string, o Options, also ...Observer) (*Log, error) {
	return NewSession(o, also...).read(log, file)
}

// read judges a whole log, which has this name.
func (s *Session) read(log io.Reader, file string) (*Log, error) {
	from := session.NewScanner(log)
	seq := uint64(0)
	from.Did = func(d *session.Did) { s.did(d, seq) }
	for {
		f, err := from.Next()
		if err == nil {
			seq = f.Seq
			s.Frame(f, from)
			continue
		}
		var bad *session.LineError
		switch {
		case errors.As(err, &bad):
			s.Damage(bad)
		case errors.Is(err, io.EOF):
			return s.End(file, from), nil
		default:
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
	}
}

// Verdict is the verdict on the log's annotations.
func (l *Log) Verdict() Verdict { return VerdictOf(l.Annotations) }

// Gaps are the reasons for which something may have gone unseen.
func (l *Log) Gaps() []session.Gap {
	var out []session.Gap
	add := func(when bool, code session.Code, format string, args ...any) {
		if when {
			out = append(out, session.Gap{Code: code, Text: fmt.Sprintf(format, args...)})
		}
	}
	add(l.Stats.Events == 0, session.GapLogEmpty, "the log holds no frame")
	add(l.Stats.HeadMissing, session.GapLogBeginsLate, "the log begins in the middle of a session: what was declared before is not known")
	add(l.Stats.Missing > 0, session.GapFramesMissing, "the log lacks %s", text.Plural(l.Stats.Missing, "frame"))
	add(l.Stats.Torn, session.GapCutOff, "the log ends within a line: what came after is not known")
	add(l.Stats.Unreadable > 0, session.GapLogDamaged, "the log has %s that coalmine cannot read, the first: %s", text.Plural(l.Stats.Unreadable, "line"), name(l.Stats.FirstUnreadable))
	add(l.Failures > 0, session.GapDetectorFailed, "a detector failed on %s", text.Plural(l.Failures, "event"))
	add(l.Truncated > 0, session.GapAnalysisBounded, "coalmine searched only the beginning of %s for secrets", text.Plural(l.Truncated, "text"))
	add(l.Dropped > 0, session.GapAnalysisBounded, "coalmine dropped %s above its limit", text.Plural(l.Dropped, "observation"))
	for _, limit := range l.State.Limits {
		add(true, session.GapAnalysisBounded, "a bound of the analysis was met: %s", limit)
	}
	return out
}
