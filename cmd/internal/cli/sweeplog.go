package cli

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/coalmine-dev/coalmine/analyze/report"
)

// openLog sets how a sweep or a worker says what happens.
func (f *sweepFlags) openLog(w io.Writer) error {
	switch f.logFormat {
	case "json":
	case "auto":
		if f.quiet || terminal(w) {
			return nil
		}
	case "text":
		return nil
	default:
		return usage("use one of: auto, text, json", "unknown --log %s", f.logFormat)
	}
	f.log = slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: harmless}))
	return nil
}

// harmless writes the characters of names and errors that act on a terminal, a page or a
// job's runner as progress does.
func harmless(groups []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindString && (len(groups) > 0 || a.Key != slog.TimeKey) {
		a.Value = slog.StringValue(noMarkup.Replace(report.Escape(a.Value.String(), 2000)))
	}
	return a
}

// say prints a line, or logs it.
func (f *sweepFlags) say(w io.Writer, line string) {
	if f.log != nil {
		f.log.Warn(line)
		return
	}
	fmt.Fprintln(w, report.Escape(line, 400))
}
