package run

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// foreignHome notes that a decoy was looked for in the HOME of another user, which
// an ordinary user cannot read.
type foreignHome struct {
	own string
	// around are the server's directory and the workspaces: who climbs up from there
	// comes through a HOME by chance.
	around []string
	// places are where decoys lie below a HOME, and the directories that they lie in.
	places map[string]bool
	// found is the first HOME in which somebody looked.
	found plan.Account
}

func newForeignHome(set *canaries.Set, around []string) foreignHome {
	around = slices.DeleteFunc(slices.Clone(around), func(d string) bool { return d == "" })
	o := foreignHome{own: set.Home(), around: around, places: map[string]bool{}}
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
func (o *foreignHome) record(r *trace.Record) {
	if o.found.Home != "" || r.OK() || r.Op != trace.OpOpen && r.Op != trace.OpStat {
		return
	}
	a, rest := ownerOf(r.Path)
	if a.Home == "" || a.Home == o.own || !o.places[rest] {
		return
	}
	above := path.Dir(r.Path) + "/"
	if !slices.ContainsFunc(o.around, func(d string) bool { return strings.HasPrefix(d+"/", above) || strings.HasPrefix(above, d+"/") }) {
		o.found = a
	}
}

// ownerOf is in whose HOME a path lies by its name, and where in it; nobody's for
// one that lies elsewhere.
func ownerOf(name string) (plan.Account, string) {
	if rest, ok := strings.CutPrefix(name, "/root/"); ok {
		return plan.Account{User: "root", Home: "/root"}, rest
	}
	rest, ok := strings.CutPrefix(name, "/home/")
	user, rest, below := strings.Cut(rest, "/")
	odd := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' }
	if !ok || !below || user == "" || len(user) > 32 || strings.HasPrefix(user, "-") || strings.ContainsFunc(user, odd) {
		return plan.Account{}, ""
	}
	return plan.Account{User: user, Home: "/home/" + user}, rest
}
