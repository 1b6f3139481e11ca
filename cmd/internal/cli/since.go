package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/since"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/config"
)

// openBase finds the merge base of --changed-since.
func (f *probeFlags) openBase(ctx context.Context) error {
	if f.changedSince == "" {
		return nil
	}
	var err error
	if f.base, err = since.Open(ctx, filepath.Dir(f.config), f.changedSince); err != nil {
		return &sandbox.UsageError{Err: fmt.Errorf("--changed-since: %w", err), Hint: "name a branch or commit that this one began from, such as origin/main, in a clone that has its history"}
	}
	return nil
}

// judgedBy reads a file by which runs are judged. Under --changed-since the merge
// base's holds, and that the file is another now is noted; ok is false where the
// merge base has none.
func (f *probeFlags) judgedBy(ctx context.Context, what, name string) (data []byte, ok bool, err error) {
	now, err := readBounded(name, maxConfig)
	if f.base == nil {
		return now, err == nil, err
	}
	gone := errors.Is(err, fs.ErrNotExist)
	if err != nil && !gone {
		return nil, false, err
	}
	was, ok, err := f.base.File(ctx, name)
	if errors.Is(err, since.ErrOutside) && !gone {
		return now, true, nil // no change under review reaches it
	}
	if err != nil {
		return nil, false, err
	}
	if gone && !ok {
		return nil, false, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	if gone || !ok || !bytes.Equal(was, now) {
		f.Changed = append(f.Changed, rules.Changed{What: what, At: finding.Location{Path: name, Line: since.FirstDifference(was, now)}, Removed: gone, Added: !ok})
	}
	return was, ok, nil
}

// readBaseline reads --baseline.
func (f *probeFlags) readBaseline(ctx context.Context) error {
	if f.baseline == "" {
		return nil
	}
	const hint = "name a file that coalmine baseline wrote"
	data, ok, err := f.judgedBy(ctx, "baseline", f.baseline)
	if err != nil {
		return &sandbox.UsageError{Err: err, Hint: hint}
	}
	if !ok {
		return nil
	}
	if f.Baseline, err = analyze.ParseBaseline(f.baseline, data); err != nil {
		return &sandbox.UsageError{Err: err, Hint: hint}
	}
	return nil
}

// unchanged tells of the runs whose server is what it was in the merge base, and
// returns the others. Where what they are judged by was changed, all are made.
func (e *env) unchanged(ctx context.Context, f *probeFlags, runs []plan.Options) ([]plan.Options, error) {
	if f.base == nil || len(f.Changed) > 0 {
		return runs, nil
	}
	before := map[string]config.Server{}
	if f.config != "" {
		data, ok, err := f.base.File(ctx, f.config)
		if err != nil && !errors.Is(err, since.ErrOutside) {
			return nil, &sandbox.UsageError{Err: err, Hint: configHint}
		}
		if ok {
			servers, _ := config.Parse(f.config, data)
			before = byName(servers)
		}
	}
	var out []plan.Options
	for _, o := range runs {
		same, err := f.same(ctx, o, before)
		if err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: "leave out --changed-since to probe it all the same"}
		}
		if !same {
			out = append(out, o)
			continue
		}
		f.policy.doubt = true // a suppression may be for what is not probed now
		fmt.Fprintf(e.err, "%s: unchanged since %s, not probed\n", report.Clean(o.Name, 100), report.Clean(f.changedSince, 100))
	}
	return out, nil
}

// byName are a configuration's servers by name; of several clients take the last.
func byName(servers []config.Server) map[string]config.Server {
	out := map[string]config.Server{}
	for _, s := range servers {
		out[s.Name] = s
	}
	return out
}

// same reports whether an entry of the configuration and the server's own files,
// where the repository holds them, are the merge base's. A bare command, of which
// the repository may hold nothing, never is.
func (f *probeFlags) same(ctx context.Context, o plan.Options, before map[string]config.Server) (bool, error) {
	was, ok := before[o.Name]
	now := f.entries[o.Name]
	was.Line, was.Column, now.Line, now.Column = 0, 0, 0, 0
	if f.config == "" || !ok || !reflect.DeepEqual(was, now) {
		return false, nil
	}
	for _, dir := range plan.Reads(o) {
		changed, err := f.base.Changed(ctx, dir)
		if errors.Is(err, since.ErrOutside) {
			continue
		}
		if err != nil || changed {
			return false, err
		}
	}
	return true, nil
}

func (e *env) baseline() *cobra.Command {
	out := ""
	cmd := &cobra.Command{
		Use: "baseline [--out FILE] REPORT…", Short: "Write what is known of servers down, so that only what is new fails",
		Long: "baseline reads report.json files, or directories of runs such as coalmine-out, and writes their findings\n" +
			"down. coalmine probe --baseline FILE then fails only for others.",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("coalmine baseline --out baseline.json coalmine-out", "no report to read")
			}
			reports, err := readReports(args)
			if err != nil {
				return err
			}
			data, err := analyze.WriteBaseline(reports)
			if err != nil {
				return &sandbox.UsageError{Err: err, Hint: "name the report.json of a probe"}
			}
			if out == "" {
				_, err = e.out.Write(data)
				return err
			}
			if err := os.WriteFile(out, data, 0o644); err != nil {
				return &sandbox.UsageError{Err: err, Hint: "name a file that can be written"}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write to this `FILE` instead of standard output")
	return cmd
}

// maxReport bounds a report.json, in bytes.
const maxReport = 256 << 20

// readReports reads report.json files, of directories those of the runs in them.
func readReports(args []string) ([][]byte, error) {
	var names []string
	for _, a := range args {
		info, err := os.Stat(a)
		if err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: "name the report.json of a probe, or a directory of runs"}
		}
		if !info.IsDir() {
			names = append(names, a)
			continue
		}
		for _, pattern := range []string{report.FileJSON, "*/" + report.FileJSON} {
			found, err := fs.Glob(os.DirFS(a), pattern)
			if err != nil {
				return nil, err
			}
			for _, name := range found {
				names = append(names, filepath.Join(a, name))
			}
		}
	}
	if len(names) == 0 {
		return nil, usage("name a directory that coalmine probe wrote, such as coalmine-out", "there is no %s", report.FileJSON)
	}
	var out [][]byte
	for _, name := range names {
		data, err := readBounded(name, maxReport)
		if err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: "name the report.json of a probe"}
		}
		out = append(out, data)
	}
	return out, nil
}
