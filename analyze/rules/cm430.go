package rules

import (
	"maps"
	"net/url"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm430 = Rule{Rule: cm430Doc, Check: checkCM430}

var cm430Doc = finding.Rule{
	ID: "CM430", Name: "UndeclaredConsentPage", Title: "Undeclared page for the user to open", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "The user signs in, or gives access to an account, because the client shows the page as part of the tool.", Fix: "Name the service, and why the tool needs the page, in the server's description.", Preview: true},
	CWE:    []string{"CWE-1021", "CWE-863"}, OWASP: []string{"MCP06", "MCP07"},
	Help: "The server asks the user to open a page (an elicitation in URL mode: a request, a result that asks for input, or error -32042) on a host that no declaration, argument or variable names, or that hands the answer to such a host (`redirect_uri`). So does a text that stands in most results of a tool, whatever it is given, and asks for signing in, or for a code or a password, at such a page, unless the call asked the network.\n\n" +
		"**Evidence.** The host, in the frame. A page that asks for access to an account (OAuth's `client_id` with a scope or response type) is high, and medium where the declaration speaks of signing in. Another page is medium, and low where it does.\n\n" +
		"**False positive when** the server's documentation, not its declaration, explains the page.",
}

// Opening is a page that the server asked the user to open; its Text is the address.
type Opening struct {
	Fact
	// SignsIn says that the text of a result asks for signing in there, or for a code or a password.
	SignsIn bool
	// Texts tell the different results that do.
	Texts []uint64
}

// leastNotices is in how many different results of a tool the order has to stand.
const leastNotices = 3

// isNotice reports whether an order to sign in stands in most of what a tool answers, whatever it is asked: then it is
// the server's own, and no part of what was looked up.
func (r *Run) isNotice(o *Opening) bool {
	answers := map[string]bool{}
	for _, c := range r.Profile.Calls {
		if c.Tool == o.Tool && c.Outcome == session.OutcomeOK && !r.Profile.Answers[c.N].Failed {
			answers[string(r.Args[c.N])] = true
		}
	}
	return len(o.Texts) >= leastNotices && 2*len(o.Texts) > min(len(answers), maxNotices)
}

// maxNotices is how many texts of one page a reader counts.
const maxNotices = 64

// signInWords are those by which a declaration says that somebody signs in.
var signInWords = []string{"sign in", "signin", "log in", "login", "oauth", "authorize", "authorization", "authenticate", "authentication", "consent", "account"}

func checkCM430(r *Run) []finding.Finding {
	var out distinct
	for _, o := range r.Wire.Openings {
		u, err := url.Parse(o.Text)
		if err != nil {
			continue
		}
		host, isNamed := r.leadsElsewhere(u, &o)
		if isNamed || o.SignsIn && (!r.isNotice(&o) || len(r.Profile.Asked[o.Call]) > 0) { // a host may have answered with that
			continue
		}
		query := u.Query()
		isConsent := query.Has("client_id") && (query.Has("scope") || query.Has("response_type"))
		severity, what := finding.Medium, "a page of "
		switch {
		case o.SignsIn:
			severity, what = finding.High, "a page to sign in or to enter a secret or a code, of "
		case isConsent:
			severity, what = finding.High, "a page that asks for access to an account, for "
		}
		switch explained := r.says(o.Tool, signInWords); {
		case explained && isConsent:
			severity = finding.Medium
		case explained:
			severity = finding.Low
		}
		fact := o.Fact
		fact.Text = "the server asks the user to open " + what + text.Printable(host, 120) + ", which nothing in its declaration names"
		if scope := query.Get("scope"); isConsent && scope != "" {
			fact.Text += " (scope " + text.Printable(scope, 200) + ")"
		}
		out.add(finding.Finding{
			Rule: cm430Doc.ID, Severity: severity, Title: cm430Doc.Title, Confidence: finding.Certain, Tool: o.Tool, Call: o.Call, Phase: finding.PhaseCall,
			Message: fact.Text, Evidence: facts([]Fact{fact}), Fingerprint: finding.Fingerprint(cm430Doc.ID, o.Tool, host),
		})
	}
	return out.list
}

// leadsElsewhere is the first host to which a page leads, its own or one that it hands its answer to, that nothing
// names. isNamed says that there is none.
func (r *Run) leadsElsewhere(u *url.URL, o *Opening) (host string, isNamed bool) {
	hosts, query := []string{u.Hostname()}, u.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		for _, value := range query[name] {
			if to, err := url.Parse(value); err == nil && (to.Scheme == "http" || to.Scheme == "https") && name != "scope" {
				hosts = append(hosts, to.Hostname())
			}
		}
	}
	// The host that gets the answer says more than the provider's.
	for _, h := range slices.Backward(hosts) {
		if h != "" && !isLoopbackName(h) && !r.namesPeer(h) && !r.givenHost(h) && !r.asksFor(o.Call, o.Tool, h) {
			return h, false
		}
	}
	return "", true
}

// isLoopbackName reports whether a host is this machine's own.
func isLoopbackName(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}
