package analyze

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/analyze/custom"
	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/pii"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Options are what a judgement needs beside the log.
type Options struct {
	// FailOn is the threshold asked for: findings at it decide the verdict too.
	FailOn finding.Severity
	// Audit is the report on the server's source, nil when there was none.
	Audit *audit.Report
	// AuditErr says why there is none though there should be one.
	AuditErr error
	// Version is the version of the program that judges.
	Version string
	// Policy is the user's coalmine.yaml, nil for none. What in it ends on a day
	// ended before the run or did not: today's date does not count.
	Policy *policy.Policy
	// Rules are the user's own rules, nil for none.
	Rules *custom.Set
	// Traced is the log of the same server's run under ptrace, nil for none.
	Traced *session.Reader
	// Baseline are the findings that were known before, nil for none.
	Baseline *Baseline
	// Earlier are what the server declared and did before, nil for nothing.
	Earlier []*Earlier
	// Changed are files by which the run would be judged and that the change under
	// review has otherwise.
	Changed []rules.Changed
	// Least asks for Result.Least.
	Least bool
	// Texts is what an outside judge said of the run's texts, nil for none.
	Texts *Texts
	// sent is what the server was sent in an earlier run whose files it has.
	sent *detect.Sent
	// known is what was read in other logs of the same server, nil for nothing.
	known *detect.Known
	// kept are the directories that the server made in that run.
	kept []profile.Kept
	// narrowed says that the run's bound on output was a part of what the user allows.
	narrowed bool
	// needed are the hosts that its tools' answers needed in the run that was compared with others.
	needed []rules.NeededHost
}

// maxReasons bounds the reasons listed for an inconclusive verdict.
const maxReasons = 50

// judge is one judgement under way.
type judge struct {
	header session.Header
	policy *policy.Policy // what it denies is never ordinary; nil for none
	port   int            // over which the server was spoken to, 0 for none
	// all are the decoys and the secrets that the user gave; set are the decoys alone.
	all, set *canaries.Set
	tainted  tainted
	names    map[string]string // of tools, without decoys
	sent     *detect.Sent
	profile  *profile.Profile
	end      rules.EndFacts
	gaps     []session.Gap
	// tlsLost counts the pieces of what was given to TLS libraries that were lost, and tlsWhy says why
	// these or all of a library are missing.
	tlsLost int64
	tlsWhy  string
	keeper  gapKeeper
	// timelines are drawn at the end.
	timelines timelineBuilder
	stderr    []byte
	// spilled is the data that stood on stderr, and scanner finds it.
	spilled []rules.Spilled
	scanner *pii.Scanner
	spoken  int // bytes on stderr
	// console finds what on stderr acts on a terminal.
	console console
	// last is the moment of the latest mark or record: the run's end.
	last time.Duration
	// phase and tool are those of the place in the log that is read.
	phase    string
	tool     string
	call     int
	started  bool
	stopping bool
	// blind says that the tracer died: the server was ended for that.
	blind   bool
	ended   bool
	inputs  map[string]*session.Inputs // by what and name
	reached reached
	// remote is what was seen of a remote server's HTTP and TLS.
	remote []rules.RemoteFact
	// uncompared says why not all files were compared with what they were, "" where they were.
	uncompared string
}

func newJudge(h session.Header) *judge {
	all := canaries.FromCanaries(slices.Concat(h.Canaries, followed(&h)))
	return &judge{header: h, all: all, set: all.First(len(h.Canaries)), names: map[string]string{}}
}

// JudgeReader reads a run's log and says where what was seen differs from what was said.
func JudgeReader(log *session.Reader, opts Options) (*Result, error) {
	l, err := opts.read(log)
	if err != nil {
		return nil, err
	}
	return l.judge(opts, nil), nil
}

// read reads the log of a run that is judged.
func (opts *Options) read(log *session.Reader) (*readLog, error) {
	return readWhole(log, opts.Policy, gapKeeper{policy: opts.Policy, started: log.Header.Started}, detect.Options{Sent: opts.sent, Known: opts.known})
}

// judge says where what was seen in a log differs from what was said.
func (l *readLog) judge(opts Options, varied []*readLog) *Result {
	j, w := l.j, l.w
	if opts.narrowed {
		j.end.Limits = slices.DeleteFunc(j.end.Limits, func(l string) bool { return strings.HasPrefix(l, "output:") })
	}
	if l.log.Torn() {
		j.because(session.GapCutOff, "the log ends within a line")
	}
	run := j.run(w)
	if !j.building() {
		// A policy speaks of the server; of a build its suppressions hold.
		run.Policy = opts.Policy
	}
	run.Changed, run.KeptBefore, run.NeededBefore = opts.Changed, opts.kept, opts.needed
	if opts.Texts != nil {
		run.Judged = opts.Texts.judgedTexts(w)
		j.textGaps(opts.Texts)
	}
	j.compare(run, &opts, varied)
	j.since(w, run, opts.Earlier)
	res := j.result(w, run, opts)
	res.Findings = append([]finding.Finding{}, rules.Check(run)...)
	res.Rules = opts.Rules.Docs()
	if own := j.own(run, res.Findings, &opts); len(own) > 0 {
		res.Findings = append(res.Findings, own...)
		rules.Sort(res.Findings)
	}
	for i := range res.Findings {
		res.Findings[i].Reproduce = res.Run.Reproduce
	}
	j.sources(res)
	res.confirm()
	located(res.Findings, l.log.Dir)
	j.accept(res, opts)
	res.compare(opts.Baseline)
	if opts.Least {
		res.Least = j.least(run, res, opts)
	}
	j.coverageGaps(res, opts.Policy, run.OpaqueFlows())
	if !j.building() {
		j.randomGaps(run)
		if j.header.Remote == nil {
			j.serverGaps(res.Coverage.Tools)
		}
		res.Coverage.MadeUp = slices.Clone(j.header.MadeUp)
		res.Coverage.Needs = j.unmetNeeds(res, &w.surface, w.refusals)
		j.needGaps(res.Coverage.Needs)
		res.Unaudited = j.auditGaps(opts)
	}
	res.Gaps, res.Inconclusive = append([]session.Gap{}, j.gaps...), session.Texts(j.gaps)
	res.sent, res.kept, res.needed = j.sent, j.profile.Kept, run.NeededHosts()
	res.ended, res.harmless = run.End.Crashed, run.EndsHarmlessly()
	res.keeper = j.keeper
	res.updateVerdict(opts)
	j.timelines.draw(res, j)
	sanitize(res, j.set)
	return res
}

func verdict(res *Result, failOn finding.Severity) Verdict {
	switch {
	case res.AtLeast(weight(failOn)) > 0:
		return Findings
	case len(res.Inconclusive) > 0:
		return Inconclusive
	default:
		return Clean
	}
}

// because adds a reason for which the run can not be called clean, once.
func (j *judge) because(code session.Code, format string, a ...any) {
	j.doubt(session.Gap{Code: code, Text: fmt.Sprintf(format, a...)})
}

// doubt adds a gap.
func (j *judge) doubt(g session.Gap) {
	if j.keeper.take(&g) {
		j.gaps = addGap(j.gaps, g)
	}
}

// here adds a gap that arose at the place in the log that is read.
func (j *judge) here(code session.Code, format string, a ...any) {
	j.doubt(session.Gap{Code: code, Tool: j.tool, Phase: j.phase, Text: fmt.Sprintf(format, a...)})
}

// say is a text of the log made fit for a report.
func (j *judge) say(s string, n int) string { return text.Printable(j.set.Redact(s), n) }

func (j *judge) mark(m *session.Mark) {
	switch m.Kind {
	case session.MarkPhase:
		j.phase, j.tool, j.call = m.Phase, "", 0
		j.stopping = j.stopping || m.Phase == string(finding.PhaseShutdown)
	case session.MarkCall:
		j.phase, j.tool, j.call = string(finding.PhaseCall), m.Tool, m.Call
	case session.MarkReturn:
		j.phase, j.tool, j.call = string(finding.PhaseIdle), "", 0
	case session.MarkInconclusive:
		g := m.Gap()
		g.Text = j.say(g.Text, 400)
		j.doubt(g)
	case session.MarkLoss:
		j.because(session.GapRecordsLost, "%s", lossText(m))
	case session.MarkStderr:
		said := cmp.Or(m.Text, string(m.Data))
		j.keepStderr(said)
		j.spill(said, m.Time)
		j.sequence(said, m.Time)
	case session.MarkEvent:
		if m.Event == nil {
			j.because(session.GapLogDamaged, "an event of the sandbox could not be read")
			return
		}
		j.event(m.Event)
	case session.MarkInputs:
		j.keepInputs(m)
	case session.MarkReached:
		j.reached.add(m)
	case session.MarkHTTP:
		j.http(m)
	case session.MarkFrame, session.MarkBadLine, session.MarkAnswered, session.MarkPlanned, session.MarkServed: // the profile's and the wire's
	default:
		j.because(session.GapMarkUnknown, "the log has marks of a kind that this version does not know: “%s”", j.say(string(m.Kind), 80))
	}
}

// flow takes the sinkhole's own word that something was not seen.
func (j *judge) flow(f *trace.Flow) {
	if f.Type == trace.FlowLoss {
		j.here(session.GapTrafficLost, "the sinkhole missed traffic: %s", j.say(f.Error, 200))
	}
}

func lossText(m *session.Mark) string {
	what := m.What
	if what == "" {
		what = "records"
	}
	if m.Text != "" {
		what += " (" + m.Text + ")"
	}
	return fmt.Sprintf("%d %s were not recorded", max(m.N, 1), text.Printable(what, 200))
}

// maxStderr bounds the tail of stderr that a report shows. Four times as much is
// kept until it is redacted: a secret that the first cut halves is beyond the second.
const maxStderr = 4 << 10

func (j *judge) keepStderr(s string) {
	j.stderr = append(j.stderr, s...)
	if extra := len(j.stderr) - 4*maxStderr; extra > 0 {
		j.stderr = append(j.stderr[:0], j.stderr[extra:]...)
	}
}

func (j *judge) lastWords() string {
	s := j.set.Redact(strings.ToValidUTF8(string(j.stderr), "\uFFFD"))
	if extra := len(s) - maxStderr; extra > 0 {
		for !utf8.RuneStart(s[extra]) {
			extra++
		}
		s = s[extra:]
	}
	return s
}

func (j *judge) event(ev *session.Event) {
	switch e := ev.Body.(type) {
	case session.EventStarted:
		j.started = true
	case session.EventExit:
		j.ended = true
		j.end.Exited, j.end.Code, j.end.Signal, j.end.Time = true, e.Code, e.Signal, ev.Stamp
		j.end.Crashed = !j.stopping
	case session.EventFull:
		full := "disk: " + text.Printable(e.Path, 200) + " was full"
		j.end.Limits, j.end.Time = append(j.end.Limits, full), ev.Stamp
		j.here(session.GapDiskFull, "the server reached a limit: %s", full)
	case session.EventOutlived: // its stdin had ended, and yet a signal had to end it
		j.end.Killed = true
	case session.EventPort:
		j.port = e.Port
	case session.EventCompared:
		j.uncompared = j.say(e.Reason, 200)
	case session.EventLimit:
		j.end.Limits = append(j.end.Limits, j.say(e.Reason, 200))
		j.end.Time = ev.Stamp
		j.here(session.GapLimitReached, "the sandbox ended the server at a limit: %s", j.say(e.Reason, 200))
	case session.EventTracerDied:
		j.blind = true
		j.here(session.GapTracerDied, "the tracer died; nothing after that was recorded")
	case session.EventLoss:
		switch e.Code {
		case session.GapTimerPending:
			j.here(e.Code, "%s", j.say(e.Reason, 200)) // the record is whole
			return
		case session.GapTLSLost:
			j.tlsLost, j.tlsWhy = j.tlsLost+e.N, j.say(e.Reason, 300)
			return
		}
		j.here(cmp.Or(e.Code, session.GapRecordsLost), "incomplete record: %s", j.say(e.Reason, 200))
	case session.EventError:
		j.here(session.GapStartFailed, "%s", j.say(e.Reason, 400))
	case session.EventUnknown:
		j.here(session.GapEventUnknown, "the log has events of a type that this version does not know: “%s”", j.say(e.Type, 80))
	}
}

func (j *judge) run(w *wireReader) *rules.Run {
	byID := make(map[string]canaries.Canary, len(j.header.Canaries))
	for _, c := range slices.Concat(j.header.Canaries, followed(&j.header)) {
		byID[c.ID] = c
	}
	if c := passed(&j.header); c != nil {
		byID[c.ID] = *c
	}
	if len(j.end.Limits) > 0 || j.blind || w.rejected {
		j.end.Crashed = false // of a server that refused its client, nothing more was wanted
	}
	j.end.Lacking = j.end.Crashed && j.hasStartupNeed()
	if j.building() {
		// A build is there to end, and what it leaves running is ended with it.
		j.end.Crashed, j.end.Killed = false, false
	}
	surface := w.surface
	if p := j.header.Package; p != nil && surface.Server.Name == "" {
		surface.Server.Name = path.Base(p.Name) // whoever named the package knows what it deals with
	}
	said := scope.Of(&surface)
	said.Purpose.Name = w.surface.Server.Name
	for _, m := range j.header.Manifests {
		said.AddManifest(m.File, []byte(m.Text))
	}
	return &rules.Run{
		Profile: j.profile, Scope: said, Surface: &w.surface, Canaries: byID, Args: w.args.of, Undeclared: w.undeclared,
		Home: j.header.Home, ServerDir: j.header.ServerDir, Workspaces: j.header.Workspaces, Rooted: j.header.Rooted, Planted: setOf(j.header.Planted), Left: setOf(j.header.Left), Given: given(&j.header), Port: j.port, Image: j.header.Package != nil && j.header.Package.Kind == "oci", Wire: w.facts, End: j.end, Spilled: j.spilled, Sequences: j.console.all(), Remote: j.remote,
	}
}

// setOf has each name once.
func setOf(names []string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, name := range names {
		out[name] = true
	}
	return out
}

// given are the arguments of a server and the values of the variables that its user gave it.
func given(h *session.Header) []string {
	out := slices.Clone(h.Command[min(len(h.Command), 1):])
	for _, kv := range h.Dummies {
		_, value, _ := strings.Cut(kv, "=")
		out = append(out, value)
	}
	return out
}

func (j *judge) result(w *wireReader, run *rules.Run, opts Options) *Result {
	h := j.header
	res := &Result{Schema: Schema, Declared: run.Scope, Audit: opts.Audit}
	res.Tool.Name, res.Tool.Version = "coalmine", opts.Version
	res.Run = Run{
		ID: h.RunID, Seed: h.Seed, Started: h.Started.UTC(), Finished: h.Started.Add(j.last - h.Clock0).UTC(),
		Sandbox: h.Sandbox, Tracer: h.Tracer, Network: h.Network, Command: slices.Clone(h.Command), Target: h.Target, Unredacted: slices.Clone(h.Unredacted),
	}
	// One tracer is as good as the other, and the machine takes what it allows.
	tracer := ""
	if h.Tracer == "both" {
		tracer = " --tracer both"
	}
	if h.Transport != "" {
		tracer += " --transport " + h.Transport
	}
	if h.Image != "" && (h.Package == nil || h.Package.Kind != "oci") {
		tracer += " --image " + Quote(h.Image)
	}
	if h.ContainerRuntime != "" {
		tracer += " --runtime " + Quote(h.ContainerRuntime)
	}
	if h.AllowUserNS {
		tracer += " --allow-userns"
	}
	if h.Start != "" && h.Package == nil {
		tracer += " --cwd " + Quote(h.Start)
	}
	for _, name := range h.Services {
		tracer += " --service " + Quote(name)
	}
	for _, kv := range h.Dummies {
		tracer += " --env " + Quote(kv)
	}
	if f := factors(run.Varied); len(f) > 0 {
		tracer += " --vary " + strings.Join(f, ",")
	}
	again := res.Run.Command
	if h.Package != nil {
		again, tracer = h.Package.Again, tracer+binFlag(h.Package)+asOfFlag(h.Package)
		pkg := *h.Package
		pkg.Again, pkg.Build.Steps = slices.Clone(pkg.Again), slices.Clone(pkg.Build.Steps)
		res.Run.Package = &pkg
	}
	res.Run.Reproduce = fmt.Sprintf("coalmine probe --sandbox %s%s --network %s --seed %d -- %s", h.Sandbox, tracer, h.Network, h.Seed, quoteAll(again))
	if h.Remote != nil {
		flags := append([]string{"--url", h.Remote.URL}, h.Remote.Flags...)
		res.Run.Reproduce = fmt.Sprintf("coalmine probe --seed %d %s", h.Seed, quoteAll(flags))
	}
	s := w.surface
	res.Server = Server{Name: text.Printable(s.Server.Name, 200), Version: text.Printable(s.Server.Version, 100), Protocol: text.Printable(s.Protocol, 40),
		Exit: j.end.How(), Stderr: j.lastWords()}
	res.Coverage = Coverage{
		Tools: withInputs(toolCoverage(w, j.profile), j.inputs), Records: j.profile.Records, Noise: j.profile.Noise, Lost: j.profile.Lost,
		Opaque: len(run.OpaqueFlows()), Unseen: unseen(&h, j.uncompared), Reached: j.reached.texts(j), Phases: phases(j.profile), Unreached: unreached(j.profile),
	}
	j.packaged(&res.Coverage)
	// The profile's own: nothing but the timelines looks at them later.
	if res.Observed = j.profile.Effects; res.Observed == nil {
		res.Observed = []finding.Effect{}
	}
	for i, x := range rules.Ledger(run) {
		res.Observed[i].Explained = x
	}
	return res
}

// unseen names what was kept from the tracer, or everything where there was none, and
// what of the files was not compared.
func unseen(h *session.Header, uncompared string) []string {
	out := append([]string{}, h.Unseen...)
	if h.Tracer == "" || h.Tracer == "none" {
		out = []string{"system calls"}
	}
	if uncompared != "" {
		out = append(out, "changes without a system call of files that were not compared: "+uncompared)
	}
	return out
}

// ExitStatus is the command's exit status for a result: 1 for findings at the
// threshold or above, else 3 for a gap, else 0. An empty threshold is "never".
func ExitStatus(res *Result, failOn finding.Severity, allowInconclusive bool) int {
	switch {
	case failOn.Rank() > 0 && res.AtLeast(failOn) > 0:
		return 1
	case len(res.Inconclusive) > 0 && !allowInconclusive:
		return 3
	default:
		return 0
	}
}

// ErrNoLog says that a directory holds no run.
var ErrNoLog = errors.New("no run is logged here")
