package rules

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/opaque"
	"github.com/coalmine-dev/coalmine/analyze/profile"
)

var cm111 = Rule{Rule: cm111Doc, Check: checkCM111, Shrink: ShrinkNever}

var cm111Doc = finding.Rule{
	ID: "CM111", Name: "SecretInfluence", Title: "Opaque payload depends on the secrets", Severity: finding.Critical, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "Random-looking data that changes with the secrets contains them in some form.", Fix: "Remove credentials from the data before it is encrypted or hashed. Declare request signing if that is the purpose.", Preview: true},
	CWE:    []string{"CWE-200", "CWE-506"}, OWASP: []string{"MCP01", "MCP05"},
	Help: "The server sent or returned something that looks random and that no input explains: ciphertext, a digest, noise, or the numbers of a call's progress notifications that go up by no steady step. The same calls were made again in unchanged surroundings, " +
		"with other values of the secrets, and without them. What was sent is the same, or has the same length, each time that the secrets are the same, and differs each time that they do: so they are in it. Where a tool's lengths differ by themselves, all that it sent must differ by far more.\n\n" +
		"**Evidence.** The lengths in the runs that were compared, at least two of each kind. What was sent to a host is critical, what was returned is high. " +
		"Quiet where an argument or a declaration explains each secret that was opened; what was sent is explained by no directory that the tool works on. " +
		"The requests of a tool that asks for something else in two calls with the same arguments are compared in the same way, in whatever order they come: where other values of the secrets decide what it asks for, the secrets are in that. Quiet is the SHA-256 of a file that the server made or changed.\n\n" +
		"**False positive when** a request is signed with a credential, which the server's documentation says and its declaration does not.",
}

// FactorSecrets is the condition under which only the user's secrets differ.
const FactorSecrets = "secrets"

// channel is where payloads of a run went: runs that make the same calls have the same ones.
type channel struct {
	phase finding.Phase
	call  int
	tool  string
	to    string
}

// way is a tool and where it sends: the channels of all its calls.
type way struct{ tool, to string }

func (a channel) way() way { return way{a.tool, a.to} }

// compare orders channels: by their calls, those outside of calls first.
func (a channel) compare(b channel) int {
	return cmp.Or(cmp.Compare(a.call, b.call), cmp.Compare(a.phase, b.phase), cmp.Compare(a.to, b.to))
}

// content is what went over a channel in one run, each payload once, sorted.
type content struct {
	lengths []int
	sums    []uint64
}

// payloads are what a run sent and returned that looks random, but for the SHA-256 of a file
// that the server made or that stood there: it tells nothing of what is in the file.
func (r *Run) payloads() map[channel]content {
	digests := map[uint64]bool{}
	for _, d := range r.Profile.Differences {
		digests[opaque.Sum([]byte(d.Before.SHA256))], digests[opaque.Sum([]byte(d.After.SHA256))] = true, true
	}
	out := map[channel]content{}
	for _, p := range r.Profile.Payloads {
		if digests[p.Sum] {
			continue
		}
		k := channel{p.Phase, p.Call, p.Tool, p.To}
		c := out[k]
		c.lengths, c.sums = append(c.lengths, p.Length), append(c.sums, p.Sum)
		out[k] = c
	}
	for k, c := range out {
		slices.Sort(c.lengths)
		slices.Sort(c.sums)
		out[k] = content{slices.Compact(c.lengths), slices.Compact(c.sums)}
	}
	return out
}

// influenced are the channels over which all of the controls sent the same, or as much, and
// all runs under a condition something else, or as much of another length.
func influenced(controls, varied []*Run) map[channel]string {
	if len(controls) == 0 || len(varied) == 0 {
		return nil
	}
	var base, other []map[channel]content
	whole := 0
	for _, c := range controls {
		base, whole = append(base, c.payloads()), max(whole, completed(c.Profile))
	}
	for _, v := range varied {
		if completed(v.Profile) < whole {
			return nil // it did not get as far
		}
		other = append(other, v.payloads())
	}
	out := map[channel]string{}
	uneven := unevenWays(base)
	for k, first := range base[0] {
		if differs(base, other, k, func(c content) bool { return slices.Equal(c.sums, first.sums) }) {
			out[k] = "contents"
		} else if uneven[k.way()] {
			if apart(totals(base, other, k.way())) {
				out[k] = "length"
			}
		} else if differs(base, other, k, func(c content) bool { return slices.Equal(c.lengths, first.lengths) }) {
			out[k] = "length"
		}
	}
	return out
}

// leastFresh is how long something is that looks random and is neither a key nor the name of a session.
const leastFresh = 512

// Fresh are the peers to which a tool sent, in the same call of every run in the same surroundings, something long that
// looks random and was new each time: no comparison tells what is in it. Each pair is told once.
func Fresh(r *Run) (out []profile.Payload) {
	if len(r.Controls) == 0 {
		return nil
	}
	var others []map[channel]content
	for _, c := range r.Controls {
		others = append(others, c.payloads())
	}
	told := map[way]bool{}
	for _, p := range r.Profile.Payloads {
		k := channel{p.Phase, p.Call, p.Tool, p.To}
		if p.To == "" || p.Format || p.Length < leastFresh || told[k.way()] {
			continue
		}
		// The calls of the others have numbers of their own, so that each of the way's channels is looked at.
		fresh := !slices.ContainsFunc(others, func(m map[channel]content) bool {
			sent := false
			for at, c := range m {
				if at.way() == k.way() {
					sent = sent || slices.Contains(c.lengths, p.Length)
					if slices.Contains(c.sums, p.Sum) {
						return true
					}
				}
			}
			return !sent
		})
		if fresh {
			told[k.way()] = true
			out = append(out, p)
		}
	}
	return out
}

// unevenWays are those over which runs in the same surroundings sent lengths that differ: a
// single channel of theirs may then be the same several times by chance.
func unevenWays(base []map[channel]content) map[way]bool {
	out := map[way]bool{}
	for _, m := range base {
		for k, c := range m {
			for _, other := range base {
				if !slices.Equal(other[k].lengths, c.lengths) {
					out[k.way()] = true
				}
			}
		}
	}
	return out
}

// totals are how many bytes each run sent over a way: in the channels that all runs have, since
// it is chance whether a short payload looks random, or in all where a group has none.
func totals(base, other []map[channel]content, w way) (a, b []int) {
	runs := slices.Concat(base, other)
	common := func(k channel) bool {
		return !slices.ContainsFunc(runs, func(m map[channel]content) bool { return len(m[k].lengths) == 0 })
	}
	all := sentNothing(base, w) || sentNothing(other, w)
	total := func(m map[channel]content) (n int) {
		for k, c := range m {
			if k.way() == w && (all || common(k)) {
				for _, l := range c.lengths {
					n += l
				}
			}
		}
		return n
	}
	for _, m := range base {
		a = append(a, total(m))
	}
	for _, m := range other {
		b = append(b, total(m))
	}
	return a, b
}

// sentNothing reports whether no run of a group sent anything over a way.
func sentNothing(runs []map[channel]content, w way) bool {
	return !slices.ContainsFunc(runs, func(m map[channel]content) bool {
		for k := range m {
			if k.way() == w {
				return true
			}
		}
		return false
	})
}

// farApart is how many times as far two groups are from each other as they reach, for the
// difference to be no chance.
const farApart = 3

// apart reports whether two groups of numbers lie far from each other for how much each differs
// within itself.
func apart(a, b []int) bool {
	gap := max(slices.Min(b)-slices.Max(a), slices.Min(a)-slices.Max(b))
	return gap > farApart*(slices.Max(a)-slices.Min(a)+slices.Max(b)-slices.Min(b))
}

// differs reports whether a channel is the same in all controls and in no other run.
func differs(base, other []map[channel]content, k channel, same func(content) bool) bool {
	return !slices.ContainsFunc(base, func(m map[channel]content) bool { return !same(m[k]) }) &&
		!slices.ContainsFunc(other, func(m map[channel]content) bool { return same(m[k]) })
}

func checkCM111(r *Run) []finding.Finding {
	if len(r.Controls) < leastConfirmed {
		return nil
	}
	var out []finding.Finding
	for i := range r.Varied {
		v := &r.Varied[i]
		if v.Factor != FactorSecrets || len(v.Runs) < leastConfirmed {
			continue
		}
		found := influenced(r.Controls, v.Runs)
		for _, k := range slices.SortedFunc(maps.Keys(found), channel.compare) {
			if !r.secretsExplained(k.tool, k.to) {
				out = append(out, r.influence(v, k, found[k]))
			}
		}
		out = append(out, r.steeredBy(v)...)
	}
	return first(out)
}

// influence is the finding of a channel that the secrets have an influence on.
func (r *Run) influence(v *Varied, k channel, what string) finding.Finding {
	e := finding.Effect{Kind: finding.NetConnect, Target: k.to, Phase: k.phase, Call: k.call, Tool: k.tool}
	did, severity := " sent random-looking data to "+k.to, finding.Critical
	if k.to == "" {
		did, severity = " returned random-looking data", finding.High
	}
	f := r.of(&cm111Doc, &e, subject(&e)+did+"; its "+what+" changes "+v.How+" and under no other condition")
	f.Severity, f.Call = severity, 0
	f.Evidence = []finding.Evidence{
		{Source: "event", Text: "in unchanged surroundings: " + r.Controls[0].payloads()[k].text()},
		{Source: "event", Text: v.How + ": " + v.Runs[0].payloads()[k].text()},
	}
	f.Fingerprint = finding.Fingerprint("CM111", k.tool, k.to)
	return f
}

// text says how much it is.
func (c content) text() string {
	if len(c.lengths) == 0 {
		return "no random-looking data"
	}
	var sizes []string
	for _, n := range c.lengths {
		sizes = append(sizes, plural(n, "byte"))
	}
	return plural(len(c.sums), "payload") + " of " + list(sizes, maxEvidence)
}

// proofWords are by which a tool declares to prove to others that it has a key.
var proofWords = []string{"sign", "signs", "signed", "signing", "signature", "signatures", "authenticate", "authenticates", "authentication", "login", "connect", "connects", "tunnel", "encrypt", "encrypts", "decrypt", "decrypts", "handshake"}

// secretsExplained reports whether an argument or a declaration explains all secrets that were
// opened outside of calls and in those of a tool, and there is one. That a workspace is worked on, or that a
// kind of secret is the server's business, explains that they were read. That they were sent it explains where
// the host is their issuer or the call names it, and of a tool that signs with them.
func (r *Run) secretsExplained(tool, to string) bool {
	t := r.Scope.Tool(tool)
	if to == "" && returnsEnvironment(&t) {
		return true
	}
	opened := false
	for _, e := range r.effects(finding.Secret) {
		if e.Rung == finding.RungAttempted || e.Call != 0 && e.Tool != tool {
			continue
		}
		x, ok := r.explainOther(e)
		if !ok || to != "" && x.Class == finding.ClassArgument && !r.asked(e.Call, r.Canaries[e.Target].Path) ||
			to != "" && x.Class == finding.ClassClaim && !r.Canaries[e.Target].IssuedBy(to) && !r.asked(e.Call, to[:max(0, strings.LastIndexByte(to, ':'))]) && saidWord(&t, proofWords) == "" {
			return false
		}
		opened = true
	}
	return opened
}
