package analyze

import (
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// NotRun is the sandbox of a result without a run.
const NotRun = "none"

// Audited is the result of an audit alone: no server was run, and the result says so in
// its coverage. Of the options FailOn, Version, Policy and Baseline count; now decides
// which of the policy's suppressions hold.
func Audited(r *audit.Report, now time.Time, opts Options) *Result {
	target := text.Printable(r.Profile.Path, 200)
	j := &judge{header: session.Header{Started: now.UTC(), Target: target}}
	res := &Result{Schema: Schema, Declared: scope.Of(&wire.Surface{}), Audit: r, Findings: []finding.Finding{}, Observed: []finding.Effect{}, Gaps: []session.Gap{}, Inconclusive: []string{}}
	res.Tool.Name, res.Tool.Version = "coalmine", opts.Version
	res.Run = Run{Started: now.UTC(), Finished: now.UTC(), Target: target, Sandbox: NotRun, Tracer: "none", Network: "none"}
	res.Server.Name, res.Server.Version = r.Profile.PackageName, r.Profile.Version
	res.Coverage.Unseen = []string{"what the server does: it was not run, and its source was read"}
	j.accept(res, opts)
	res.compare(opts.Baseline)
	j.auditGaps(Options{Audit: r})
	if r.Ungraded != "" && r.Profile.CodeBytes == 0 {
		// A run shows what a compiled program does; an audit alone shows nothing of it.
		j.because(session.GapSourcePartlyAudited, "the audit says nothing about the code: %s", text.Printable(r.Ungraded, 200))
	}
	if len(j.gaps) > 0 {
		res.Gaps, res.Inconclusive = j.gaps, session.Texts(j.gaps)
	}
	res.Verdict = verdict(res, opts.FailOn)
	return res
}
