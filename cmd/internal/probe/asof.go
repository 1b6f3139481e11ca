package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// errSame says that other dependencies would be the same ones.
var errSame = errors.New("its dependencies are those of its release")

// unstarted is a package's server that ended before it answered, or declared nothing, with the dependencies of
// today: nil for any other.
func unstarted(o *plan.Options, in *plan.Fetched, seen *run.Observations, res *analyze.Result) *session.Package {
	if o.AsOf != "" || seen.Silent || o.Replay != nil || in == nil || in.Unmade() || len(res.Coverage.Tools) > 0 {
		return nil
	}
	if in.Package.Kind != install.KindNPM && in.Package.Kind != install.KindPyPI {
		return nil
	}
	if len(res.Coverage.Needs) > 0 { // what lacks a key lacks it with other dependencies, too
		return nil
	}
	if !slices.ContainsFunc(res.Gaps, func(g session.Gap) bool {
		return g.Code == session.GapHandshakeFailed || g.Code == session.GapNothingDeclared
	}) {
		return nil
	}
	return &in.Package
}

// earlierDependencies has the same probe made with the dependencies of the package's release.
// It reports false, and leaves the target's files alone, where these are not known or the same.
func earlierDependencies(ctx context.Context, o plan.Options, test Seams, first *session.Package) (out *Outcome, made bool, err error) {
	o.Progress("it does not work with its dependencies of today; looking for those of its release")
	o.AsOf, o.AsOfWhy = install.AsOfRelease, session.AsOfUnstarted
	p, why, err := prepare(ctx, o, test)
	if err == nil && p.fetched.Package.Digest == first.Digest {
		err = errors.Join(errSame, p.remove())
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		o.Progress(fmt.Sprintf("not probed with the dependencies of its release: %v", err))
		return nil, false, nil
	}
	out, err = p.whole(ctx, why, test)
	return out, true, err
}

// dated is the moment up to which an option takes a package's dependencies.
func dated(o *plan.Options) (install.AsOf, error) {
	at, err := install.ParseAsOf(o.AsOf)
	if err != nil {
		return at, plan.Mendable(err)
	}
	if at.Release && o.Package.Kind == install.KindDirectory || !at.IsNow() && o.Package.Kind == install.KindOCI {
		return at, &sandbox.UsageError{Err: fmt.Errorf("--as-of %s needs a package of npm or PyPI, but %s is not one", o.AsOf, o.Package), Hint: "leave --as-of out, or give a checkout a date"}
	}
	return at, nil
}

// asOf says in the log up to which moment dependencies were taken.
func asOf(in *plan.Fetched, f *install.Fetcher, why string) {
	if at := f.Before(); !at.IsZero() {
		in.Package.AsOf, in.Package.AsOfWhy = at.Format(time.RFC3339), cmp.Or(why, session.AsOfAsked)
	}
}
