package rules

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm219 = Rule{Rule: cm219Doc, Check: checkCM219, Shrink: ShrinkNever}

var cm219Doc = finding.Rule{
	ID: "CM219", Name: "OpenWithoutAuthentication", Title: "Network service without authentication", Severity: finding.High, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "Everybody in the network can call the tools, with the user's files and credentials behind them.", Fix: "Listen on 127.0.0.1, and require a credential where other machines are to connect.", Preview: true},
	CWE:    []string{"CWE-306", "CWE-1327"}, OWASP: []string{"MCP07"},
	Help: "The server listens on an address that is not loopback, and answers there without credentials: every machine of the network can call its tools.\n\n" +
		"**Evidence.** The kernel's record of the bind, and the answer to a request without credentials. High is the port over which the server speaks MCP, medium another port that speaks MCP, or where a route of its source answers with data or changes something. It is low where the command or a setting names such an address (`--host 0.0.0.0`), and for an image, whose container decides who reaches the port. A port on loopback is quiet.\n\n" +
		"**False positive when** a firewall or a proxy that belongs to the server stands before it.",
}

func checkCM219(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, seen := range r.Remote {
		if seen.What != session.PortNoAuthorization || seen.Port == 0 {
			continue
		}
		e := r.boundBeyond(seen.Port)
		if e == nil {
			continue
		}
		f := r.of(&cm219Doc, e, fmt.Sprintf("the server listens on %s and answers without credentials", e.Target))
		f.Tool, f.Call, f.Phase = "", 0, e.Phase
		f.Evidence = append(slices.Clone(f.Evidence), facts([]Fact{seen.Fact})...)
		f.Fingerprint = finding.Fingerprint(cm219Doc.ID, fmt.Sprint(seen.Port == r.Port))
		switch {
		case r.Image || slices.ContainsFunc(r.Given, namesAnyAddress):
			f.Severity = finding.Low
		case seen.Port != r.Port:
			f.Severity = finding.Medium
		}
		out = append(out, f)
	}
	return first(out)
}

// boundBeyond is the effect by which a port was bound on an address that is not loopback, nil for none. The kernel's
// record of a drawn port has no number.
func (r *Run) boundBeyond(port int) *finding.Effect {
	var drawn *finding.Effect
	within := false
	for _, e := range r.effects(finding.NetListen) {
		a, err := netip.ParseAddrPort(e.Target)
		switch {
		case err != nil:
		case int(a.Port()) == port && a.Addr().IsLoopback():
			within = true
		case int(a.Port()) == port:
			return e
		case a.Port() == 0 && drawn == nil && port == r.Port && !a.Addr().IsLoopback():
			drawn = e
		}
	}
	if within {
		return nil
	}
	return drawn
}

// namesAnyAddress reports whether a word of the command or a setting names an address that is not loopback.
func namesAnyAddress(word string) bool {
	for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return strings.ContainsRune("=,/@", r) }) {
		if a, err := netip.ParseAddrPort(part); err == nil && !a.Addr().IsLoopback() {
			return true
		}
		if a, err := netip.ParseAddr(strings.Trim(part, "[]")); err == nil && !a.IsLoopback() {
			return true
		}
	}
	return false
}
