package analyze

import (
	"cmp"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Observed judges, while it runs, a server that nobody put into a sandbox: by its messages
// and its system calls, and by the rules of a probe. There are no decoys: the user's own
// secrets are known by their paths alone. It is not safe for concurrent use.
type Observed struct {
	j     *judge
	r     *reading
	paths map[string]string // of the secrets, by id
}

// Observe begins to judge a server. Of the header it needs Home, ServerDir, Workspaces and
// Command. secrets are the places of the user's secrets, such as canaries.Places lists.
func Observe(h session.Header, secrets []canaries.Canary) *Observed {
	h.Canaries = nil
	for _, c := range secrets {
		c.Value = "" // what has no value is never looked for
		h.Canaries = append(h.Canaries, c)
	}
	o := &Observed{j: newJudge(h), paths: map[string]string{}}
	for _, c := range h.Canaries {
		o.paths[c.ID] = c.Path
	}
	o.r = o.j.reading(false)
	o.r.w = newWireReader(o.r.b, &o.j.timelines)
	return o
}

// Take takes the next entry: a system call of the server's, or a frame and its mark.
func (o *Observed) Take(e session.Entry) {
	o.r.entries(func(yield func(session.Entry, error) bool) { yield(e, nil) })
}

// Now is what the server did so far that is not ordinary for any program, in the order in which it
// was seen, and what the rules find in it, worst first. Of the rules those
// count whose evidence is a system call: the messages are coalmine detect's. A secret's
// Target is its path.
func (o *Observed) Now() ([]finding.Effect, []finding.Finding) {
	o.j.profile = o.r.b.Now()
	run := o.j.run(o.r.w)
	found := slices.DeleteFunc(rules.Check(run), func(f finding.Finding) bool {
		return !slices.ContainsFunc(f.Evidence, func(e finding.Evidence) bool { return e.Source == "record" })
	})
	var effects []finding.Effect
	for _, e := range o.j.profile.Effects {
		if e.Noise != "" || len(e.Evidence) == 0 || e.Evidence[0].Source != "record" {
			continue
		}
		if e.Kind == finding.Secret {
			e.Target = cmp.Or(o.paths[e.Target], e.Target)
		}
		effects = append(effects, e)
	}
	return effects, found
}
