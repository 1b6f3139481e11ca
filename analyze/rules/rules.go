package rules

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// Run is all that rules may look at.
type Run struct {
	Profile *profile.Profile
	// Traced is what the same server did under ptrace, nil where it ran only once.
	Traced *profile.Profile
	// Controls are further runs of the same server in the same surroundings, and
	// Varied those under one changed condition each, all with the same calls.
	Controls []*Run
	Varied   []Varied
	Scope    scope.Server
	Surface  *wire.Surface
	// Canaries are the decoys of the run by id.
	Canaries map[string]canaries.Canary
	// Args are the arguments of each call, by its number.
	Args map[int]json.RawMessage
	// Undeclared are the results of calls of tools that were not listed by then, by
	// the call's number and without the tool's name.
	Undeclared map[int]string
	// Home, ServerDir and Workspaces name places in messages and fingerprints.
	Home       string
	ServerDir  string
	Workspaces []string
	// Rooted says that the server's command names the workspaces.
	Rooted bool
	// Given are the server's arguments and the values of the variables that the user gave it.
	Given []string
	// Port is where the server listens for its own transport, 0 for stdio.
	Port int
	// Image says that the server is an image, whose container decides who reaches its ports.
	Image bool
	Wire  WireFacts
	End   EndFacts
	// Judged are the texts that the user's own program called orders.
	Judged []JudgedText
	// Policy is the user's own declaration, nil for none: what it allows, no rule
	// about undeclared effects sees.
	Policy *policy.Policy
	// Drifted are declarations that are not as they were in earlier runs, and Before what the
	// server did in one, nil where that is not known.
	Drifted []Drifted
	Before  *Before
	// Remote are observations of a remote server's HTTP and TLS, and of the ports that a server in
	// a sandbox opened.
	Remote []RemoteFact
	// Changed are files by which the run would be judged and that the change under
	// review has otherwise.
	Changed []Changed
	// Planted are the files of the user's that stood below HOME and the workspaces
	// before the server started, nil where the log does not tell.
	Planted map[string]bool
	// Spilled is the data that the server wrote on stderr.
	Spilled []Spilled
	// Sequences are those that the server wrote on stderr and that act on a terminal.
	Sequences []Sequence
	// Left are the files that an earlier run of the server made.
	Left map[string]bool
	// KeptBefore are the directories that it made in that run.
	KeptBefore []profile.Kept
	// NeededBefore are NeededHosts of the run that this one is a further run of.
	NeededBefore []NeededHost
	// allowed are the effects that Policy allows, by index; Check fills it.
	allowed []bool
	// told are the effects of which a rule told already; Check fills it.
	told map[*finding.Effect]bool
	// named remembers what namesFile said of a path and a tool; Check and Ledger make it.
	named map[[2]string]bool
	// memory is the ledger's.
	memory *memory
}

// WireFacts are observations of the protocol itself.
type WireFacts struct {
	// BadLines are frames that were no JSON-RPC, in order, at most 100.
	BadLines []Fact
	// BadLineCount counts all of them.
	BadLineCount int
	// Requests are requests of the server that need a capability the client never granted.
	Requests []Fact
	// Changes are entries that a later listing of the run declares differently from
	// the first, each kind of change of an entry once.
	Changes []ToolChange
	// Duplicates are names that several entries of one listing have, each once.
	Duplicates []Duplicate
	// Links are the addresses in answers that would carry data of the session away.
	Links []Link
	// Openings are the pages that the server asked the user to open, and Offered the files to which results link,
	// by their file: URI.
	Openings []Opening
	Offered  []Fact
	// Samplings are requests to the client's model.
	Samplings []Fact
	// QueryErrors are queries that did not parse, of a tool, a language and an argument one.
	QueryErrors []QueryError
	// Verified are the answers to signed texts and to what was given in their place, in order.
	Verified []Verified
	// Broken are the tools whose encryption hides nothing, each way once.
	Broken []BrokenCipher
	// Detected are what the detectors of the wire say of the server, each with its
	// call and in order; several may be of one fingerprint.
	Detected []Detected
}

// Fact is one observation with its place in the log.
type Fact struct {
	Seq  uint64
	Time time.Duration
	Tool string
	Call int
	Text string
}

// Spilled is a credential or personal data that the server wrote on stderr.
type Spilled struct {
	Fact
	Phase finding.Phase
	// Category and What name its kind.
	Category, What string
	// Value is what stood there, and goes into no report.
	Value string
}

// Sequence is a control sequence on stderr that acts on the terminal that shows it; its Text says what it
// does.
type Sequence struct {
	Fact
	Phase finding.Phase
	// Kind and Payload are as detect.TerminalSequence has them.
	Kind, Payload string
	Severity      finding.Severity
}

// EndFacts say how the server ended.
type EndFacts struct {
	// Crashed says that the server ended by itself while it was still wanted.
	Crashed bool
	// Exited says that its end was recorded: by Signal, or with the status Code where that is "".
	Exited bool
	Code   int
	Signal string
	// Limits are the limits that ended it.
	Limits []string
	// Killed says that it outlived its stdin and its grace.
	Killed bool
	Time   time.Duration
	// Lacking says that it ended before any call, with a status, and said what it lacks.
	Lacking bool
}

// WithStatus reports whether the server ended with a status of its own, and no signal.
func (e *EndFacts) WithStatus() bool { return e.Exited && e.Signal == "" }

// How is "exit status 3" or "signal KILL", "" where the end was not recorded.
func (e *EndFacts) How() string {
	switch {
	case !e.Exited:
		return ""
	case e.Signal != "":
		return "signal " + e.Signal
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// All lists every rule of runs and of logs of the wire, sorted by ID.
func All() []Rule {
	return []Rule{
		cm101, cm102, cm103, cm104, cm105, cm106, cm107, cm108, cm109, cm110, cm111, cm112, cm113, cm114, cm115, cm116, cm117, cm118,
		cm201, cm202, cm203, cm204, cm205, cm206, cm207, cm208, cm209, cm210, cm211, cm212, cm213, cm214, cm215, cm216, cm217, cm218, cm219, cm220, cm221, cm222, cm223, cm224, cm225, cm226, cm227, cm228, cm229, cm230,
		cm301, cm302, cm303, cm304, cm305, cm306, cm307, cm308, cm309, cm310, cm311, cm312, cm313, cm314, cm315, cm316, cm317, cm318, cm319, cm320, cm321,
		cm401, cm402, cm403, cm404, cm405, cm406, cm407, cm408, cm409, cm410, cm411, cm412, cm413, cm414, cm415, cm416, cm417, cm418, cm419, cm420, cm421, cm422, cm423, cm424, cm425, cm426, cm427, cm428, cm429, cm430, cm431, cm432, cm433, cm434,
		cm501, cm502, cm503, cm504, cm505,
		cm601, cm602, cm603, cm604,
		cm701, cm702, cm703, cm704, cm705, cm706,
	}
}

// Check runs every rule and sorts what they observe: worst first, then in the order of calls.
func Check(run *Run) []finding.Finding {
	run = run.Joined()
	run.memory = nil
	run.allowed, run.told, run.named = run.allowedEffects(), map[*finding.Effect]bool{}, map[[2]string]bool{}
	for _, o := range run.others() {
		o.allowed = o.allowedEffects()
	}
	var out []finding.Finding
	for _, last := range []bool{false, true} {
		for _, r := range All() {
			if r.Check != nil && r.Default == last {
				out = append(out, r.Check(run)...)
			}
		}
	}
	Sort(out)
	return out
}

// others are the further runs that this one is compared with.
func (r *Run) others() []*Run {
	out := slices.Clone(r.Controls)
	for _, v := range r.Varied {
		out = append(out, v.Runs...)
	}
	return out
}

// Sort orders findings: worst first, then by rule, call, moment and fingerprint.
func Sort(fs []finding.Finding) {
	slices.SortStableFunc(fs, func(a, b finding.Finding) int {
		if d := b.Severity.Rank() - a.Severity.Rank(); d != 0 {
			return d
		}
		if d := strings.Compare(a.Rule, b.Rule); d != 0 {
			return d
		}
		if d := a.Call - b.Call; d != 0 {
			return d
		}
		if d := cmp.Compare(began(&a), began(&b)); d != 0 {
			return d
		}
		return strings.Compare(a.Fingerprint, b.Fingerprint)
	})
}

// began is the moment of a finding's first evidence.
func began(f *finding.Finding) time.Duration {
	if len(f.Evidence) == 0 {
		return 0
	}
	return f.Evidence[0].Time
}

// of starts a finding of a rule from one effect. The same observation in many
// calls of a tool is one finding; its first call stands for all.
func (r *Run) of(doc *finding.Rule, e *finding.Effect, message string) finding.Finding {
	if r.told != nil {
		r.told[e] = true
	}
	confidence := finding.Certain
	if e.Ambiguous {
		confidence = finding.Ambiguous
	}
	return finding.Finding{
		Rule: doc.ID, Severity: doc.Severity, Title: doc.Title, Message: message,
		Tool: e.Tool, Call: e.Call, Phase: e.Phase, Rung: e.Rung, Confidence: confidence,
		Evidence:    slices.Clone(e.Evidence),
		Fingerprint: finding.Fingerprint(doc.ID, e.Tool, string(e.Kind), r.Identity(e)),
	}
}

// firstEphemeral is the first of the ports that Linux hands out by itself, and that
// programs draw from: another run has another.
const firstEphemeral = 32768

// Identity is an effect's target as a fingerprint has it. A question for a name is that for the connection to it which
// most often follows, in the same call or a later one. Port 0 is one that the kernel draws.
func (r *Run) Identity(e *finding.Effect) string {
	if name, ok := strings.CutPrefix(r.groupedTarget(e), "dns:"); ok && e.Kind == finding.NetConnect {
		return name + ":443"
	}
	i := strings.LastIndexByte(e.Target, ':')
	if own := e.Kind == finding.NetListen || strings.HasPrefix(e.Target, "loopback:"); own && i >= 0 {
		if port, err := strconv.Atoi(e.Target[i+1:]); err == nil && (port == 0 || port >= firstEphemeral) {
			return e.Target[:i+1] + "ephemeral"
		}
	}
	return r.stable(e.Target)
}

// manyNames is how many names below one domain are told as one: a tool that encodes something in names asks for others in
// each run.
const manyNames = 8

// groupedTarget is whom an effect reached for: its target, or "dns:*." and the domain where the run asked for many names below that.
func (r *Run) groupedTarget(e *finding.Effect) string {
	name, ok := askedName(e)
	if !ok {
		return e.Target
	}
	m := r.remembered()
	if m.names == nil {
		m.names = map[string]map[string]bool{}
		for i := range r.Profile.Effects {
			if n, ok := askedName(&r.Profile.Effects[i]); ok {
				d := domain(n)
				if m.names[d] == nil {
					m.names[d] = map[string]bool{}
				}
				m.names[d][n] = true
			}
		}
	}
	if d := domain(name); len(m.names[d]) > manyNames {
		return "dns:*." + d
	}
	return e.Target
}

// stable takes out of a target what differs between machines and runs.
func (r *Run) stable(target string) string {
	places := []struct{ dir, name string }{{r.ServerDir, "SERVER"}, {r.Home, "~"}}
	for _, w := range r.Workspaces {
		places = append(places, struct{ dir, name string }{w, "WORKSPACE"})
	}
	for _, p := range places {
		if p.dir != "" && (target == p.dir || strings.HasPrefix(target, p.dir+"/")) {
			return p.name + strings.TrimPrefix(target, p.dir)
		}
	}
	return target
}

// subject names who did it: a tool, or the server in a phase.
func subject(e *finding.Effect) string {
	if e.Tool == undeclaredTools {
		return "an undeclared tool"
	}
	if e.Tool != "" {
		return "“" + e.Tool + "”"
	}
	switch e.Phase {
	case finding.PhaseCall, finding.PhaseIdle, "":
		return "the server (between calls)"
	case finding.PhaseCalls:
		return "the server (in one of several calls)"
	case finding.PhaseBuild:
		return "the build of the package"
	default:
		return "the server (phase " + string(e.Phase) + ")"
	}
}

// first keeps the first finding of each fingerprint and appends to its evidence nothing more.
func first(fs []finding.Finding) []finding.Finding {
	var out distinct
	for _, f := range fs {
		out.add(f)
	}
	return out.list
}

// distinct is what first keeps, for findings of which there may be one for each call.
type distinct struct {
	list []finding.Finding
	seen map[string]int
}

func (d *distinct) add(f finding.Finding) {
	if i, ok := d.seen[f.Fingerprint]; ok {
		if f.Severity.Rank() > d.list[i].Severity.Rank() || f.Rung.Rank() > d.list[i].Rung.Rank() {
			d.list[i] = f
		}
		return
	}
	if d.seen == nil {
		d.seen = map[string]int{}
	}
	d.seen[f.Fingerprint] = len(d.list)
	d.list = append(d.list, f)
}

// perTool joins findings of a rule into one a tool, of its worst severity:
// a tool that changes a hundred files has one habit. say makes the message of the
// targets, which are those of fs in their order.
func perTool(fs []finding.Finding, targets []string, say func(f *finding.Finding, targets []string) string) []finding.Finding {
	for i := range fs {
		fs[i].Fingerprint = finding.Fingerprint(fs[i].Rule, fs[i].Tool)
	}
	return perHabit(fs, targets, say)
}

// perHabit joins the findings of each fingerprint, as perTool does those of a tool.
func perHabit(fs []finding.Finding, targets []string, say func(f *finding.Finding, targets []string) string) []finding.Finding {
	var out []finding.Finding
	named := map[string][]string{}
	index := map[string]int{}
	for k, f := range fs {
		habit := f.Fingerprint
		if !slices.Contains(named[habit], targets[k]) {
			named[habit] = append(named[habit], targets[k])
		}
		i, ok := index[habit]
		switch {
		case !ok:
			index[habit] = len(out)
			out = append(out, f)
			continue
		case f.Severity.Rank() > out[i].Severity.Rank():
			// The worst stands for all, with what came before it as evidence.
			f.Evidence = append(f.Evidence, out[i].Evidence...)
			out[i] = f
		default:
			out[i].Evidence = append(out[i].Evidence, f.Evidence...)
		}
		out[i].Evidence = out[i].Evidence[:min(len(out[i].Evidence), maxEvidence)]
	}
	for i := range out {
		out[i].Message = say(&out[i], named[out[i].Fingerprint])
	}
	return out
}

// effects returns the run's effects of the kinds given that are neither ordinary
// nor allowed by the policy.
func (r *Run) effects(kinds ...finding.EffectKind) []*finding.Effect {
	var out []*finding.Effect
	for i := range r.Profile.Effects {
		e := &r.Profile.Effects[i]
		if slices.Contains(kinds, e.Kind) && !r.excused(i) {
			out = append(out, e)
		}
	}
	return out
}

// connections are what the run tried to reach, and last the questions for names: one tells no more than the connection
// to that name, but where it alone can be pinned to a call.
func (r *Run) connections() []*finding.Effect {
	var made, asked []*finding.Effect
	for _, e := range r.effects(finding.NetConnect) {
		if _, ok := askedName(e); ok {
			asked = append(asked, e)
		} else {
			made = append(made, e)
		}
	}
	return append(made, asked...)
}

// excused reports whether the effect at an index is ordinary, or the policy allows it.
func (r *Run) excused(i int) bool {
	return r.Profile.Effects[i].Noise != "" || r.allowed != nil && r.allowed[i]
}

// leaving reports whether an effect tries to reach an address outside the sandbox.
func leaving(e *finding.Effect) bool {
	return e.Kind == finding.NetConnect && !strings.HasPrefix(e.Target, "loopback:")
}

// asked reports whether the arguments of an effect's call name this text.
func (r *Run) asked(call int, text string) bool {
	return call > 0 && text != "" && strings.Contains(string(r.Args[call]), text)
}
