package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/pii"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// logFlags are what all commands over a session log have in common.
type logFlags struct {
	client   string
	patterns string
}

func (f *logFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.client, "client", "auto", "who the client was: auto, other, or coalmine (what only judges the client is then off)")
	fl.StringVar(&f.patterns, "patterns", "", "a JSON `FILE` of patterns of your own (default $COALMINE_PII_PATTERNS, else $GLASSPORT_PII_PATTERNS)")
}

// detectOptions reads the flags. A file of patterns that cannot be used is said, and
// the built-in patterns do their work.
func (e *env) detectOptions(f *logFlags) (detect.Options, error) {
	var o detect.Options
	switch f.client {
	case "auto", "other":
	case "coalmine":
		o.OwnClient = true
	default:
		return o, usage("auto, other, coalmine", "--client %s is not known", f.client)
	}
	path := f.patterns
	for _, name := range []string{"COALMINE_PII_PATTERNS", "GLASSPORT_PII_PATTERNS"} {
		if path == "" {
			path = os.Getenv(name)
		}
	}
	if path == "" {
		return o, nil
	}
	own, err := pii.Load(path)
	if err != nil {
		fmt.Fprintln(e.err, "warning: "+report.Behind(err.Error(), 1000))
		fmt.Fprintln(e.err, "hint: only the built-in patterns are used")
		return o, nil
	}
	o.Patterns = own
	return o, nil
}

// openLog opens a session log: a file, or a run's directory. own says that
// coalmine was the client: the run's own trace lies beside it.
func openLog(path string) (f *os.File, name string, own bool, err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, session.FramesFile)
	}
	// A file that is no regular one could be read for ever.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, "", false, usage("name a session log, or a directory that holds session.jsonl", "%s is no regular file", path)
	}
	if f, err = os.Open(path); err != nil {
		return nil, "", false, usage("name a session log (*.jsonl), or a directory that holds session.jsonl", "%w", err)
	}
	if filepath.Base(path) == session.FramesFile {
		if dir, err := os.OpenRoot(filepath.Dir(path)); err == nil {
			_, err = session.Open(dir)
			own = err == nil
			dir.Close()
		}
	}
	return f, filepath.Base(path), own, nil
}

// readLog judges one log as the flags say.
func (e *env) readLog(f *logFlags, path string) (*analyze.Result, *detect.Log, error) {
	o, err := e.detectOptions(f)
	if err != nil {
		return nil, nil, err
	}
	log, name, own, err := openLog(path)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	o.OwnClient = o.OwnClient || own && f.client == "auto"
	res, l, err := analyze.JudgeLog(log, name, analyze.LogOptions{Options: o, Path: filepath.ToSlash(filepath.Clean(path)), Version: version()})
	if err != nil {
		return nil, nil, err
	}
	// A session in which nobody said a word has its metrics all the same.
	if l.Stats.Events == 0 && l.Metrics == nil {
		return nil, nil, usage("name a log that coalmine tap, coalmine probe or glassport wrote", "%s holds no frame of a session", path)
	}
	return res, l, nil
}

// printJSON writes v as JSON in which nothing acts on a terminal.
func (e *env) printJSON(v any) error { return report.Encode(e.out, v) }

func (e *env) summarize() *cobra.Command {
	f := &logFlags{}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "summarize LOG", Short: "Say what a session declared, called and failed at", Args: exactArgs(1, "coalmine summarize LOG"),
		Long: "summarize reads a session log: what was declared, what was called, and what lies between.\n\nExit status: 0, or 2 where LOG is no session log.",
		RunE: func(_ *cobra.Command, args []string) error {
			_, l, err := e.readLog(f, args[0])
			if err != nil {
				return err
			}
			e.sayHoles(l)
			if asJSON {
				return e.printJSON(l.Summary)
			}
			e.printSummary(&l.Summary)
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON, in glassport's form")
	return cmd
}

// sayHoles tells on stderr what of a log was not seen.
func (e *env) sayHoles(l *detect.Log) {
	for _, h := range l.Holes() {
		fmt.Fprintln(e.err, "not seen: "+report.Behind(h.Text, 400))
	}
}

// maxListed bounds the entries of a list that the terminal shows.
const maxListed = 50

// maxLines bounds the entries of a list that have a line each.
const maxLines = 10

// listed joins what a list holds.
func listed[T any](list []T, none string, show func(T) string) string {
	return joined(list, maxListed, ", ", none, show)
}

// lines is listed with a line for each entry.
func lines[T any](list []T, none string, show func(T) string) string {
	return joined(list, maxLines, "\n"+strings.Repeat(" ", 17), none, show)
}

func joined[T any](list []T, most int, between, none string, show func(T) string) string {
	if len(list) == 0 {
		return none
	}
	var out []string
	for _, v := range list[:min(len(list), most)] {
		out = append(out, show(v))
	}
	if len(list) > most {
		out = append(out, fmt.Sprintf("and %d more; --json has them", len(list)-most))
	}
	return strings.Join(out, between)
}

// counted are the names of a list, each once and with how often it is there.
func counted(list []string) []string {
	times := map[string]int{}
	for _, s := range list {
		times[s]++
	}
	var out []string
	for _, s := range slices.Sorted(maps.Keys(times)) {
		if n := times[s]; n > 1 {
			s += fmt.Sprintf(" (%d times)", n)
		}
		out = append(out, s)
	}
	return out
}

// plain is any text within a line, of a terminal or of a job's log.
func plain(s string) string { return report.Behind(s, 400) }

func (e *env) printSummary(s *detect.Summary) {
	unknown := "unknown: no complete list was seen"
	if s.DeclarationKnown {
		unknown = "none"
	}
	failure := func(f detect.Failure) string {
		return fmt.Sprintf("seq %d “%s”", f.Seq, report.Behind(f.Message, 160))
	}
	for _, l := range [][2]string{
		{"session", plain(s.Session)},
		{"completeness", s.Completeness},
		{"frames parsed", fmt.Sprint(s.FramesParsed)},
		{"declared", listed(s.DeclaredTools, unknown, plain)},
		{"called", listed(counted(s.CalledTools), "none", plain)},
		{"never called", listed(s.UnusedDeclared, "none", plain)},
		{"fabricated", lines(s.FabricatedCalls, "none", func(c detect.Call) string { return fmt.Sprintf("seq %d “%s”", c.Seq, plain(c.Tool)) })},
		{"protocol errors", lines(s.ProtocolErrors, "none", failure)},
		{"tool errors", lines(s.ToolErrors, "none", failure)},
		{"violations", lines(s.ContextViolations, "none", func(v detect.Violation) string {
			return fmt.Sprintf("[%d] seq %d %s: %s", v.Severity, v.Seq, plain(v.Subcategory), plain(v.Explanation))
		})},
	} {
		fmt.Fprintf(e.out, "%-16s %s\n", l[0]+":", l[1])
	}
}

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
		Use: "detect LOG…", Short: "Judge what crossed the wire in a session, or in several servers' sessions",
		Long: "detect runs every detector over a session log. Of several logs it also says where one server's tools stand in\nanother's way.\n\n" +
			"Exit status: 1 for an observation that is more than information, else 3 where something could not be seen, else 0;\n2 where LOG is no session log.",
		RunE: func(_ *cobra.Command, args []string) error {
			if asJSON {
				format = "json"
			}
			if len(args) == 0 {
				return usage("coalmine detect LOG", "no log is named")
			}
			if !slices.Contains([]string{"text", "json", "sarif"}, format) {
				return usage("text, json, sarif", "--format %s is not known", format)
			}
			return e.runDetect(f, format, args)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print annotations as JSON, in glassport's form")
	cmd.Flags().StringVar(&format, "format", "text", "text, json or sarif")
	return cmd
}

func (e *env) runDetect(f *logFlags, format string, paths []string) error {
	var logs []*detect.Log
	var results []*analyze.Result
	for _, p := range paths {
		res, l, err := e.readLog(f, p)
		if err != nil {
			return err
		}
		logs, results = append(logs, l), append(results, res)
	}
	for i, more := range detect.Shadowing(logs) {
		logs[i].Annotations = append(logs[i].Annotations, more...)
		results[i].Findings = append(results[i].Findings, rules.Annotated(more, filepath.ToSlash(filepath.Clean(paths[i])))...)
	}
	for _, l := range logs {
		e.status = worse(e.status, detectStatus(l))
		if format == "text" {
			e.printDetected(l)
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
		out = append(out, detected{l.Summary.Session, l.Summary.Completeness, l.Verdict(), append([]detect.Annotation{}, l.Annotations...), l.Dropped, session.Texts(l.Holes())})
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
	case len(l.Holes()) > 0:
		return ExitInconclusive
	}
	return ExitOK
}

// maxPrinted bounds the observations that the terminal shows of one log.
const maxPrinted = 200

func (e *env) printDetected(l *detect.Log) {
	as := slices.Clone(l.Annotations)
	slices.SortStableFunc(as, func(a, b detect.Annotation) int { return weight(&b) - weight(&a) })
	verdict := string(l.Verdict())
	if verdict == string(detect.Clean) && len(l.Holes()) > 0 {
		verdict += " as far as it was seen"
	}
	fmt.Fprintf(e.out, "%s: %s, %d observations\n", report.Clean(l.Name, 400), verdict, len(as)+l.Dropped)
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
		fmt.Fprintf(e.out, "  [%s] seq %-5d %s: %s%s\n", mark, a.Seq(), plain(a.Subcategory), report.Behind(a.Explanation, 600), more)
	}
	if n := len(as) + l.Dropped - shown; n > 0 {
		fmt.Fprintf(e.out, "  … and %d more; --json has them\n", n)
	}
	for _, h := range l.Holes() {
		fmt.Fprintln(e.out, "  not seen: "+report.Behind(h.Text, 400))
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

func (e *env) report() *cobra.Command {
	f := &logFlags{}
	var format, out string
	cmd := &cobra.Command{
		Use: "report LOG", Short: "Write a report on a session log, as coalmine probe does on a run", Args: exactArgs(1, "coalmine report LOG"),
		Long: "report judges a session log and writes what was found, as text, one line, JSON, SARIF, Markdown,\nJUnit or one page of HTML. A log holds only the wire, so that its report is never\nclean: it says what was not watched.\n\n" +
			"Exit status: 0 for a report, whatever it says (coalmine detect has statuses), 2 where LOG is no session log.",
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(formats, format) {
				return usage(strings.Join(formats, ", "), "--format %s is not known", format)
			}
			res, _, err := e.readLog(f, args[0])
			if err != nil {
				return err
			}
			return e.writeReport(res, format, out, args[0])
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&format, "format", "html", strings.Join(formats, ", "))
	cmd.Flags().StringVarP(&out, "out", "o", "", "write it to `FILE` (HTML: default LOG with .html in place of .jsonl; - is stdout)")
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
	// What a log says may be private, as the log itself is.
	f, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return usage("name a file that may be written with --out", "%w", err)
	}
	if err := errors.Join(renderLog(f, res, format, log, report.TextOptions{}), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", out, err)
	}
	fmt.Fprintln(e.out, report.Behind(out, 1000))
	return nil
}

func renderLog(w io.Writer, res *analyze.Result, format, log string, o report.TextOptions) error {
	switch format {
	case "json":
		return report.JSON(w, res)
	case "sarif":
		return report.SARIF(w, res, report.SARIFOptions{Default: report.At(filepath.ToSlash(filepath.Clean(log)))})
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
