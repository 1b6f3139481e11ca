package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"

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
