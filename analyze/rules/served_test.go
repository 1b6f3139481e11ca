package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// serving is a run in which something of a served document had an effect.
func serving(tool wire.Tool, context, how string) *Run {
	r := newRun(tool)
	r.Profile.Hits = []profile.Hit{{Call: 1, Injection: session.Injection{Oracle: session.OracleServed, Context: context, Token: "k3"}, How: how, Evidence: finding.Evidence{Source: "record", Text: "seen"}}}
	return r
}

var crawls = described("crawl", "Crawls a site.")

// ofDocuments are the cases of the rules about served documents.
var ofDocuments = []ruleCase{
	{"CM310", "run", serving(silent, session.ServedLine, profile.HitExec), finding.Critical},
	{"CM310", "run at start", with(serving(silent, session.ServedLine, profile.HitCreate), func(r *Run) { r.Profile.Hits[0].Call, r.Profile.Hits[0].Phase = 0, finding.PhaseStart }), finding.Critical},
	{"CM310", "code", serving(silent, session.ServedCode, profile.HitCreate), finding.Critical},
	{"CM310", "its purpose", serving(described("run_command", "Runs a shell command"), session.ServedLine, profile.HitExec), ""},
	{"CM310", "a link", serving(silent, session.ServedLink, profile.HitAsked), ""},
	{"CM311", "a private link", serving(silent, session.ServedInner, profile.HitAsked), finding.High},
	{"CM311", "a private link of a crawler", serving(crawls, session.ServedInner, profile.HitAsked), finding.High},
	{"CM311", "a public link", serving(silent, session.ServedLink, profile.HitAsked), finding.Low},
	{"CM311", "a public link of a crawler", serving(crawls, session.ServedLink, profile.HitAsked), ""},
	{"CM312", "in a listing", serving(silent, session.ServedOrder, profile.HitListed), finding.Medium},
	{"CM312", "run", serving(silent, session.ServedLine, profile.HitExec), ""},
	{"CM307", "in a listing", serving(silent, session.ServedOrder, profile.HitListed), ""},
	{"CM304", "a link", serving(silent, session.ServedInner, profile.HitAsked), ""},
}
