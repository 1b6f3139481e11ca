package rules

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// nearbyPhrases say that a tool works in the user's own network.
var nearbyPhrases = lazyregexp.New(`(?i)\b(?:(?:local|home|internal|private|company|own|office|same|in-house) (?:area )?(?:network|net|wi-?fi)|lan|intranet|multicast|mdns|bonjour|zeroconf|upnp|ssdp)\b`)

// nearbyNames end the names of hosts that only one's own network knows
// (RFC 6762, RFC 8375 and the names that RFC 6762, appendix G lists).
var nearbyNames = []string{".local", ".lan", ".home", ".internal", ".intranet", ".corp", ".private", ".home.arpa", ".localdomain", ".svc", ".cluster.local"}

// isNearby reports whether a host is one of the user's own network, by its address or its name.
func isNearby(host string) bool {
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		a = a.Unmap()
		return !isMetadata(host) && (a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsMulticast() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255}))
	}
	return !isMetadata(host) && (!strings.Contains(host, ".") || slices.ContainsFunc(nearbyNames, func(end string) bool { return strings.HasSuffix(strings.ToLower(host), end) }))
}

// givenHost reports whether the user gave the server a host: in its arguments or variables.
func (r *Run) givenHost(host string) bool {
	return len(host) > 3 && slices.ContainsFunc(r.Given, func(g string) bool { return strings.Contains(strings.ToLower(g), strings.ToLower(host)) })
}

// closedWorld reports whether what an effect reached is in the closed world that a tool
// declares by openWorldHint=false: that is no promise to work offline. It is a host of the
// user's own network that the user or a declaration names, or that the declaration's words
// cover, or one that the user gave to the server, or the service of the server's own name. A tool
// that says in words that it uses no network has no such world.
func (r *Run) closedWorld(e *finding.Effect) bool {
	if slices.ContainsFunc(r.localClaims(e.Tool), func(c scope.Claim) bool { return c.Where != "annotation" }) || len(r.Scope.Offline) > 0 {
		return false
	}
	if e.Target == "dns" { // which name was asked for is not known: what the call then reached tells
		return r.remembered().reachedNearby(r)[moment{e.Call, e.Phase}]
	}
	for _, host := range hostsOf(e) {
		if r.givenHost(host) || isNearby(host) && (r.namesHost(host) || r.saysNearby(e.Tool)) || r.isOwnService(host) {
			return true
		}
	}
	return false
}

// isOwnService reports whether a host has the name of the server, which says that it uses a network, or that the
// host's domain is its own: the API of what it is a client of, or its documentation.
func (r *Run) isOwnService(host string) bool {
	own := domain(host)
	label, _, _ := strings.Cut(own, ".")
	if !r.isOwnName(label) {
		return false
	}
	site, err := url.Parse(r.Surface.Server.WebsiteURL)
	return scope.AnyShown(r.Scope.Purpose.Network) || err == nil && site.Host != "" && domain(site.Hostname()) == own
}

// isNamesake reports whether the server's name has the name of a host that somebody registered as a word
// ("yahoo-finance" and finance.yahoo.com): clients show it, and it says whom the server asks.
func (r *Run) isNamesake(host string) bool {
	label, _, _ := strings.Cut(domain(host), ".")
	return r.isOwnName(label) || len(label) >= leastLabel && slices.Contains(nameWords(r.Surface.Server.Name), label)
}

// reachedNearby are the moments in which something of a closed world was reached by an address or a name.
func (m *memory) reachedNearby(r *Run) map[moment]bool {
	if m.nearby == nil {
		m.nearby = map[moment]bool{}
		for i := range r.Profile.Effects {
			e := &r.Profile.Effects[i]
			if leaving(e) && e.Target != "dns" && r.closedWorld(e) {
				m.nearby[moment{e.Call, e.Phase}] = true
			}
		}
	}
	return m.nearby
}

// hostsOf are the address and the name of what an effect reached.
func hostsOf(e *finding.Effect) []string {
	out := []string{reached(e)}
	if name, ok := askedName(e); ok {
		out = []string{name}
	}
	if e.Host != "" {
		out = append(out, e.Host)
	}
	return out
}

// localClaims are the claims of local work of a tool, of all where none is known.
func (r *Run) localClaims(tool string) []scope.Claim {
	if tool != "" {
		t := r.Scope.Tool(tool)
		return t.Local
	}
	var out []scope.Claim
	for i := range r.Scope.Tools {
		out = append(out, r.Scope.Tools[i].Local...)
	}
	return out
}

// saysNearby reports whether a tool, or the server, speaks of the user's own network. A name alone declares
// nothing of what is done there.
func (r *Run) saysNearby(tool string) bool {
	return slices.ContainsFunc(r.texts(), func(d declaredText) bool {
		return d.place != "name" && (d.owner.Name == "" || d.owner.Name == tool || tool == "") && nearbyPhrases.MatchString(d.text)
	})
}
