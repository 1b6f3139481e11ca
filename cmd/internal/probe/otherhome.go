package probe

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// account is whose HOME the decoys lie in.
type account struct{ user, home string }

// otherHome notes that a decoy was looked for in the HOME of another user, which
// an ordinary user cannot read.
type otherHome struct {
	own string
	// around are the server's directory and the workspaces: who climbs up from there
	// comes through a HOME by chance.
	around []string
	// places are where decoys lie below a HOME, and the directories that they lie in.
	places map[string]bool
	// found is the first HOME in which somebody looked.
	found account
}

func newOtherHome(set *canaries.Set, around []string) otherHome {
	around = slices.DeleteFunc(slices.Clone(around), func(d string) bool { return d == "" })
	o := otherHome{own: set.Home(), around: around, places: map[string]bool{}}
	for _, name := range set.Watch() {
		rest, ok := strings.CutPrefix(name, o.own+"/")
		if !ok || slices.ContainsFunc(set.Workspaces(), func(w string) bool { return path.Dir(name) == w }) {
			continue
		}
		o.places[rest] = true
		if dir := path.Dir(rest); dir != "." {
			o.places[dir] = true
		}
	}
	return o
}

// record takes in what was looked at in vain.
func (o *otherHome) record(r *trace.Record) {
	if o.found.home != "" || r.OK() || r.Op != trace.OpOpen && r.Op != trace.OpStat {
		return
	}
	a, rest := ownerOf(r.Path)
	if a.home == "" || a.home == o.own || !o.places[rest] {
		return
	}
	above := path.Dir(r.Path) + "/"
	if !slices.ContainsFunc(o.around, func(d string) bool { return strings.HasPrefix(d+"/", above) || strings.HasPrefix(above, d+"/") }) {
		o.found = a
	}
}

// ownerOf is in whose HOME a path lies by its name, and where in it; nobody's for
// one that lies elsewhere.
func ownerOf(name string) (account, string) {
	if rest, ok := strings.CutPrefix(name, "/root/"); ok {
		return account{"root", "/root"}, rest
	}
	rest, ok := strings.CutPrefix(name, "/home/")
	user, rest, below := strings.Cut(rest, "/")
	odd := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' }
	if !ok || !below || user == "" || len(user) > 32 || strings.HasPrefix(user, "-") || strings.ContainsFunc(user, odd) {
		return account{}, ""
	}
	return account{user, "/home/" + user}, rest
}

// otherHomeDir holds the log of that further start, below the run's directory.
const otherHomeDir = "home"

// inOtherHome starts a server again that looked for secrets in the HOME of another
// user: in a container it would be that user, and on a developer's machine that
// one may be its own. Now everything is there, and what the server then does is
// added to the result. A container that is the sandbox itself keeps its users.
func (p *plan) inOtherHome(ctx context.Context, b sandbox.Backend, dir *os.Root, res *analyze.Result, o analyze.Options) error {
	if err := dir.RemoveAll(otherHomeDir); err != nil {
		return fmt.Errorf("remove an earlier further start: %w", err)
	}
	if p.lookedIn.home == "" || b.Name() == "inplace" {
		return nil
	}
	theirs := *p
	if err := theirs.renew(p.lookedIn); err != nil {
		return fmt.Errorf("start with %s as HOME: %w", p.lookedIn.home, err)
	}
	more, _, err := theirs.further(ctx, b, dir, otherHomeDir, o, func(again *plan) {
		again.world = nil
		again.opts.Calls, again.opts.Timeout = min(DefaultCalls, p.opts.Calls), min(DefaultTimeout, p.opts.Timeout)
		again.opts.Progress("starting once more, with " + p.lookedIn.home + " as its HOME")
	})
	if err != nil {
		return err
	}
	more.Gaps = nil // the first start was looked at whole; this one is a bonus
	analyze.Add(res, more, "with "+p.lookedIn.home+" as its HOME", o)
	return nil
}
