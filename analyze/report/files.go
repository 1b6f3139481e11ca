package report

import (
	"errors"
	"io"

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

// Write writes all reports of a result into its target's directory. Passed values are taken
// out of the result itself: what is printed of it afterwards is without them, too.
func Write(out session.Output, res *analyze.Result, in *analyze.Inputs) error {
	out.Redactor.RedactAll(res)
	sarif := SARIFOptions{Default: in.Location, AuditRoot: in.AuditRoot}
	out.Redactor.RedactAll(&sarif)
	html := HTMLOptions{Files: []string{session.FramesFile, session.TraceFile, FileJSON, FileSARIF}}
	return errors.Join(
		out.WriteFile(FileJSON, func(w io.Writer) error { return JSON(w, res) }),
		out.WriteFile(FileSARIF, func(w io.Writer) error { return SARIF(w, res, sarif) }),
		out.WriteFile(FileHTML, func(w io.Writer) error { return HTML(w, res, html) }),
		out.WriteFile(FileSummary, func(w io.Writer) error { return Markdown(w, res) }),
	)
}
