package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// detected is what coalmine detect --json prints of one log.
type detected struct {
	Session      string              `json:"session"`
	Completeness string              `json:"completeness"`
	Verdict      detect.Verdict      `json:"verdict"`
	Annotations  []detect.Annotation `json:"annotations"`
	Dropped      int                 `json:"dropped,omitempty"`
	NotSeen      []string            `json:"not_seen"`
}

func (e *env) detect() *cobra.Command {
	f := &logFlags{}
	var asJSON bool
	var format string
	cmd := &cobra.Command{
		Use: "detect LOG…", Short: "Analyse the MCP messages of recorded sessions",
		Long: "detect runs every detector over a session log. Over several logs, it also finds tool shadowing between servers.\nOf a probe's directory it reads the logs of all runs.\n\n" +
			"Exit status: 1 for an observation above information, else 3 when the log has gaps, else 0;\n2 when LOG is not a session log.",
		RunE: func(_ *cobra.Command, args []string) error {
			if asJSON {
				format = "json"
			}
			if len(args) == 0 {
				return usage("coalmine detect LOG", "detect needs a LOG")
			}
			if !slices.Contains([]string{"text", "json", "sarif"}, format) {
				return usage("use text, json or sarif", "unknown --format %s", format)
			}
			return e.runDetect(f, format, args)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print annotations as JSON in glassport's format")
	cmd.Flags().StringVar(&format, "format", "text", "text, json or sarif")
	return cmd
}

func (e *env) runDetect(f *logFlags, format string, paths []string) error {
	var logs []*detect.Log
	var results []*analyze.Result
	var all []string
	for _, p := range paths {
		all = append(all, probed(p)...)
	}
	paths = all
	for _, p := range paths {
		res, l, err := e.readLog(f, p)
		if err != nil {
			return err
		}
		logs, results = append(logs, l), append(results, res)
	}
	for i, more := range detect.Shadowing(logs) {
		logs[i].Annotations = append(logs[i].Annotations, more...)
		results[i].Findings = append(results[i].Findings, analyze.AnnotatedLog(more, filepath.ToSlash(filepath.Clean(paths[i])))...)
	}
	for i, l := range logs {
		e.status = worse(e.status, detectStatus(l))
		name := l.Name
		if len(logs) > 1 {
			name = paths[i]
		}
		if format == "text" {
			e.printDetected(name, l)
		}
	}
	switch format {
	case "text":
		return nil
	case "sarif":
		return e.logSARIF(results, paths)
	}
	var out []detected
	for _, l := range logs {
		out = append(out, detected{l.Summary.Session, l.Summary.Completeness, l.Verdict(), append([]detect.Annotation{}, l.Annotations...), l.Dropped, session.Texts(l.Gaps())})
	}
	if len(out) == 1 {
		return e.printJSON(out[0])
	}
	return e.printJSON(out)
}

// detectStatus is the exit status for one log.
func detectStatus(l *detect.Log) int {
	switch {
	case l.Verdict() != detect.Clean:
		return ExitFindings
	case len(l.Gaps()) > 0:
		return ExitInconclusive
	}
	return ExitOK
}

// maxPrinted bounds the observations that the terminal shows of one log.
const maxPrinted = 200

func (e *env) printDetected(name string, l *detect.Log) {
	as := slices.Clone(l.Annotations)
	slices.SortStableFunc(as, func(a, b detect.Annotation) int { return weight(&b) - weight(&a) })
	verdict := string(l.Verdict())
	if verdict == string(detect.Clean) && len(l.Gaps()) > 0 {
		verdict += " in what the log holds"
	}
	fmt.Fprintf(e.out, "%s: %s, %s\n", report.Clean(name, 400), verdict, plural(len(as)+l.Dropped, "observation"))
	again := map[string][]int{} // the places of those that say the same
	var order []string
	for i := range as {
		key := as[i].Subcategory + "\x00" + as[i].Explanation
		if again[key] == nil {
			order = append(order, key)
		}
		again[key] = append(again[key], i)
	}
	shown := 0
	for _, key := range order[:min(len(order), maxPrinted)] {
		a, n := &as[again[key][0]], len(again[key])
		shown += n
		mark, more := fmt.Sprint(a.Severity), ""
		if a.Kind == detect.Info {
			mark = "i"
		}
		if n > 1 {
			more = fmt.Sprintf(" (%d times, the last at seq %d)", n, as[again[key][n-1]].Seq())
		}
		fmt.Fprintf(e.out, "  [%s] seq %-5d %s: %s%s\n", mark, a.Seq(), plain(a.Subcategory), report.Escape(a.Explanation, 600), more)
	}
	if n := len(as) + l.Dropped - shown; n > 0 {
		fmt.Fprintf(e.out, "  … and %d more; --json has them\n", n)
	}
	for _, h := range l.Gaps() {
		fmt.Fprintln(e.out, "  not checked: "+report.Escape(h.Text, 400))
	}
}

// weight orders annotations: information comes last.
func weight(a *detect.Annotation) int {
	if a.Kind == detect.Info {
		return 0
	}
	return a.Severity
}

// sarifLog is a SARIF document as far as several are made one.
type sarifLog struct {
	Schema  string            `json:"$schema"`
	Version string            `json:"version"`
	Runs    []json.RawMessage `json:"runs"`
}

// logSARIF writes one document with a run for each log, whose findings are located in it.
func (e *env) logSARIF(results []*analyze.Result, paths []string) error {
	var all sarifLog
	seen := map[string]bool{}
	for i, res := range results {
		var b bytes.Buffer
		if err := renderLog(&b, res, "sarif", paths[i], report.TextOptions{}); err != nil {
			return err
		}
		var one sarifLog
		if err := json.Unmarshal(b.Bytes(), &one); err != nil {
			return fmt.Errorf("SARIF of %s: %w", paths[i], err)
		}
		for n := range one.Runs {
			if err := apart(&one.Runs[n], seen); err != nil {
				return fmt.Errorf("SARIF of %s: %w", paths[i], err)
			}
		}
		one.Runs = append(all.Runs, one.Runs...)
		all = one
	}
	return e.printJSON(all)
}

// apart gives a run an id of its own: of those with one id, code scanning takes none.
func apart(run *json.RawMessage, seen map[string]bool) error {
	var members map[string]json.RawMessage
	var details struct {
		ID string `json:"id"`
	}
	err := json.Unmarshal(*run, &members)
	if err == nil {
		err = json.Unmarshal(members["automationDetails"], &details)
	}
	if err != nil {
		return err
	}
	id := details.ID
	for n := 2; seen[id]; n++ {
		id = fmt.Sprintf("%s-%d/", strings.TrimSuffix(details.ID, "/"), n)
	}
	if seen[id] = true; id == details.ID {
		return nil
	}
	details.ID = id
	if members["automationDetails"], err = json.Marshal(details); err != nil {
		return err
	}
	*run, err = json.Marshal(members)
	return err
}
