package analyze

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// readCompared reads the further runs that a run is compared with.
func (j *judge) readCompared(run *rules.Run, opts *Options) {
	if opts.Traced != nil {
		run.Traced = j.comparedRun("under ptrace", opts.Traced).Profile
	}
	for _, log := range opts.Varied {
		v := log.Header.Vary
		if v == nil {
			continue
		}
		other := j.comparedRun(v.How, log)
		other.Policy = opts.Policy
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
}

// comparedRun reads what a further run did, and what was not seen of it; of its
// wire nothing is read.
func (j *judge) comparedRun(how string, log *session.Reader) *rules.Run {
	o := newJudge(log.Header)
	o.readEffects(log)
	for i := range o.profile.Effects {
		locate(o.profile.Effects[i].Evidence, log.Dir)
	}
	for _, g := range o.gaps {
		g.Text = how + ": " + g.Text
		j.doubt(g)
	}
	if o.profile.Lost > 0 {
		j.because(session.GapRecordsLost, "%s: %d records were lost", how, o.profile.Lost)
	}
	return o.run(&wireReader{})
}

// Differs reports whether some condition of opts.Varied seems to make a
// difference, so that it is worth a further run.
func Differs(log *session.Reader, opts Options) (bool, error) {
	j := newJudge(log.Header)
	j.readEffects(log)
	run := j.run(&wireReader{})
	j.readCompared(run, &opts)
	return slices.ContainsFunc(run.Varied, func(v rules.Varied) bool { return rules.Differs(run, &v) }), nil
}

// Questions are what only a comparison of a run with further ones can tell.
type Questions struct {
	// Sealed says that the server sent or returned something that looks random and that no input
	// explains: whether secrets are in it, runs with others can tell.
	Sealed bool
	// Copied says that a host that nothing declares got arguments: whether the answers need it,
	// runs can tell in which no host answers.
	Copied bool
}

// QuestionsOf reads a run's log for them.
func QuestionsOf(log *session.Reader) (Questions, error) {
	j := newJudge(log.Header)
	r := j.reading(log.Timers)
	r.w = newWireReader(r.b, &j.timelines)
	file, err := log.Wire()
	if err != nil {
		return Questions{}, err
	}
	defer file.Close()
	r.frames = session.NewScanner(file)
	r.all(log)
	return Questions{Sealed: len(j.profile.Payloads) > 0, Copied: rules.Copies(j.run(r.w))}, nil
}

// randomGaps says what looked random and was not compared with runs that have other secrets.
func (j *judge) randomGaps(varied []rules.Varied) {
	known := slices.ContainsFunc(varied, func(v rules.Varied) bool { return v.Factor == rules.FactorSecrets })
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
func factors(logs []*session.Reader) []string {
	var out []string
	for _, l := range logs {
		if v := l.Header.Vary; v != nil && v.Factor != "" && !slices.Contains(out, v.Factor) {
			out = append(out, v.Factor)
		}
	}
	return out
}
