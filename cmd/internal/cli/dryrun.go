package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// dryRun prints what a probe would start, and what of this machine it would show.
func (e *env) dryRun(ctx context.Context, o plan.Options, f *probeFlags) (int, error) {
	if o.Remote != nil {
		fmt.Fprintf(e.out, "%-9s %s\n%-9s %s\n", "target", report.Clean(o.Name, 200), "address", report.Clean(o.Remote.Address, 400))
		return ExitOK, nil
	}
	p, why, err := probe.DryRun(ctx, o)
	f.progress.clear()
	if err != nil {
		return 0, err
	}
	line := func(label, text string) { fmt.Fprintf(e.out, "%-9s %s\n", label, text) }
	var command []string
	for _, word := range p.Server.Command {
		command = append(command, report.Clean(p.Redactor.Redact(word), 400))
	}
	line("target", report.Clean(p.Target, 200))
	line("command", strings.Join(command, " "))
	line("starts in", report.Clean(p.Server.Dir, 400))
	line("sandbox", p.Sandbox.Backend+", tracer "+p.Tracer+", network "+report.Clean(p.Network, 200))
	if why != "" {
		line("why", report.Escape(why, 300))
	}
	for _, s := range p.Shown {
		line("shown", report.ShownLine(s))
		for _, path := range s.MaskedPaths {
			line("  masked", report.Escape(path, 400))
		}
		for _, path := range s.HiddenPaths {
			line("  hidden", report.Escape(path, 400))
		}
	}
	return ExitOK, nil
}

// confines is the directory that a configuration's commands are held to: the repository
// that the file lies in, what a CI's service says of its checkout, or else the project
// around it. It is "" for the settings of the user's own clients, in HOME.
func confines(file string) string {
	real, err := filepath.EvalSymlinks(file)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return ""
	}
	if top := shown.Repository(real); top != "" {
		return top
	}
	for _, name := range []string{"GITHUB_WORKSPACE", "CI_PROJECT_DIR"} {
		if top, err := filepath.EvalSymlinks(os.Getenv(name)); err == nil && filepath.IsAbs(top) && contains(top, real) {
			return top
		}
	}
	dir := filepath.Dir(real)
	home, err := os.UserHomeDir()
	if err == nil {
		home, err = filepath.EvalSymlinks(home)
	}
	if rel, relErr := filepath.Rel(home, dir); err == nil && relErr == nil && (rel == "." || isClients(rel)) {
		return ""
	}
	if strings.HasPrefix(filepath.Base(dir), ".") {
		dir = filepath.Dir(dir) // .vscode, .cursor and the like lie in the project
	}
	return dir
}

// isClients reports whether a path of HOME is where clients keep their settings.
func isClients(rel string) bool {
	first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	return first != ".." && (strings.HasPrefix(first, ".") || slices.Contains([]string{"Library", "AppData"}, first))
}

// contains reports whether a path without links lies below a directory.
func contains(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
