package rules

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// maxListed bounds the files of one directory that a list names; more become the directory.
const maxListed = 16

// Least is the least policy that allows all that the run did, as far as a policy
// can: an entry for every tool, each with what it needs and no more. What happened
// outside calls is the server's.
func Least(r *Run) *policy.Policy {
	p := &policy.Policy{Tools: map[string]policy.Entry{}}
	entries := map[string]*policy.Entry{"": none()}
	for _, t := range r.Surface.Tools {
		entries[t.Name] = none()
	}
	findings := notes(r)
	for _, e := range r.wanting() {
		for _, w := range r.wants(e) {
			if entries[e.Tool] == nil {
				entries[e.Tool] = none()
			}
			add(&entries[e.Tool].Allow, w.list, policy.Item{Text: r.item(w), Note: findings[noteKey{e.Tool, w.name}]})
		}
	}
	for name, entry := range entries {
		entry.Allow.Files = gather(entry.Allow.Files)
		if name == "" {
			p.Server = *entry
			continue
		}
		p.Tools[name] = *entry
	}
	r.prune(p)
	return p
}

// wanting are the effects that need leave: those that are not ordinary, and reads of documents
// that nothing explains.
func (r *Run) wanting() []*finding.Effect {
	var out []*finding.Effect
	for i := range r.Profile.Effects {
		if e := &r.Profile.Effects[i]; e.Noise == "" {
			out = append(out, e)
		}
	}
	return append(out, r.unexplainedReads()...)
}

// none allows nothing of anything.
func none() *policy.Entry {
	return &policy.Entry{Allow: policy.Lists{Files: policy.List{}, Hosts: policy.List{}, Commands: policy.List{}, Env: policy.List{}}}
}

func listOf(l *policy.Lists, name listName) *policy.List {
	switch name {
	case listFiles:
		return &l.Files
	case listHosts:
		return &l.Hosts
	case listCommands:
		return &l.Commands
	default:
		return &l.Env
	}
}

func add(l *policy.Lists, name listName, it policy.Item) {
	to := listOf(l, name)
	if !slices.ContainsFunc(*to, func(o policy.Item) bool { return o.Text == it.Text }) {
		*to = append(*to, it)
	}
}

type noteKey struct{ tool, name string }

// notes say which finding an entry answers, so that nobody allows it unseen.
func notes(r *Run) map[noteKey]string {
	out := map[noteKey]string{}
	bare := *r
	bare.Policy = nil
	wanting := r.wanting()
	for _, f := range Check(&bare) {
		for _, e := range wanting {
			if e.Tool != f.Tool || f.Severity.Rank() < finding.Low.Rank() || !shares(f.Evidence, e.Evidence) {
				continue
			}
			for _, w := range r.wants(e) {
				if k := (noteKey{e.Tool, w.name}); out[k] == "" {
					out[k] = string(f.Severity) + " " + f.Rule + ": " + f.Title
				}
			}
		}
	}
	return out
}

func shares(a, b []finding.Evidence) bool {
	return slices.ContainsFunc(a, func(x finding.Evidence) bool {
		return slices.ContainsFunc(b, func(y finding.Evidence) bool { return x.Source == y.Source && x.Seq == y.Seq && x.Time == y.Time })
	})
}

// drawn are parts of a name that the next run draws anew: long numbers and hex.
var drawn = lazyregexp.New(`[0-9a-fA-F]{8}-[0-9a-fA-F-]{13,}|[0-9]{6,}|[0-9a-f]{16,}`)

// item is a want as a policy would write it for this run and the next.
func (r *Run) item(w want) string {
	if w.list != listFiles && w.list != listCommands {
		return w.name
	}
	text := drawn.ReplaceAllString(r.Places().Contract(w.name), "*")
	if w.list == listFiles && !w.write {
		text = "read:" + text
	}
	return text
}

// gather makes of many files of one directory that directory.
func gather(files policy.List) policy.List {
	dirs := map[string]int{}
	for _, f := range files {
		dirs[path.Dir(f.Text)]++
	}
	var out policy.Lists
	out.Files = policy.List{}
	for _, f := range files {
		if d := path.Dir(f.Text); dirs[d] > maxListed && f.Note == "" && d != "." && d != "read:." {
			f.Text = strings.TrimSuffix(d, "/") + "/**"
		}
		add(&out, listFiles, f)
	}
	return out.Files
}

// maxPruned bounds the wants for which each item is tried; with more, an item
// that another covers may stay.
const maxPruned = 2_000

// prune takes out each item without which all is still allowed.
func (r *Run) prune(p *policy.Policy) {
	with := *r
	with.Policy = p
	wants := with.allWants()
	if len(wants) > maxPruned {
		return
	}
	shrink := func(entry *policy.Entry, put func()) {
		for _, name := range []listName{listFiles, listHosts, listCommands, listEnv} {
			l := listOf(&entry.Allow, name)
			for i := len(*l) - 1; i >= 0; i-- {
				whole := *l
				*l = slices.Delete(slices.Clone(whole), i, i+1)
				put()
				if !with.allows(wants) {
					*l = whole
					put()
				}
			}
		}
	}
	shrink(&p.Server, func() {})
	for _, name := range slices.Sorted(maps.Keys(p.Tools)) {
		entry := p.Tools[name]
		shrink(&entry, func() { p.Tools[name] = entry })
	}
}

// wanted is a want of an effect.
type wanted struct {
	effect *finding.Effect
	want   want
}

// allWants are the wants of all effects that are not ordinary, each once.
func (r *Run) allWants() []wanted {
	type key struct {
		tool      string
		want      want
		anybody   bool
		elsewhere bool
	}
	seen := map[key]bool{}
	var out []wanted
	for _, e := range r.wanting() {
		for _, w := range r.wants(e) {
			k := key{e.Tool, w, e.Ambiguous, e.Phase == finding.PhaseIdle}
			if !seen[k] {
				seen[k] = true
				out = append(out, wanted{e, w})
			}
		}
	}
	return out
}

// allows reports whether the policy allows all of them.
func (r *Run) allows(wants []wanted) bool {
	for _, w := range wants {
		if r.verdict(w.effect, w.want).allowed == nil {
			return false
		}
	}
	return true
}
