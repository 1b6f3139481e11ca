package analyze

import (
	"errors"
	"fmt"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// readVaried reads the log of a run under a condition, or of a control: it is compared with the declared run, and
// judged by itself. Its gaps are the comparison's, so no policy accepts one here.
func readVaried(log *session.Reader, p *policy.Policy, known *detect.Known) (*readLog, error) {
	if log.Header.Vary == nil {
		return nil, errors.New("read the runs under conditions: the log of one names no condition")
	}
	return readWhole(log, p, gapKeeper{}, detect.Options{Known: known})
}

// compare joins to a run those that it is compared with.
func (j *judge) compare(run *rules.Run, opts *Options, varied []*readLog) {
	if opts.Traced != nil {
		traced := readEffects(opts.Traced, opts.Policy)
		j.doubtCompared("under ptrace", traced)
		run.Traced = traced.compared().Profile
	}
	for _, l := range varied {
		j.doubtCompared(l.log.Header.Vary.How, l)
		l.joinTo(run, opts.Policy)
	}
}

// joinTo joins a run under a condition, or a control, to the run that it is compared with.
func (l *readLog) joinTo(run *rules.Run, p *policy.Policy) {
	v, other := l.log.Header.Vary, l.compared()
	other.Policy = p
	k := slices.IndexFunc(run.Varied, func(o rules.Varied) bool { return o.Factor == v.Factor && o.How == v.How })
	switch {
	case v.Factor == "":
		run.Controls = append(run.Controls, other)
	case k < 0:
		run.Varied = append(run.Varied, rules.Varied{Factor: v.Factor, How: v.How, Added: v.Added, Runs: []*rules.Run{other}})
	default:
		run.Varied[k].Runs = append(run.Varied[k].Runs, other)
	}
}

// doubtCompared says what was not seen of a further run.
func (j *judge) doubtCompared(how string, l *readLog) {
	for _, g := range l.j.gaps {
		g.Text = how + ": " + g.Text
		j.doubt(g)
	}
	if lost := l.j.profile.Lost; lost > 0 {
		j.because(session.GapRecordsLost, "%s: %d records were lost", how, lost)
	}
}

// compared is what a further run did, whose evidence says in which run it lies. Of its wire only the
// arguments are in it. It shares no effects with the run that is judged by itself.
func (l *readLog) compared() *rules.Run {
	run, p := l.j.run(&wireReader{}), *l.j.profile
	p.Effects = slices.Clone(p.Effects)
	for i := range p.Effects {
		e := &p.Effects[i]
		e.Evidence = slices.Clone(e.Evidence)
		locate(e.Evidence, l.log.Dir)
	}
	run.Profile = &p
	if l.w != nil {
		run.Args = l.w.args.of
	}
	return run
}

// differs reports whether the condition of some varied runs seems to make a difference, so that it is worth a further run.
func (l *readLog) differs(varied []*readLog, p *policy.Policy) bool {
	run := l.j.run(&wireReader{})
	for _, v := range varied {
		v.joinTo(run, p)
	}
	return slices.ContainsFunc(run.Varied, func(v rules.Varied) bool { return rules.Differs(run, &v) })
}

// Questions are what only a comparison of a run with further ones can tell.
type Questions struct {
	// Sealed says that the server sent or returned something that looks random and that no input
	// explains, or asked for something else in two calls with the same arguments: whether secrets are in it, runs with
	// others can tell.
	Sealed bool
	// Copied says that a host that nothing declares got arguments: whether the answers need it,
	// runs can tell in which no host answers.
	Copied bool
	// Besides are domains that got arguments beside the host that the call is for: whether the answers need
	// them, runs can tell in which each is missing. There are at most rules.MaxBesides.
	Besides []string
	// Calls are the first ones of each tool that sent or returned what the other questions are about, to each peer.
	Calls []int
	// Variables are those of which tools that answered with errors alone say that they hold a credential.
	Variables []string
	// Places are paths that tools name which answered with errors alone: they look there for files.
	Places []string
	// Unserved says that a tool which answered with errors alone tried a port of this machine on which nothing listened.
	Unserved bool
	// AtStart are those without which the server ended before any call, as its last words say.
	AtStart []string
}

// askingCalls bounds the calls of a tool that ask a question about one peer.
const askingCalls = 3

// maxVariables bounds the variables that get a value of their own.
const maxVariables = 8

// QuestionsOf reads a run's log for them.
func QuestionsOf(log *session.Reader) (Questions, error) {
	l, err := new(Options).read(log)
	if err != nil {
		return Questions{}, err
	}
	return l.questions(), nil
}

// questions are those of a run that is read and not judged yet.
func (l *readLog) questions() Questions {
	run := l.j.run(l.w)
	unsteady := rules.Unsteady(run)
	return Questions{
		Sealed: len(l.j.profile.Payloads)+len(unsteady) > 0, Copied: rules.Copies(run), Besides: rules.Besides(run), Calls: askingOf(l.j.profile, unsteady),
		Variables: credentialVariables(l.w.refusals), Places: l.missedPlaces(), Unserved: l.unserved(), AtStart: l.j.startVariables(),
	}
}

// askingOf are the calls that sent or returned what looks random, asked for other things than the same call before, or
// handed their arguments on.
func askingOf(p *profile.Profile, unsteady []int) []int {
	type way struct{ tool, to string }
	seen, out := map[way]int{}, []int(nil)
	add := func(call int, w way) {
		if call > 0 && seen[w] < askingCalls && !slices.Contains(out, call) {
			seen[w]++
			out = append(out, call)
		}
	}
	for _, s := range p.Payloads {
		add(s.Call, way{s.Tool, s.To})
	}
	for _, n := range unsteady {
		add(n, way{"", p.Sent[n].Peer})
	}
	for _, c := range p.Carried {
		add(c.Call, way{c.Tool, c.Peer})
	}
	return out
}

// randomGaps says what looked random and was not compared with runs that have other secrets, or could not be.
func (j *judge) randomGaps(run *rules.Run) {
	for _, p := range rules.Fresh(run) {
		j.doubt(session.Gap{Code: session.GapPayloadSealed, Tool: p.Tool, Phase: string(p.Phase), Text: fmt.Sprintf("%d bytes that were sent to %s look random and differ in each run, so that no comparison tells what is in them", p.Length, j.say(p.To, 200))})
	}
	known := slices.ContainsFunc(run.Varied, func(v rules.Varied) bool { return v.Factor == rules.FactorSecrets })
	if known || j.header.Vary != nil || j.header.Experiment != "" {
		return
	}
	for _, p := range j.profile.Payloads {
		where := "returned"
		if p.To != "" {
			where = "sent to " + j.say(p.To, 200)
		}
		j.doubt(session.Gap{Code: session.GapPayloadSealed, Tool: p.Tool, Phase: string(p.Phase), Text: "what was " + where + " looks random; coalmine did not check whether it contains secrets"})
	}
}

// factors are those of the conditions, in their order.
func factors(varied []rules.Varied) []string {
	var out []string
	for _, v := range varied {
		if !slices.Contains(out, v.Factor) {
			out = append(out, v.Factor)
		}
	}
	return out
}
