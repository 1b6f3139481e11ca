package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/report"
)

func (e *env) report() *cobra.Command {
	f := &logFlags{}
	var format, out string
	var quiet bool
	cmd := &cobra.Command{
		Use: "report LOG", Short: "Write a report on a session log", Args: exactArgs(1, "coalmine report LOG"),
		Long: "report judges a session log and writes what was found, as text, one line, JSON, SARIF, Markdown,\nJUnit or one page of HTML. A log holds only the wire, so that its report is never\nclean: it says what was not watched. Of a probe's directory, report judges all runs.\n\n" +
			"Exit status: 0 for a report, whatever it says (coalmine detect has statuses), 2 where LOG is not a session log.",
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(formats, format) {
				return usage("use one of: "+strings.Join(formats, ", "), "unknown --format %s", format)
			}
			f.progress = e.progressUnless(quiet)
			defer f.progress.clear()
			f.progress.tell("judging " + args[0])
			res, ok, err := judgedDirectory(args[0])
			if !ok {
				res, _, err = e.readLog(f, args[0])
			}
			f.progress.clear()
			if err != nil {
				return err
			}
			return e.writeReport(res, format, out, args[0])
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&format, "format", "html", strings.Join(formats, ", "))
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print no progress")
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the report to `FILE` (HTML: default LOG with .html instead of .jsonl; - is stdout)")
	return cmd
}

func (e *env) writeReport(res *analyze.Result, format, out, log string) error {
	if out == "" && format == "html" {
		out = strings.TrimSuffix(log, ".jsonl") + ".html"
		if info, err := os.Stat(log); err == nil && info.IsDir() {
			out = filepath.Join(log, "wire.html")
		}
	}
	if out == "" || out == "-" {
		return renderLog(e.out, res, format, log, report.TextOptions{Color: isTerminal(e.out)})
	}
	var b strings.Builder
	if err := renderLog(&b, res, format, log, report.TextOptions{}); err != nil {
		return fmt.Errorf("write %s: %w", out, err)
	}
	// What a log says may be private, as the log itself is.
	if err := writeOutput(out, b.String(), 0o600); err != nil {
		return usage("name a writable file with --out", "%w", err)
	}
	fmt.Fprintln(e.out, report.Escape(out, 1000))
	return nil
}

func renderLog(w io.Writer, res *analyze.Result, format, log string, o report.TextOptions) error {
	switch format {
	case "json":
		return report.JSON(w, res)
	case "sarif", "github", "gitlab", "gitlab-sast":
		var b bytes.Buffer
		sast := func(w io.Writer, logs ...json.RawMessage) error {
			return report.GitLabSAST(w, report.Scan{Version: res.Tool.Version, Started: res.Run.Started, Done: res.Run.Finished}, logs...)
		}
		to := map[string]func(io.Writer, ...json.RawMessage) error{"github": report.Annotations, "gitlab": report.CodeQuality, "gitlab-sast": sast}[format]
		if err := report.SARIF(&b, res, report.SARIFOptions{Default: report.At(filepath.ToSlash(filepath.Clean(log)))}); err != nil {
			return err
		}
		if to == nil {
			_, err := b.WriteTo(w)
			return err
		}
		return to(w, b.Bytes())
	case "html":
		return report.HTML(w, res, report.HTMLOptions{})
	case "markdown":
		return report.Markdown(w, res)
	case "junit":
		return report.JUnit(w, res)
	case "line":
		_, err := fmt.Fprintln(w, report.Line(res))
		return err
	}
	return report.Text(w, res, o)
}
