package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/pii"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// logDir opens the directory of logs that is named, else where taps keep theirs.
func logDir(args []string, hint string) (*os.Root, string, error) {
	if len(args) > 1 {
		return nil, "", usage(hint, "expected at most 1 directory, got %d", len(args))
	}
	dir, err := session.WireDir()
	if len(args) == 1 {
		dir, err = args[0], nil
	}
	if err != nil {
		return nil, "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, "", usage("name a directory with session logs", "%w", err)
	}
	return root, dir, nil
}

// logFlags are what all commands over a session log have in common.
type logFlags struct {
	client   string
	patterns string
	progress *progress // nil for none
}

func (f *logFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.client, "client", "auto", "who the client was: auto, other, or coalmine (turns off the rules that judge the client)")
	fl.StringVar(&f.patterns, "patterns", "", "a JSON `FILE` with your own patterns (default $COALMINE_PII_PATTERNS, else $GLASSPORT_PII_PATTERNS)")
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
		return o, usage("use auto, other or coalmine", "unknown --client %s", f.client)
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
		fmt.Fprintln(e.err, "warning: "+report.Escape(err.Error(), 1000))
		fmt.Fprintln(e.err, "hint: coalmine uses only the built-in patterns")
		return o, nil
	}
	o.Patterns = own
	return o, nil
}

// openLog opens a session log: a file, or a run's directory. own says that
// coalmine was the client: the run's own trace lies beside it.
func openLog(path string) (f *os.File, name string, own bool, err error) {
	const hint = "name a session log (*.jsonl), or a directory with session.jsonl"
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		// Whoever filled the directory may have made a link of the log.
		f, err = session.OpenBelow(path, session.FramesFile)
		path = filepath.Join(path, session.FramesFile)
		if err != nil {
			return nil, "", false, usage(hint, "%s: %w", path, err)
		}
	} else if err == nil && !info.Mode().IsRegular() {
		// It could be read for ever.
		return nil, "", false, usage("name a session log, or a directory with session.jsonl", "%s is not a regular file", path)
	} else if f, err = os.Open(path); err != nil {
		return nil, "", false, usage(hint, "%w", err)
	}
	if filepath.Base(path) == session.FramesFile {
		if dir, err := os.OpenRoot(filepath.Dir(path)); err == nil {
			_, err = session.Open(dir)
			own = err == nil
			dir.Close()
		}
	}
	return f, filepath.Base(path), own || session.ClosedByProbe(f), nil
}

// probed lists the logs of a probe's directory, of all its runs. It is path alone for anything else.
func probed(path string) []string {
	root, err := os.OpenRoot(path)
	if err != nil {
		return []string{path}
	}
	defer root.Close()
	index, err := session.ReadIndex(root)
	if err != nil {
		return []string{path}
	}
	var out []string
	for _, r := range index.Runs {
		if r.Role == session.RoleHelper {
			continue // it spoke no MCP
		}
		name := filepath.Join(filepath.FromSlash(r.Dir), session.FramesFile)
		if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
			out = append(out, filepath.Join(path, name))
		}
	}
	if len(out) == 0 {
		return []string{path}
	}
	return out
}

// judgedDirectory judges all of a probe's directory; ok is false for anything else.
func judgedDirectory(path string) (res *analyze.Result, ok bool, err error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, false, nil
	}
	defer root.Close()
	if _, err := session.ReadIndex(root); errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	res, _, err = analyze.Judge(root, version())
	return res, true, err
}

// logAt opens a log, and says how the flags have it judged.
func (e *env) logAt(f *logFlags, path string) (log *os.File, name string, o detect.Options, err error) {
	if o, err = e.detectOptions(f); err != nil {
		return nil, "", o, err
	}
	log, name, own, err := openLog(path)
	o.OwnClient = o.OwnClient || own && f.client == "auto"
	return log, name, o, err
}

// readLog judges one log as the flags say.
func (e *env) readLog(f *logFlags, path string) (*analyze.Result, *detect.Log, error) {
	log, name, o, err := e.logAt(f, path)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	res, l, err := analyze.JudgeLog(f.progress.reading(log, path), name, analyze.LogOptions{Options: o, Path: filepath.ToSlash(filepath.Clean(path)), Version: version()})
	if err == nil {
		err = spoke(l, path)
	}
	if err != nil {
		return nil, nil, err
	}
	return res, l, nil
}

// readSummary is readLog for what a summary tells.
func (e *env) readSummary(f *logFlags, path string) (*detect.Log, error) {
	log, name, o, err := e.logAt(f, path)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	o.SummaryOnly = true
	l, err := detect.Read(log, name, o)
	if err == nil {
		err = spoke(l, path)
	}
	return l, err
}

// spoke is an error for a log that is no session's. A session in which nobody said a word has
// its metrics all the same.
func spoke(l *detect.Log, path string) error {
	if l.Stats.Events == 0 && l.Metrics == nil {
		return usage("name a log from coalmine tap, coalmine probe or glassport", "%s contains no session frame", path)
	}
	return nil
}

// printJSON writes v as JSON in which nothing acts on a terminal.
func (e *env) printJSON(v any) error { return report.Encode(e.out, v) }
