package rules

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

var cm113 = Rule{Rule: cm113Doc, Check: checkCM113}

var cm113Doc = finding.Rule{
	ID: "CM113", Name: "ArgumentsCopied", Title: "Call arguments sent to an undeclared host", Severity: finding.High, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "What users type into tools can be confidential, and nobody told them about this host.", Fix: fixDeclareNetwork, Preview: true},
	CWE:    []string{"CWE-200", "CWE-359"}, OWASP: []string{"MCP01", "MCP10"},
	Help: "During a call, the server sent a word of the call's arguments, raw or encoded, to a host that no declaration, no argument and no user setting names: an address without a name, a port of the machine itself, or a second host next to the declared one.\n\n" +
		"**Evidence.** The flow. An address and a port of the machine are high, and so is another host where the server says that it contacts no other; any other second host is low. A tool that takes an address and sends its arguments to another host as well is medium, low where a tool for domains asks a server of RDAP or WHOIS. Hosts of the user's own network that a declaration speaks of are quiet, and so is the port of a program that it names (Ollama and 11434).\n\n" +
		"**False positive when** the server's documentation, not its declaration, names the service.",
}

// noOther are promises to contact no host but those that are named.
var noOther = lazyregexp.New(`(?i)\b(?:no other|only (?:to|with|contacts?|talks?|connects?|sends?)|nothing else|nowhere else|exclusively)\b`)

func checkCM113(r *Run) []finding.Finding {
	var out []finding.Finding
	for i := range r.Profile.Carried {
		c := &r.Profile.Carried[i]
		severity := r.copiedTo(c)
		if severity == "" {
			continue
		}
		tool, who := c.Tool, "“"+c.Tool+"”"
		if !r.declaredTool(tool) {
			tool, who = undeclaredTools, "an undeclared tool"
		}
		f := r.sentInCall(&cm113Doc, c, tool, who+" sent its call arguments to the undeclared host "+c.Peer+" over "+c.Via)
		f.Severity = severity
		out = append(out, f)
	}
	return first(out)
}

// sentInCall is a finding of what a call sent to a peer; its identity is the tool, the peer and more.
func (r *Run) sentInCall(doc *finding.Rule, c *profile.Carried, tool, message string, more ...string) finding.Finding {
	return finding.Finding{
		Rule: doc.ID, Severity: doc.Severity, Title: doc.Title, Tool: tool, Call: c.Call, Phase: cmp.Or(c.Phase, finding.PhaseCall), Confidence: finding.Certain,
		Message: message, Evidence: []finding.Evidence{c.Evidence}, Fingerprint: finding.Fingerprint(doc.ID, slices.Concat([]string{tool, r.stable(c.Peer)}, more)...),
	}
}

// copiedTo says how grave it is that a peer was sent what a call was given, "" for not at all.
func (r *Run) copiedTo(c *profile.Carried) finding.Severity {
	t := r.Scope.Tool(c.Tool)
	address := c.Peer[:max(0, strings.LastIndexByte(c.Peer, ':'))]
	port := c.Peer[strings.LastIndexByte(c.Peer, ':')+1:]
	host := c.Host
	if host == "" {
		host = strings.Trim(address, "[]")
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case len(t.URLs) > 0 && c.Via != "dns" && r.beside(c):
		if r.tellsOfDomains(c) {
			return finding.Low
		}
		return finding.Medium // it goes where it is told, and to another one
	case r.knowsPeer(c.Call, c.Tool, host), r.isOwnCloud(host, c.Tool):
		return ""
	case c.Loopback:
		if len(t.Network) > 0 && !t.ClaimsLocal() || r.givenHost(port) || r.namesHost(port) || r.says(c.Tool, loopbackWords) || r.says(c.Tool, scope.ProgramAt(port).Words) || r.says(c.Tool, []string{"local", "ollama", "redis", "postgres", "mysql", "database"}) && len(r.Scope.Purpose.Network) > 0 {
			return ""
		}
		return finding.High
	case isNearby(host) && r.saysNearby(c.Tool), c.Via == "dns":
		return ""
	case err == nil && !isNearby(ip.String()):
		return finding.High
	case !slices.ContainsFunc(r.Profile.Carried, func(o profile.Carried) bool { return o.Call == c.Call && o.Host != "" && r.namesPeer(o.Host) }):
		return "" // nobody names a host: CM209, CM202 and CM116 tell
	case r.promises(noOther, serverOr(c.Tool)):
		return finding.High
	}
	return finding.Low
}

// domainWords are by which a tool says that it looks up domains.
var domainWords = []string{"domain", "domains", "whois", "rdap", "registrar", "registrars"}

// tellsOfDomains reports whether a peer bears the name of a protocol that tells who registered a domain (RDAP,
// RFC 9082, and WHOIS, RFC 3912), and the tool says that it looks up domains: the domain is what it must ask for.
func (r *Run) tellsOfDomains(c *profile.Carried) bool {
	own := domain(c.Host)
	return r.shown(c.Tool, domainWords) && (strings.HasPrefix(c.Host, "rdap.") || strings.HasPrefix(c.Host, "whois.") || strings.HasPrefix(own, "rdap") || strings.HasPrefix(own, "whois"))
}

// knowsPeer reports whether a declaration, an argument of the call or the user names a host, or the
// tool is one that goes where it is told.
func (r *Run) knowsPeer(call int, tool, host string) bool {
	t := r.Scope.Tool(tool)
	return len(t.URLs) > 0 || r.namesPeer(host) || r.givenHost(host) || r.asksFor(call, tool, host) || runsCommands(&t, "")
}

// leastLabel is how long a name is by which an argument may mean a host.
const leastLabel = 4

// asksFor reports whether an argument of a call names a host, or one has a default that does: whole, or by
// the name alone that somebody registered ("instagram" for www.instagram.com).
func (r *Run) asksFor(call int, tool, host string) bool {
	if r.asked(call, host) {
		return true
	}
	label, _, _ := strings.Cut(domain(host), ".")
	if call == 0 || len(label) < leastLabel {
		return false
	}
	texts := append(r.leftOut(call, tool), string(r.Args[call]))
	return slices.ContainsFunc(texts, func(text string) bool {
		return slices.Contains(strings.FieldsFunc(strings.ToLower(text), func(c rune) bool {
			return c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9')
		}), strings.ToLower(label))
	})
}

// leftOut are the defaults of the arguments that a call leaves out.
func (r *Run) leftOut(call int, tool string) []string {
	var given map[string]json.RawMessage
	if json.Unmarshal(r.Args[call], &given) != nil {
		return nil
	}
	var out []string
	for _, a := range r.Scope.Tool(tool).Arguments {
		if _, ok := given[a.Name]; !ok && a.Default != "" {
			out = append(out, a.Default)
		}
	}
	return out
}

// namesPeer reports whether a declaration names a host or the domain that somebody registered.
func (r *Run) namesPeer(host string) bool {
	if host == "" {
		return false
	}
	return r.namesHost(domain(host))
}
