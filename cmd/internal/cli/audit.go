package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/sandbox"
)

// auditFlags are the flags of coalmine audit as they were given.
type auditFlags struct {
	json, rubric, allowIncomplete    bool
	online                           bool
	recent                           int
	format, failOn, policy, baseline string
	own                              string
	quiet                            bool
	tell                             func(now string, files int)
}

// auditFormats are what --format of an audit knows.
var auditFormats = []string{"text", "json", "sarif", "markdown", "html"}

func (e *env) audit() *cobra.Command {
	f := &auditFlags{}
	cmd := &cobra.Command{
		Use: "audit [flags] TARGET", Short: "Audit a server's source without running it",
		Long: "audit parses the source of a server (Python, notebooks, JavaScript, TypeScript, Go, shell and Dockerfiles) and\n" +
			"searches other files as text. It finds hard-coded credentials, tool poisoning, commands that run a download, and data\n" +
			"flows from a tool's parameter to a shell, a path, a request, an evaluator, a deserializer or an SQL statement, with\n" +
			"each step.\n\n" +
			"TARGET is a directory, an archive (tgz, whl, zip, mcpb), a client's configuration, npm:NAME@V or pypi:NAME==V.\n" +
			"Archives are read in memory. Comments in the source suppress nothing without --own yes.",
		RunE: func(cmd *cobra.Command, args []string) error { return e.runAudit(cmd, f, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "text", strings.Join(auditFormats, ", "))
	fl.BoolVar(&f.json, "json", false, "print the audit as JSON, without the policy and the baseline")
	fl.StringVar(&f.failOn, "fail-on", string(finding.High), "exit 1 at this severity: critical, high, medium, low, info or never")
	fl.BoolVar(&f.allowIncomplete, "allow-inconclusive", false, "exit 0 when the audit could not read all of the source")
	fl.StringVar(&f.policy, "policy", "", "apply the suppressions of this `FILE` (coalmine.yaml)")
	fl.StringVar(&f.baseline, "baseline", "", "fail only on findings that are not in this baseline `FILE`")
	fl.StringVar(&f.own, "own", "no", "yes: the tree is yours: apply its suppression comments, and its .gitignore to what git does not track; no: apply neither")
	fl.BoolVar(&f.online, "online", false, "ask OSV, npm and PyPI about the package and about what its lockfiles name")
	fl.IntVar(&f.recent, "recent", 7, "with --online, report a version that is younger than this many `DAYS`")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print no progress")
	fl.BoolVar(&f.rubric, "rubric", false, "print the rules with their deductions and weaknesses (CWE), the grades and the fields of --json")
	return cmd
}

func (e *env) runAudit(cmd *cobra.Command, f *auditFlags, args []string) error {
	if f.rubric {
		e.rubric()
		return nil
	}
	if len(args) != 1 {
		return usage("coalmine audit TARGET", "audit needs one TARGET, got %d", len(args))
	}
	if !slices.Contains(auditFormats, f.format) {
		return usage("use one of: "+strings.Join(auditFormats, ", "), "unknown --format %s", f.format)
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	defer audit.Tune()()
	line := e.progressUnless(f.quiet)
	defer line.clear()
	f.tell = func(now string, files int) {
		line.often(func() string { return fmt.Sprintf("audited %s, now %s", plural(files, "file"), now) })
	}
	r, root, err := e.auditTarget(cmd.Context(), f, args[0])
	line.clear()
	if err != nil {
		return err
	}
	if f.online {
		if err := e.askOnline(cmd.Context(), f, args[0], r); err != nil {
			return err
		}
	}
	opts.Version = version()
	res := analyze.Audited(r, time.Now(), opts)
	e.status = analyze.ExitStatus(res, opts.FailOn, f.allowIncomplete)
	if f.json {
		return report.Encode(e.out, r)
	}
	return e.printAudited(res, f.format, root)
}

// options reads the files that the flags name.
func (f *auditFlags) options() (analyze.Options, error) {
	opts := analyze.Options{}
	var err error
	if opts.FailOn, err = threshold(f.failOn); err != nil {
		return opts, err
	}
	if opts.Policy, err = readPolicy(f.policy); err != nil {
		return opts, err
	}
	if f.baseline != "" {
		data, err := readBounded(f.baseline, maxConfig)
		if err != nil {
			return opts, &sandbox.UsageError{Err: err, Hint: "name a file that can be read"}
		}
		if opts.Baseline, err = analyze.ParseBaseline(f.baseline, data); err != nil {
			return opts, &sandbox.UsageError{Err: err, Hint: "coalmine baseline writes one"}
		}
	}
	return opts, nil
}

func (e *env) printAudited(res *analyze.Result, format, root string) error {
	switch format {
	case "json":
		return report.JSON(e.out, res)
	case "sarif":
		if filepath.IsAbs(root) {
			root = filepath.Base(root)
		}
		root = filepath.ToSlash(filepath.Clean(root))
		return report.SARIF(e.out, res, report.SARIFOptions{Default: report.At(root), AuditRoot: root})
	case "markdown":
		return report.Markdown(e.out, res)
	case "html":
		return report.HTML(e.out, res, report.HTMLOptions{})
	}
	e.printAudit(res.Audit)
	return nil
}

func (e *env) printAudit(r *audit.Report) {
	score := fmt.Sprintf("score: %d/100 (%s)", r.Score, r.Grade)
	switch {
	case r.Ungraded != "":
		score = "inconclusive, no score: " + report.Escape(r.Ungraded, 200)
	case r.Capped != "":
		score += ", no more since " + report.Escape(r.Capped, 200)
	}
	fmt.Fprintf(e.out, "%s, %s; %s\n", score, plural(r.Profile.FilesScanned, "file"), report.AuditRead(&r.Profile))
	for _, kind := range report.AuditNotRead(r) {
		fmt.Fprintf(e.out, "no parser: %s\n", kind)
	}
	if r.Skipped > 0 {
		fmt.Fprintf(e.out, "inconclusive: %s not fully audited: unreadable, too large or too slow\n", plural(r.Skipped, "file"))
	}
	if r.Suppressed > 0 {
		fmt.Fprintf(e.out, "suppressed by comments of your own: %d\n", r.Suppressed)
	}
	if r.Ignored > 0 {
		fmt.Fprintf(e.out, "left out by .gitignore: %d\n", r.Ignored)
	}
	if r.LeftOut > 0 {
		fmt.Fprintf(e.out, "left out: %s of other people's code or documentation, from which the source loads nothing\n", plural(r.LeftOut, "place"))
	}
	for _, u := range r.Unfollowed {
		fmt.Fprintf(e.out, "not followed: %s, %d bytes\n", report.Escape(u.Path, 200), u.Size)
	}
	for _, u := range r.PartlyParsed {
		if u.Program {
			fmt.Fprint(e.out, "inconclusive: ")
		}
		fmt.Fprintf(e.out, "not parsed: %s of %s, %d bytes: %s\n", plural(u.Parts, "part"), report.Escape(u.Path, 200), u.Bytes, report.Escape(u.Why, 200))
	}
	for _, d := range r.Deductions {
		fmt.Fprintf(e.out, "  -%d %s (%s), %s\n", d.Points, d.Rule, d.Severity, plural(d.Hits, "hit"))
	}
	for _, f := range r.Findings {
		fmt.Fprintf(e.out, "[%s] %s %s:%d %s\n", f.Severity, f.Rule, report.Escape(f.Location.Path, 200), f.Location.Line, report.Escape(auditText(&f), 240))
		if g := f.Generated; g != nil {
			fmt.Fprintf(e.out, "    read in the bundle: %s:%d:%d\n", report.Escape(g.Path, 200), g.Line, g.Column)
		}
		if len(f.Evidence) < 2 || f.Severity == finding.Info {
			continue
		}
		for _, step := range f.Evidence {
			fmt.Fprintf(e.out, "    %s:%d %s\n", report.Escape(step.Location.Path, 200), step.Location.Line, report.Escape(step.Text, 200))
		}
	}
}

// auditText is what a finding says beside its place.
func auditText(f *finding.Finding) string {
	if text, ok := strings.CutPrefix(f.Message, f.Read().Path+": "); ok && len(f.Evidence) > 1 {
		return text
	}
	return f.Evidence[0].Text
}
