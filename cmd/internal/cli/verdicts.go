package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/attest"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// verdictFlags are where verdicts of earlier runs are looked up, and who may have signed them.
type verdictFlags struct {
	store string
	keys  []string
	// trusted are the keys in the files.
	trusted []*attest.Verifier
}

// readVerdicts reads the keys of --verdicts. Under --changed-since the merge base's hold, so that
// no change brings a key of its own.
func (f *probeFlags) readVerdicts(ctx context.Context) (err error) {
	v := &f.verdicts
	switch {
	case v.store == "" && len(v.keys) == 0:
		return nil
	case v.store == "" || len(v.keys) == 0:
		return usage("coalmine probe --verdicts DIR --verdicts-key FILE.pub", "--verdicts and --verdicts-key need each other")
	case f.replay != "" || f.Since != "" || f.lock != "":
		return usage("remove one of them", "--verdicts excludes --replay, --since and --lock, which need the run itself")
	}
	v.trusted, err = readKeys(v.keys, func(name string) ([]byte, error) {
		data, ok, err := f.judgedBy(ctx, "key of verdicts", name)
		if err == nil && !ok {
			err = fmt.Errorf("%s: the merge base has no such key", name)
		}
		return data, err
	})
	return err
}

// attested reports whether a verdict that was signed stands for a run, and says why not. What
// cannot be looked up is run.
func (e *env) attested(ctx context.Context, o plan.Options, f *probeFlags) bool {
	if f.verdicts.store == "" || o.Remote != nil || f.dryRun {
		return false
	}
	say := func(text string) {
		fmt.Fprintf(e.err, "%s: %s\n", report.Clean(nameOf(o), 100), report.Escape(text, 600))
	}
	in := analyze.Inputs{PolicyRules: o.PolicyRules, Rules: o.Rules, Changed: f.Changed}
	if p := o.Policy; p != nil {
		in.Policy = &analyze.File{Text: string(p.Source)}
	}
	if b := o.Baseline; b != nil {
		in.Baseline = &analyze.File{Text: string(b.Source)}
	}
	judgedBy, err := attest.JudgedBy(&in)
	if err != nil {
		say("no verdict is looked up: " + err.Error())
		return false
	}
	id, err := probe.ContentOf(ctx, o)
	f.progress.clear()
	if err == nil && id.Digest == "" {
		err = fmt.Errorf("%s", id.Unknown)
	}
	if err != nil {
		say("no verdict is looked up: " + err.Error())
		return false
	}
	program, err := thisProgram()
	if err != nil {
		say("no verdict is looked up: " + err.Error())
		return false
	}
	s, refused, err := attest.Find(ctx, f.verdicts.store, &attest.Wanted{Target: id, Coalmine: program, JudgedBy: judgedBy, FailOn: o.FailOn, Now: time.Now()}, f.verdicts.trusted)
	switch {
	case err != nil:
		say(err.Error())
	case s != nil:
		say(fmt.Sprintf("clean by a signed verdict of %s, not probed (%s)", s.Predicate.Ran.Format(time.DateOnly), s.Digest()))
		if err := keepAttested(o, s); err != nil {
			say(err.Error())
			return false
		}
		return true
	case len(refused) == 0:
		say("no verdict is signed for it (" + id.Digest + ")")
	}
	for _, why := range refused {
		say("a signed verdict is refused: " + why)
	}
	return false
}

// nameOf is how a target is called before a run names it.
func nameOf(o plan.Options) string {
	switch {
	case o.Name != "":
		return o.Name
	case o.Package != nil:
		return o.Package.Name
	case len(o.Command) > 0:
		return filepath.Base(o.Command[0])
	}
	return "server"
}

// keepAttested notes below --out which statement stands for a run.
func keepAttested(o plan.Options, s *attest.Statement) error {
	out := o.Out
	if out == "" {
		out = plan.DefaultOut
	}
	if err := probe.RefuseLink(out, "--out"); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(out)
	if err != nil {
		return err
	}
	defer root.Close()
	name := report.Slug(nameOf(o)) + attestedSuffix
	return session.Output{Root: root}.WriteFile(name, func(w io.Writer) error { return report.Encode(w, s) })
}

// attestedSuffix ends the names of the statements that stand for runs, beside their directories.
const attestedSuffix = ".attested.json"
