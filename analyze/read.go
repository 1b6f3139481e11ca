package analyze

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// reading is one pass over both files of a log and what it feeds, in this order:
// the trace the profile, the timelines and the judge; a frame, beside its mark, the
// profile first, which says whether it holds a decoy, and then what reads the wire.
type reading struct {
	j *judge
	b *profile.Builder
	// frames is the log's session.jsonl, nil where that cannot be read.
	frames *session.Scanner
	// w and d read the wire; d is nil where only the server's effects are wanted, and w where
	// its declarations are not needed either.
	w *wireReader
	d *detect.Session
	// unread says which frames could not be read: told after what the trace says.
	unread []string
}

// readLog is a run's log that was read.
type readLog struct {
	log *session.Reader
	j   *judge
	// w is what was said on the wire, nil where only effects were read.
	w *wireReader
}

// readWhole reads a run's log, by the user's policy. Of o, Sent and Known count.
func readWhole(log *session.Reader, p *policy.Policy, keeper gapKeeper, o detect.Options) (*readLog, error) {
	j := newJudge(log.Header)
	j.policy, j.keeper = p, keeper
	r := j.reading(log.Recorded)
	r.w, r.d = newWireReader(r.b, &j.timelines), detect.NewSession(detect.Options{OwnClient: true, Sent: o.Sent, Known: o.Known})
	r.w.known = o.Known
	file, err := log.Wire()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r.frames = session.NewScanner(file)
	r.all(log)
	j.detected(r.d.End(session.FramesFile, r.frames), r.w)
	j.sent = r.d.Sent()
	return &readLog{log: log, j: j, w: r.w}, nil
}

// readEffects reads what the server of a run did, by the user's policy. Of the wire it reads only which
// decoys crossed it.
func readEffects(log *session.Reader, p *policy.Policy) *readLog {
	j := newJudge(log.Header)
	j.policy = p
	r := j.reading(log.Recorded)
	file, err := log.Wire()
	if err != nil {
		r.noteUnread(err)
	} else {
		defer file.Close()
		r.frames = session.NewScanner(file)
	}
	r.all(log)
	return &readLog{log: log, j: j}
}

// reading begins to read a log; helped says that programs of coalmine's ran beside the server.
func (j *judge) reading(helped bool) *reading {
	h := j.header
	j.timelines.plain = j.plain
	var helpers []string
	if helped {
		for _, dir := range session.HelperDirs {
			helpers = append(helpers, h.Home+"/"+dir)
		}
	}
	return &reading{j: j, b: profile.NewBuilder(profile.Context{Helpers: helpers, Home: h.Home, ServerDir: h.ServerDir, Workspaces: h.Workspaces, Canaries: j.all.Canaries(), Set: j.all, Runtime: h.Runtime, Flows: tellsFlows(h.Network), Passed: idOf(passed(&h)), Planted: setOf(h.Planted), Documents: h.Documents, Given: given(&h), Literals: h.Literals, Denied: j.denied(), Answers: true})}
}

// denied asks the policy for files that it denies, nil where it denies none. A policy speaks of the server, not of
// its build.
func (j *judge) denied() func(tool, name string, write bool) bool {
	if j.building() || !j.policy.DeniesFiles() {
		return nil
	}
	at := policy.Places{Home: j.header.Home, Server: j.header.ServerDir, Workspaces: j.header.Workspaces}
	return func(tool, name string, write bool) bool { return j.policy.DeniedFile(at, tool, name, write) != nil }
}

// idOf is the id of a secret, "" for none.
func idOf(c *canaries.Canary) string {
	if c == nil {
		return ""
	}
	return c.ID
}

// all reads to the end of both files.
func (r *reading) all(log *session.Reader) {
	r.entries(log.All(r.frames))
	r.j.profile = r.b.Profile()
	r.bounds()
	if log.Recorded {
		leaveHelpers(r.j.profile, log.Header.Home)
	}
	if log.Timers {
		blurCalls(r.j.profile)
	}
	for _, why := range r.unread {
		r.j.because(session.GapLogDamaged, "a frame of the log could not be read: %s", why)
	}
}

// bounds says what was more than is remembered.
func (r *reading) bounds() {
	if r.j.tainted.more || r.w != nil && r.w.args.more {
		r.j.because(session.GapAnalysisBounded, "the run has more calls or answers with decoys than coalmine remembers")
	}
}

// blurCalls takes no work in a call for that call's that may be a timer's: on a fast clock a
// call takes minutes. What a task did that began in a call stays the call's.
func blurCalls(p *profile.Profile) {
	for i := range p.Effects {
		e := &p.Effects[i]
		e.Ambiguous = e.Ambiguous || e.Background && e.Call > 0
	}
}

// leaveHelpers takes what was done to the programs that ran beside the server for none of its deeds.
func leaveHelpers(p *profile.Profile, home string) {
	for i := range p.Effects {
		e := &p.Effects[i]
		for _, dir := range session.HelperDirs {
			if isBelow(e.Target, home+"/"+dir) {
				e.Noise = "scratch"
			}
		}
	}
}

// entries reads a part of the log, or all of it.
func (r *reading) entries(list iter.Seq2[session.Entry, error]) {
	j := r.j
	for e, err := range list {
		switch {
		case err != nil:
			j.because(session.GapLogDamaged, "a line of the trace could not be read: %v", err)
		case e.Damage != nil:
			r.damage(e.Damage)
		case e.Record != nil:
			r.b.Record(e.Record)
			j.last = max(j.last, e.Record.Time)
		case e.Flow != nil:
			r.b.Flow(e.Flow)
			j.timelines.flow(e.Flow)
			j.flow(e.Flow)
			j.last = max(j.last, e.Flow.Stamp)
		default:
			r.moment(e.Mark, e.Frame)
		}
	}
}

// damage notes a line of session.jsonl that is no frame.
func (r *reading) damage(bad *session.LineError) {
	r.noteUnread(fmt.Errorf("%s: %w", session.FramesFile, bad))
	if r.d != nil {
		r.d.Damage(bad)
	}
}

func (r *reading) noteUnread(err error) {
	if len(r.unread) < maxReasons {
		r.unread = append(r.unread, err.Error())
	}
}

// moment takes a mark, a frame, or a frame with its mark; what there is not is nil.
func (r *reading) moment(m *session.Mark, f *session.Frame) {
	var msgs []wire.Message
	var err error
	if f != nil && f.Message != nil && (r.w != nil || m != nil && f.Dir == session.S2C) {
		msgs, err = wire.ParseShared(f.Message)
	}
	if m != nil {
		r.mark(m, f != nil && f.Dir == session.S2C && answers(msgs))
	}
	if f != nil {
		r.frame(f, msgs, err)
	}
}

// answers reports whether a response is among messages.
func answers(msgs []wire.Message) bool {
	for i := range msgs {
		if msgs[i].IsResponse() {
			return true
		}
	}
	return false
}

// mark takes a mark; reply says that it is that of a frame which answers.
func (r *reading) mark(m *session.Mark, reply bool) {
	j := r.j
	m.Tool = j.named(m.Tool)
	if m.Kind == session.MarkFrame {
		r.b.Crossed(m, reply)
	} else {
		r.b.Mark(m)
	}
	for _, in := range m.Oracles {
		if m.Kind == session.MarkServed && in.Text != "" && r.d != nil {
			r.d.Served(in.Text)
		}
	}
	j.timelines.mark(m)
	j.mark(m)
	j.last = max(j.last, m.Time)
}

// maxToolNames bounds the names of tools that are kept redacted.
const maxToolNames = 4 << 10

// named is a tool's name without decoys.
func (j *judge) named(tool string) string {
	if tool == "" {
		return ""
	}
	plain, known := j.names[tool]
	if !known {
		if plain = j.set.Redact(tool); len(j.names) < maxToolNames {
			j.names[tool] = plain
		}
	}
	return plain
}

// longTexts doubts a frame with a text of which only the beginning is searched.
func (r *reading) longTexts(f *session.Frame) {
	detect.EachSaid(json.RawMessage(f.Bytes()), func(_, s string) {
		if len(s) > text.MaxText {
			r.j.here(session.GapTextNotRead, "a text of the server's was searched for orders to the model in its first %d MiB alone", text.MaxText>>20)
		}
	})
}

// frame takes a frame and its messages. The detectors read what crossed; what
// quotes it reads it without the decoys' values.
func (r *reading) frame(f *session.Frame, msgs []wire.Message, err error) {
	if f.Dir == session.C2S {
		r.b.Input(f.Bytes())
	}
	tainted := f.Dir == session.S2C && r.b.Frame(f.Seq, 0, f.Bytes())
	if tainted {
		r.j.tainted.add(f.Seq)
	}
	if r.w == nil {
		return
	}
	if r.d != nil {
		r.d.Frame(f, r.frames)
	}
	if f.Dir == session.S2C && len(f.Bytes()) > text.MaxText {
		r.longTexts(f)
	}
	if tainted {
		plain := *f
		r.j.redact(&plain)
		f = &plain
		if f.Message != nil {
			msgs, err = wire.Parse(f.Message)
		}
	}
	r.w.frame(f, msgs, err)
}

// redact takes the decoys' values out of a frame before anything of it is quoted
// or cut. A message that would not survive it stays; sanitize sees to its texts.
func (j *judge) redact(f *session.Frame) {
	if f.Message == nil {
		f.Raw = []byte(j.set.Redact(string(f.Raw)))
		return
	}
	if m := json.RawMessage(j.set.Redact(string(f.Message))); json.Valid(m) {
		f.Message = m
	}
}

// tellsFlows reports whether a network mode tells what was sent: the sinkhole takes all of it.
func tellsFlows(network string) bool {
	return strings.HasPrefix(network, "sinkhole") || strings.HasPrefix(network, "loopback") || strings.HasPrefix(network, "allow=")
}
