package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/advise"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/cmd/internal/serve"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

func (e *env) advise() *cobra.Command {
	f := &logFlags{}
	var write, least string
	var audits []string
	var all bool
	cmd := &cobra.Command{
		Use: "advise LOG…", Short: "Summarize findings as a block for AGENTS.md or CLAUDE.md",
		Long: "advise reads session logs, or the report.json of run directories, and prints a fenced block for agents.\n" +
			"With --audit, it audits a server's source too. With --write, it replaces the block in FILE or appends one. The block contains no text of a server.\n\n" +
			"Exit status: 0, or 2 when LOG is not a session log or FILE is not writable or has unbalanced marks.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args)+len(audits) == 0 {
				return usage("coalmine advise LOG", "advise needs a LOG or --audit TARGET")
			}
			if all {
				least = string(finding.Info)
			}
			at, err := finding.ParseSeverity(least)
			if err != nil {
				return usage("use critical, high, medium, low or info", "unknown --at-least %s", least)
			}
			var sources []advise.Source
			for _, path := range args {
				s, err := e.adviseSource(f, path)
				if err != nil {
					return err
				}
				sources = append(sources, *s)
			}
			for _, target := range audits {
				s, err := e.adviseAudit(cmd.Context(), target)
				if err != nil {
					return err
				}
				sources = append(sources, *s)
			}
			block := advise.Block(sources, at)
			if write == "" {
				fmt.Fprintln(e.out, block)
				return nil
			}
			return e.splice(write, block)
		},
	}
	f.add(cmd)
	cmd.Flags().StringArrayVar(&audits, "audit", nil, "also audit this `TARGET`, as coalmine audit does")
	cmd.Flags().BoolVar(&all, "all", false, "the same as --at-least info")
	cmd.Flags().StringVar(&write, "write", "", "write the block to `FILE` instead of printing it")
	cmd.Flags().StringVar(&least, "at-least", "medium", "omit findings below this severity: critical, high, medium, low or info")
	return cmd
}

// adviseSource reads a run's report, or judges a session log.
func (e *env) adviseSource(f *logFlags, path string) (*advise.Source, error) {
	if r, err := session.OpenBelow(path, report.FileJSON); err == nil {
		defer r.Close()
		s, _, err := serve.ReadReport(r, filepath.Base(filepath.Clean(path))+"/report.json")
		if err != nil {
			return nil, usage("coalmine probe writes report.json", "%w", err)
		}
		return s, nil
	}
	res, l, err := e.readLog(f, path)
	if err != nil {
		return nil, err
	}
	return &advise.Source{Name: filepath.Base(l.Name), Server: res.Server.Name, Findings: res.Findings}, nil
}

// adviseAudit audits a source without running it.
func (e *env) adviseAudit(ctx context.Context, target string) (*advise.Source, error) {
	defer audit.Tune()()
	r, _, err := e.auditTarget(ctx, &auditFlags{own: "no"}, target)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(r.Profile.PackageName, filepath.Base(filepath.Clean(target)))
	return &advise.Source{Name: name, Audit: true, Findings: r.Findings, Incomplete: r.Skipped > 0}, nil
}

// maxAdvised bounds a file that a block is put into.
const maxAdvised = 16 << 20

// splice replaces the block in a file, all of it or nothing.
func (e *env) splice(path, block string) error {
	hint := "name a text file that may be written; repair or remove its coalmine marks by hand"
	// AGENTS.md and CLAUDE.md are often one file by a link. One that leads out of its
	// directory may have come with the repository.
	if to, err := filepath.EvalSymlinks(path); err == nil {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return usage(hint, "%w", err)
		}
		if rel, err := filepath.Rel(dir, to); err != nil || !filepath.IsLocal(rel) {
			return usage("name the file itself", "%s is a symbolic link out of its directory", path)
		}
		path = to
	}
	mode := os.FileMode(0o644)
	info, err := os.Stat(path)
	switch {
	case err == nil && (!info.Mode().IsRegular() || info.Size() > maxAdvised):
		return usage(hint, "%s is not a text file", path)
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, os.ErrNotExist):
		return usage(hint, "%w", err)
	}
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return usage(hint, "%w", err)
	}
	now, err := advise.Splice(string(old), block)
	if err != nil {
		return usage(hint, "%s: %w", path, err)
	}
	if err := replaceFile(path, now, mode); err != nil {
		return usage(hint, "%w", err)
	}
	fmt.Fprintln(e.out, report.Escape(path, 1000))
	return nil
}
