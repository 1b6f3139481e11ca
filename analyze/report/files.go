package report

import (
	"errors"
	"io"
	"os"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// The reports that stand beside a target's logs.
const (
	FileJSON    = "report.json"
	FileSARIF   = "report.sarif"
	FileHTML    = "report.html"
	FileSummary = "summary.md"
)

// Write writes all reports of a result into its target's directory.
func Write(dir *os.Root, res *analyze.Result, in *analyze.Inputs) error {
	sarif := SARIFOptions{Default: in.Location, AuditRoot: in.AuditRoot}
	html := HTMLOptions{Files: []string{session.FramesFile, session.TraceFile, FileJSON, FileSARIF}}
	return errors.Join(
		session.WriteFile(dir, FileJSON, func(w io.Writer) error { return JSON(w, res) }),
		session.WriteFile(dir, FileSARIF, func(w io.Writer) error { return SARIF(w, res, sarif) }),
		session.WriteFile(dir, FileHTML, func(w io.Writer) error { return HTML(w, res, html) }),
		session.WriteFile(dir, FileSummary, func(w io.Writer) error { return Markdown(w, res) }),
	)
}
