package probe

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// The reports that stand beside the log.
const (
	ReportJSON  = "report.json"
	ReportSARIF = "report.sarif"
	ReportHTML  = "report.html"
	Summary     = "summary.md"
)

// openOut makes the run's directory below out and opens it. Links are refused:
// what stands there may have been put there by another.
func openOut(out, target string) (*os.Root, string, error) {
	hint := "name a directory that can be written with --out DIR"
	if err := os.MkdirAll(out, 0o700); err != nil {
		return nil, "", &sandbox.UsageError{Err: fmt.Errorf("make the output directory: %w", err), Hint: hint}
	}
	parent, err := os.OpenRoot(out)
	if err != nil {
		return nil, "", &sandbox.UsageError{Err: fmt.Errorf("open the output directory: %w", err), Hint: hint}
	}
	defer parent.Close()
	name := report.Slug(target)
	if err := parent.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, "", &sandbox.UsageError{Err: fmt.Errorf("make the run's directory: %w", err), Hint: hint}
	}
	if info, err := parent.Lstat(name); err != nil || !info.IsDir() {
		return nil, "", &sandbox.UsageError{Err: fmt.Errorf("%s in %s is no directory", name, out), Hint: "remove it, or " + hint}
	}
	dir, err := parent.OpenRoot(name)
	if err != nil {
		return nil, "", &sandbox.UsageError{Err: fmt.Errorf("open the run's directory: %w", err), Hint: hint}
	}
	return dir, out + "/" + name, nil
}

// hide keeps what runs write out of the server's sight where that lies in the
// server's own directory: it would tell the server of its probe, and the probe
// of its own decoys.
func (p *plan) hide(out, run string) {
	for _, dir := range []string{out, run} {
		if rel := relativeTo(p.spec.ServerDir, dir); rel != "" {
			p.spec.Hidden = []string{filepath.Join(p.spec.ServerDir, rel)}
			p.output = dir
			return
		}
		if p.installed != nil && relativeTo(p.audit, dir) != "" {
			p.output = dir // it was not copied with the checkout
			return
		}
	}
}

// unaudited is what of the audited directory runs wrote.
func (p *plan) unaudited() []string {
	if rel := relativeTo(p.audit, p.output); rel != "" {
		return []string{filepath.ToSlash(rel)}
	}
	return nil
}

// relativeTo is the way from a directory down to a path, "" where there is
// none, or one of them is "".
func relativeTo(top, name string) string {
	if top == "" || name == "" {
		return ""
	}
	realTop, topErr := filepath.EvalSymlinks(top)
	abs, absErr := filepath.Abs(name)
	if errors.Join(topErr, absErr) != nil {
		return ""
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(realTop, real)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return rel
}

// writeFile writes one file of the run, in place of a regular file of that name.
func writeFile(dir *os.Root, name string, write func(io.Writer) error) (err error) {
	if info, err := dir.Lstat(name); err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no regular file: remove it", name)
		}
		if err := dir.Remove(name); err != nil {
			return err
		}
	}
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := write(f); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// writeReports writes the reports.
func (p *plan) writeReports(dir *os.Root, res *analyze.Result) error {
	o := report.SARIFOptions{Default: p.location(), AuditRoot: relative(p.audit)}
	html := report.HTMLOptions{Files: []string{session.FramesFile, session.TraceFile, ReportJSON, ReportSARIF}}
	return errors.Join(
		writeFile(dir, ReportJSON, func(w io.Writer) error { return report.JSON(w, res) }),
		writeFile(dir, ReportSARIF, func(w io.Writer) error { return report.SARIF(w, res, o) }),
		writeFile(dir, ReportHTML, func(w io.Writer) error { return report.HTML(w, res, html) }),
		writeFile(dir, Summary, func(w io.Writer) error { return report.Markdown(w, res) }),
	)
}

// location is the file that a reviewer opens for a finding of the run: the
// configuration's entry, or the server's first file, source before machine code, or its manifest.
func (p *plan) location() finding.Location {
	if l := p.opts.Location; l != nil {
		return finding.Location{Path: relative(l.Path), Line: l.Line, Column: l.Column}
	}
	if p.installed != nil {
		return p.installed.location()
	}
	program := ""
	for _, a := range p.spec.Command {
		if info, err := os.Stat(a); !filepath.IsAbs(a) || err != nil || !info.Mode().IsRegular() {
			continue
		}
		if !isProgram(a) {
			return finding.Location{Path: relative(a), Line: 1}
		}
		if program == "" {
			program = a
		}
	}
	candidates := []string{program}
	for _, m := range manifests[""] {
		candidates = append(candidates, filepath.Join(p.spec.ServerDir, m))
	}
	for _, f := range candidates {
		if info, err := os.Stat(f); err == nil && filepath.IsAbs(f) && info.Mode().IsRegular() {
			return finding.Location{Path: relative(f), Line: 1}
		}
	}
	if p.spec.ServerDir != "" {
		return finding.Location{Path: relative(p.spec.ServerDir), Line: 1}
	}
	return finding.Location{Path: filepath.Base(p.spec.Command[0]), Line: 1}
}
