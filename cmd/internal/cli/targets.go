package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/config"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/discover"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// targetsSchema is the version of what coalmine targets --format json prints.
const targetsSchema = "coalmine/targets/v1"

// targetList is what coalmine targets --format json prints.
type targetList struct {
	Schema  string        `json:"schema"`
	Servers []target      `json:"servers"`
	Others  []otherTarget `json:"others"`
	// Skipped are directories that were not looked into, because of their names.
	Skipped []string `json:"skipped,omitempty"`
	Errors  []string `json:"errors,omitempty"`
}

// target is a server of a configuration.
type target struct {
	Name   string `json:"name"`
	Client string `json:"client"`
	File   string `json:"file"`
	// Line and Column are those of the entry, both from 1.
	Line    int         `json:"line"`
	Column  int         `json:"column"`
	Kind    config.Kind `json:"kind"`
	Package string      `json:"package,omitempty"`
	Command []string    `json:"command,omitempty"`
	URL     string      `json:"url,omitempty"`
	// Cwd is the working directory as the file has it.
	Cwd      string `json:"cwd,omitempty"`
	Disabled bool   `json:"disabled,omitempty"`
	// At has the names of its variables, never their values.
	At         positions          `json:"at"`
	References []config.Reference `json:"references,omitempty"`
	// Probe is the command that probes it, "" for what no probe starts.
	Probe string `json:"probe,omitempty"`
}

// positions are where the parts of an entry stand.
type positions struct {
	Command *config.Position           `json:"command,omitempty"`
	Args    []config.Position          `json:"args,omitempty"`
	Env     map[string]config.Position `json:"env,omitempty"`
	URL     *config.Position           `json:"url,omitempty"`
	Cwd     *config.Position           `json:"cwd,omitempty"`
}

// otherTarget is what an agent runs or reads beside servers.
type otherTarget struct {
	Kind discover.Kind `json:"kind"`
	// Path is the directory of a skill or a plugin, or the file of a hook.
	Path    string `json:"path"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Event   string `json:"event,omitempty"`
	Command string `json:"command,omitempty"`
	// Audit is the command that audits it.
	Audit string `json:"audit"`
}

func (e *env) targets() *cobra.Command {
	var asJSON, home bool
	format := "text"
	cmd := &cobra.Command{
		Use: "targets [flags] [PATH]", Short: "List the MCP servers that the configurations of a tree name",
		Long: "targets finds the configurations of MCP clients in a directory (default: the repository around the working\n" +
			"directory), and lists the servers that they name, with hooks, skills and plugins, which coalmine audit takes.\n" +
			"PATH can also be one configuration. Nothing is started, and variables are never printed.",
		RunE: func(_ *cobra.Command, args []string) error {
			if asJSON {
				format = "json"
			}
			if format != "text" && format != "json" {
				return usage("use one of: text, json", "unknown --format %s", format)
			}
			if len(args) > 1 || home && len(args) > 0 {
				return usage("coalmine targets PATH", "targets takes one PATH, or --home")
			}
			return e.listTargets(append(args, "")[0], home, format)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "the same as --format json")
	cmd.Flags().BoolVar(&home, "home", false, "look in your home directory, where clients keep their own settings")
	cmd.Flags().StringVar(&format, "format", "text", "print text or json")
	return cmd
}

func (e *env) listTargets(name string, home bool, format string) error {
	t, err := openTargets(name, home)
	if err != nil {
		return err
	}
	defer t.close()
	if format == "json" {
		e.status = ExitOK
		if len(t.found.Faults) > 0 {
			e.status = ExitUsage
		}
		return report.Encode(e.out, t.listing())
	}
	l := t.listing()
	if len(l.Servers)+len(l.Others)+len(l.Errors) == 0 {
		fmt.Fprintf(e.out, "no configuration of an MCP client is in %s\n", report.Escape(t.dir, 300))
		return nil
	}
	e.printTargets(l)
	e.status = e.badEntries(t.found.Faults)
	return nil
}

// printTargets prints a table, with what is missing of a server below it.
func (e *env) printTargets(l targetList) {
	w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")) }
	row("NAME", "CLIENT", "WHERE", "RUNS")
	var missing []string
	for _, s := range l.Servers {
		what := s.URL
		if what == "" {
			what = strings.Join(s.Command, " ")
		}
		if s.Disabled {
			what += " (disabled)"
		}
		row(report.Clean(s.Name, 100), s.Client, fmt.Sprintf("%s:%d", report.Escape(s.File, 300), s.Line), report.Escape(what, 300))
		for _, r := range s.References {
			if r.Missing != "" {
				missing = append(missing, fmt.Sprintf("%s:%d:%d: %s of %s: %s", report.Escape(s.File, 300), r.Line, r.Column, report.Escape(r.Text, 220), report.Clean(s.Name, 100), report.Escape(r.Missing, 300)))
			}
		}
	}
	for _, o := range l.Others {
		where, what := report.Escape(o.Path, 300), report.Escape(o.Audit, 400)
		if o.Line > 0 {
			where, what = fmt.Sprintf("%s:%d", where, o.Line), report.Escape(o.Command, 300)
		}
		row(strings.TrimSpace(string(o.Kind)+" "+report.Clean(o.Event, 100)), "", where, what)
	}
	_ = w.Flush() // the output's own errors show at the next line, too
	if len(missing) > 0 {
		fmt.Fprintln(e.out, "\nnot known here; a probe uses the text as written:")
	}
	for _, line := range missing {
		fmt.Fprintln(e.out, "  "+line)
	}
}

// foundTargets are the targets of a tree, or of one configuration.
type foundTargets struct {
	found *discover.Found
	// dir is the tree as a user names it, "" for one configuration.
	dir  string
	root *os.Root
}

func (t *foundTargets) close() {
	if t.root != nil {
		_ = t.root.Close() // it was only read
	}
}

// openTargets looks for targets: in one configuration, a tree, or the home directory.
func openTargets(name string, home bool) (*foundTargets, error) {
	if name == "" {
		var err error
		if name, err = defaultTree(home); err != nil {
			return nil, err
		}
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, &sandbox.UsageError{Err: err, Hint: "name a directory or " + strings.TrimPrefix(configHint, "name ")}
	}
	if !info.IsDir() {
		servers, bad, err := readConfig(name)
		if err != nil {
			return nil, err
		}
		return &foundTargets{found: &discover.Found{Faults: bad, Files: []discover.File{{Path: name, Client: discover.Client(filepath.ToSlash(name)), Servers: servers}}}}, nil
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, &sandbox.UsageError{Err: err, Hint: "name a directory that can be read"}
	}
	t := &foundTargets{dir: name, root: root}
	if home {
		t.found = discover.Home(root)
	} else {
		t.found = discover.Tree(root)
	}
	for _, err := range t.found.Faults {
		var at *config.Error
		if errors.As(err, &at) {
			at.Path = t.path(at.Path)
		}
	}
	return t, nil
}

// defaultTree is where targets are looked for without a path: the repository, else the
// working directory.
func defaultTree(home bool) (string, error) {
	if home {
		return os.UserHomeDir()
	}
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if top := shown.Repository(cwd); top != "" {
		if real, err := filepath.EvalSymlinks(cwd); err == nil {
			if rel, err := filepath.Rel(real, top); err == nil {
				return rel, nil
			}
		}
		return top, nil
	}
	return ".", nil
}

// path is a path of the tree as a user names it.
func (t *foundTargets) path(name string) string {
	if t.dir == "" {
		return name
	}
	return filepath.ToSlash(filepath.Join(t.dir, filepath.FromSlash(name)))
}

// listing is what was found, as it is printed.
func (t *foundTargets) listing() targetList {
	l := targetList{Schema: targetsSchema, Servers: []target{}, Others: []otherTarget{}}
	for _, f := range t.found.Files {
		name := t.path(f.Path)
		refer := references(name)
		for _, s := range f.Servers {
			l.Servers = append(l.Servers, newTarget(name, f.Client, s, refer))
		}
		for _, h := range f.Hooks {
			l.Others = append(l.Others, otherTarget{Kind: discover.KindHook, Path: name, Line: h.Line, Column: h.Column, Event: h.Event, Command: h.Command, Audit: "coalmine audit " + quoteWord(name)})
		}
	}
	for _, o := range t.found.Others {
		l.Others = append(l.Others, otherTarget{Kind: o.Kind, Path: t.path(o.Path), Audit: "coalmine audit " + quoteWord(t.path(o.Path))})
	}
	for _, dir := range t.found.Skipped {
		l.Skipped = append(l.Skipped, t.path(dir))
	}
	for _, err := range t.found.Faults {
		l.Errors = append(l.Errors, report.Escape(err.Error(), 2000))
	}
	return l
}

func newTarget(file, client string, s config.Server, refer config.Context) target {
	out := target{Name: s.Name, Client: client, File: file, Line: s.Line, Column: s.Column, Kind: s.Kind, Package: s.Package, Command: s.Command, URL: s.URL, Cwd: s.Dir, Disabled: s.Disabled, References: s.References(refer)}
	out.At = positions{Args: s.At.Args, Env: s.At.Env}
	for _, at := range []struct {
		from config.Position
		to   **config.Position
	}{{s.At.Command, &out.At.Command}, {s.At.URL, &out.At.URL}, {s.At.Dir, &out.At.Cwd}} {
		if at.from.Line > 0 {
			*at.to = &at.from
		}
	}
	if len(s.Command) > 0 {
		out.Probe = "coalmine probe --config " + quoteWord(file) + " --server " + quoteWord(s.Name)
	}
	return out
}

// quoteWord is a word as a shell takes it.
func quoteWord(s string) string { return analyze.Quote(s) }

// references are what the references of a configuration are resolved by.
func references(file string) config.Context {
	dir := filepath.Dir(file)
	c := config.Context{Workspace: confines(file), Bundle: dir, IsSet: func(name string) bool { _, ok := os.LookupEnv(name); return ok }}
	if filepath.Base(dir) == ".claude-plugin" {
		c.Bundle = filepath.Dir(dir)
	}
	for _, to := range []*string{&c.Workspace, &c.Bundle} {
		if abs, err := filepath.Abs(*to); err == nil && *to != "" {
			*to = abs
		}
	}
	return c
}

// wouldProbe lists on standard error what the repository has to be probed, for a probe
// without a target.
func (e *env) wouldProbe() {
	t, err := openTargets("", false)
	if err != nil {
		return
	}
	defer t.close()
	l := t.listing()
	n := 0
	for _, s := range l.Servers {
		if s.Probe == "" || s.Disabled {
			continue
		}
		if n++; n == 1 {
			fmt.Fprintln(e.err, "servers that are configured here, and what probes them:")
		}
		if n > maxListed {
			fmt.Fprintln(e.err, "  and more: coalmine targets lists them all")
			return
		}
		fmt.Fprintf(e.err, "  %s\n      runs %s\n", report.Escape(s.Probe, 400), report.Escape(strings.Join(s.Command, " "), 300))
	}
}
