package rules

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

const (
	// FactorNetwork is the condition under which no host answers.
	FactorNetwork = "network"
	// FactorHost is the condition under which a host is missing that got arguments beside the one that a call is for.
	FactorHost = "host"
)

// leastAlike is how many calls must answer the same without the network.
const leastAlike = 2

// deliverWords are by which a tool says that it hands on what it is given: its answer need not
// depend on whether that arrives.
var deliverWords = []string{
	"send", "sends", "post", "posts", "publish", "publishes", "notify", "notifies", "submit", "submits", "share", "shares", "sync", "syncs", "upload", "uploads",
	"telemetry", "analytics", "metrics", "message", "messages", "announce", "announces", "report", "reports", "broadcast", "forward", "forwards", "webhook",
}

// Copies reports whether calls' arguments went to a host that nothing declares, so that it is
// worth a comparison with runs in which no host answers.
func Copies(r *Run) bool {
	return slices.ContainsFunc(r.Profile.Carried, func(c profile.Carried) bool { return r.unnamedService(&c) })
}

// MaxBesides bounds the hosts of Besides.
const MaxBesides = 2

// Besides are the domains that got calls' arguments beside the host that a call is for, as the arguments or the
// declarations name it, so that it is worth a comparison with runs in which each is missing.
func Besides(r *Run) []string {
	var out []string
	for i := range r.Profile.Carried {
		c := &r.Profile.Carried[i]
		if d := domain(c.Host); len(out) < MaxBesides && !slices.Contains(out, d) && r.beside(c) {
			out = append(out, d)
		}
	}
	return out
}

// beside reports whether a call sent its arguments to a host that nothing names, and calls of the same tool reached
// another one that an argument or a declaration names.
func (r *Run) beside(c *profile.Carried) bool {
	t := r.Scope.Tool(c.Tool)
	if !r.declaredTool(c.Tool) || c.Host == "" || c.Loopback || isNearby(c.Host) || runsCommands(&t, "") ||
		r.namesPeer(c.Host) || r.givenHost(c.Host) || r.asksFor(c.Call, c.Tool, domain(c.Host)) || r.isOwnCloud(c.Host, c.Tool) {
		return false
	}
	return slices.ContainsFunc(r.Profile.Effects, func(e finding.Effect) bool {
		return e.Tool == c.Tool && e.Kind == finding.NetConnect && e.Host != "" && domain(e.Host) != domain(c.Host) && (r.asksFor(e.Call, e.Tool, e.Host) || r.namesPeer(e.Host))
	})
}

// unnamedService reports whether a tool sent its arguments to a host without saying in any word
// that it uses a network or hands something on.
func (r *Run) unnamedService(c *profile.Carried) bool {
	t := r.Scope.Tool(c.Tool)
	return r.declaredTool(c.Tool) && c.Host != "" && !c.Loopback && c.Via != "dns" && !r.knowsPeer(c.Call, c.Tool, c.Host) &&
		!scope.AnyShown(t.Network) && !scope.AnyShown(r.Scope.Purpose.Network) && !r.shown(c.Tool, deliverWords)
}

// needless reports whether a tool answers the same where the host cannot be reached: then what it
// sent there was not for its answer.
func (r *Run) needless(c *profile.Carried) bool {
	factor := FactorNetwork
	if r.beside(c) {
		factor = FactorHost
	} else if !r.unnamedService(c) {
		return false
	}
	return slices.ContainsFunc(r.Varied, func(v Varied) bool {
		return v.Factor == factor && len(v.Runs) >= leastConfirmed && len(r.Controls) >= leastConfirmed &&
			!(factor == FactorHost && slices.ContainsFunc(v.Runs, func(in *Run) bool { return in.reachedHost(c) })) && indifferent(r.Controls, v.Runs, c)
	})
}

// reachedHost reports whether a run sent arguments to the host of another run.
func (r *Run) reachedHost(c *profile.Carried) bool {
	return c.Via != "dns" && slices.ContainsFunc(r.Profile.Carried, func(o profile.Carried) bool {
		return o.Tool == c.Tool && domain(o.Host) == domain(c.Host) && o.Via != "dns"
	})
}

// indifferent reports whether the calls of a tool that carried their arguments to a host have the
// same answer in all runs, whether or not a host answers. A call whose answer differs between runs
// in the same surroundings tells nothing.
func indifferent(controls, silent []*Run, c *profile.Carried) bool {
	alike := 0
	for _, o := range controls[0].Profile.Carried {
		if o.Tool != c.Tool || domain(o.Host) != domain(c.Host) {
			continue
		}
		answer, ok := controls[0].Profile.Answers[o.Call]
		is := func(in *Run) bool { return in.Profile.Answers[o.Call] == answer }
		if !ok || answer.Failed || !all(controls, is) {
			continue
		}
		if !all(silent, is) {
			return false
		}
		alike++
	}
	return alike >= leastAlike
}

// needed reports whether a tool answers otherwise where the host cannot be reached, and always the same
// where it can: what it sent there was for its answer, as that of a service that is not named.
func (r *Run) needed(c *profile.Carried) bool {
	if slices.Contains(r.NeededBefore, NeededHost{c.Tool, c.Host}) {
		return true
	}
	return slices.ContainsFunc(r.Varied, func(v Varied) bool {
		if v.Factor != FactorNetwork || len(v.Runs) == 0 || len(r.Controls) == 0 {
			return false
		}
		// The runs under conditions make fewer calls than the declared one: a control has their numbers.
		first := r.Controls[0].Profile
		return slices.ContainsFunc(callsTo(first, c.Tool, c.Host), func(call int) bool {
			answer, ok := first.Answers[call]
			is := func(in *Run) bool { return in.Profile.Answers[call] == answer }
			return ok && all(r.Controls, is) && !slices.ContainsFunc(v.Runs, is)
		})
	})
}

// callsTo are calls of a tool that reached a host, whether or not what they were given is seen to go there:
// short arguments are not told from chance.
func callsTo(p *profile.Profile, tool, host string) []int {
	var out []int
	for _, o := range p.Carried {
		if o.Tool == tool && o.Host == host {
			out = append(out, o.Call)
		}
	}
	for i := range p.Effects {
		if e := &p.Effects[i]; e.Kind == finding.NetConnect && e.Tool == tool && e.Call > 0 && slices.Contains(hostsOf(e), host) {
			out = append(out, e.Call)
		}
	}
	return out
}

// NeededHost is a host without which a tool answers otherwise.
type NeededHost struct{ Tool, Host string }

// NeededHosts are those of a run that is compared with runs in which no host answers. A further run of the
// server that is judged by itself shows nothing of the kind.
func (r *Run) NeededHosts() []NeededHost {
	var out []NeededHost
	for i := range r.Profile.Carried {
		c := &r.Profile.Carried[i]
		if h := (NeededHost{c.Tool, c.Host}); c.Host != "" && !slices.Contains(out, h) && r.needed(c) {
			out = append(out, h)
		}
	}
	return out
}

func all(runs []*Run, is func(*Run) bool) bool {
	return !slices.ContainsFunc(runs, func(in *Run) bool { return !is(in) })
}
