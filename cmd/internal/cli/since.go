package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/since"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
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

// closeBase removes what openBase made.
func (f *probeFlags) closeBase() error {
	if f.base == nil {
		return nil
	}
	return f.base.Close()
}

// judgedBy reads a file by which runs are judged. Under --changed-since the merge
// base's holds, and that the file is another now is noted; ok is false where the
// merge base has none.
func (f *probeFlags) judgedBy(ctx context.Context, what, name string) (data []byte, ok bool, err error) {
	return f.judgedByRead(ctx, what, name, func() ([]byte, error) { return readBounded(name, maxConfig) })
}

// judgedByRead is judgedBy with a way of its own to read the file as it is now.
func (f *probeFlags) judgedByRead(ctx context.Context, what, name string, read func() ([]byte, error)) (data []byte, ok bool, err error) {
	now, err := read()
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

// readLock reads --lock.
func (f *probeFlags) readLock(ctx context.Context) error {
	if f.lock == "" {
		return nil
	}
	data, ok, err := f.judgedBy(ctx, "lock", f.lock)
	if err != nil {
		return &sandbox.UsageError{Err: err, Hint: "coalmine lock writes one"}
	}
	if ok {
		f.Lock = &analyze.File{Name: f.lock, Text: string(data)}
	}
	return nil
}

// unchanged tells of the runs whose server is what it was in the merge base, and
// returns the others. Where what they are judged by was changed, all are made.
func (e *env) unchanged(ctx context.Context, f *probeFlags, runs []plan.Options) ([]plan.Options, error) {
	if f.base == nil || len(f.Changed) > 0 {
		return runs, nil
	}
	var before []config.Server
	if f.config != "" {
		data, ok, err := f.base.File(ctx, f.config)
		if err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: configHint}
		}
		if ok {
			before, _ = config.Parse(f.config, data)
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

// same reports whether an entry of the configuration, and all working files that
// it names, are the merge base's. What cannot be shown to be the same is not: a
// server of which no file is known, a path outside the repository.
func (f *probeFlags) same(ctx context.Context, o plan.Options, before []config.Server) (bool, error) {
	i := slices.IndexFunc(f.entries, func(s config.Server) bool {
		return o.Location != nil && s.Name == o.Name && s.Line == o.Location.Line && s.Column == o.Location.Column
	})
	if f.config == "" || i < 0 {
		return false, nil
	}
	now := f.entries[i]
	if !slices.ContainsFunc(before, now.SameAs) {
		return false, nil
	}
	reads := plan.Reads(o)
	if o.Package == nil && len(reads) == 0 || o.Package != nil && !pinned(*o.Package) {
		return false, nil
	}
	for _, name := range append(reads, named(now.Expanded(references(f.config)))...) {
		changed, err := f.base.Changed(ctx, name)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if changed || err != nil {
			return false, nil
		}
	}
	// What the server's dependencies are is often written above its own directory.
	for _, name := range append(reads, f.config) {
		changed, err := f.base.LocksChanged(ctx, name)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if changed || err != nil {
			return false, nil
		}
	}
	return true, nil
}

// exactVersion is one version of a package, which no registry changes.
var exactVersion = regexp.MustCompile(`^[0-9]+(\.[0-9]+)+([-.+]?[0-9A-Za-z]+)*$`)

// pinned reports whether a package is the same each time that it is fetched. A
// directory's files are compared.
func pinned(s install.Spec) bool {
	switch s.Kind {
	case install.KindDirectory:
		return true
	case install.KindOCI:
		return strings.Contains(s.Name, "@sha256:")
	}
	return exactVersion.MatchString(s.Version) && len(s.With) == 0
}

// named are the files that the words and variables of an entry may name, as they
// are written: PATH-like lists and the values of options too.
func named(s config.Server) []string {
	texts := slices.AppendSeq(slices.Clone(s.Command), maps.Values(s.Env))
	var out []string
	for _, text := range texts {
		pieces := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("=:,; \t\n", r) })
		for _, name := range append(pieces, text) {
			if _, err := os.Lstat(name); err == nil {
				out = append(out, name)
			}
		}
	}
	return out
}
