package plan

import (
	"cmp"
	"crypto/rand"
	"fmt"
	mathrand "math/rand"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
	"github.com/coalmine-dev/coalmine/synth"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

// New makes the plan of a target's first run. in is what was fetched, nil for a
// command that is there. The decoys belong to the account; where it is empty
// the seed draws one. Errors that the user can mend are *sandbox.UsageError.
func New(o Options, in *Fetched, as Account) (Plan, error) {
	if len(o.Command) == 0 && in == nil {
		return Plan{}, &sandbox.UsageError{Err: fmt.Errorf("no command to probe"), Hint: "coalmine probe -- COMMAND…"}
	}
	if _, err := AllowedHosts(o.Network); err != nil {
		return Plan{}, err
	}
	id, err := NewRunID()
	if err != nil {
		return Plan{}, err
	}
	show, err := o.resolvedShow()
	if err != nil {
		return Plan{}, err
	}
	if err := o.checkDir(shown.Bounds{Top: o.Within, Also: show}); err != nil {
		return Plan{}, err
	}
	at := locate(&o, in)
	if err := at.bound(shown.Bounds{Top: o.Within, Also: show}); err != nil {
		return Plan{}, err
	}
	set, err := canaries.New(rand.Reader, decoyOptions(&o, as, at.workspaces))
	if err != nil {
		return Plan{}, err
	}
	workspaces := set.Workspaces()
	p := Plan{
		Schema: Schema, RunID: id, Target: targetName(&o), Seed: o.Seed, Version: o.Version,
		Server: Server{
			Command: at.command, Transport: o.FirstTransport(), Guessed: o.Transport == TransportAuto, Dir: cmp.Or(at.start, workspaces[0]), Start: o.Dir, ServerDir: at.dir, Workspaces: workspaces, Rooted: at.rooted, Source: at.source,
			Within: o.Within, Show: show,
		},
		Sandbox:  Sandbox{Image: o.Image, Runtime: o.Runtime, Limits: o.Limits, NoTLSProbes: o.NoTLSProbes, AllowUserNS: o.AllowUserNS, AgentPath: o.AgentPath},
		Identity: Identity{User: set.User(), Home: set.Home(), Hostname: set.Hostname()},
		Budget:   o.Budget, Tracer: o.Tracer, Network: o.Network, Replies: o.Replies, Services: o.Services, ServiceImage: o.ServiceImage,
		Drive: Drive{Kind: DriveExplore, Collect: true},
		Watch: set.Watch(), Decoys: set,
	}
	if in != nil {
		p = p.installed(&o, in)
	}
	p = p.environment(&o, in)
	if p.Oracles, err = oracle.NewWorld(workspaces[0], set.Home(), rand.Reader); err != nil {
		return Plan{}, err
	}
	p.Oracles.Services = o.Services
	source := p.Server.readable()
	defer closeSource(source)
	names := fileNames(source)
	named := func(name string) bool { return names[name] }
	files, folders := planted(set, workspaces, o.Seed, named)
	p.Files = slices.Concat(p.Files, files, folders, p.Oracles.Files())
	p.Drive.Hints = synth.WorkspaceHints(workspaces[0], o.Seed, named)
	for _, f := range folders {
		switch {
		case f.Dir && !strings.Contains(f.Path, "/.git"):
			p.Drive.Hints.Dirs = append(p.Drive.Hints.Dirs, f.Path)
		case !f.Dir && !strings.Contains(f.Path, "/.git/"):
			p.Drive.Hints.Documents = append(p.Drive.Hints.Documents, f.Path)
		}
	}
	p.Drive.Hints.Literals, p.Drive.Words = literalsOf(source)
	p.Drive.Hints.Guards, p.Drive.Routes = guardsOf(source), routesOf(source)
	p.Server.Manifests = manifests(&o, source)
	p.Fits, p.GraphQL = answersOf(source)
	p = p.serviceVariables(&o, source)
	p.Hosts = p.hosts()
	if o.Replay != nil {
		idle := p.Budget.Idle
		p = p.Playing(o.Replay.Steps)
		if o.Replay.Fingerprint == "" { // a whole run, which is watched as long as the run was
			p.Budget.Idle = idle
		}
	}
	return p, nil
}

// decoyOptions say for whom the decoys are made: a replay names its own. The paths that the
// first calls name depend on the user, so the seed draws that; it draws no decoy's value.
func decoyOptions(o *Options, as Account, workspaces []string) canaries.Options {
	c := canaries.Options{Workspace: workspaces, Services: o.Services, User: as.User, Home: as.Home}
	if o.Replay != nil {
		c.User, c.Home = o.Replay.User, o.Replay.Home
	}
	if as == (Account{}) {
		c.Names = mathrand.New(mathrand.NewSource(o.Seed))
	}
	return c
}

// planted are the decoy HOME and the workspaces, with the projects' files that the source names, and the
// folders that it names.
func planted(set *canaries.Set, workspaces []string, seed int64, named func(name string) bool) (out, folders []rootfs.File) {
	out = []rootfs.File{{Path: runtimeDir, Mode: 0o700, Dir: true}}
	for _, f := range set.Files() {
		out = append(out, rootfs.File{Path: f.Path, Mode: uint32(f.Mode.Perm()), Data: f.Data, Dir: f.Dir, ModTime: f.ModTime})
	}
	for _, w := range workspaces {
		out = append(out, synth.Workspace(w, seed, named)...)
	}
	there := map[string]bool{}
	for _, f := range out {
		there[f.Path] = true
	}
	folders = synth.Folders(set.Home(), workspaces[0], seed, named, func(dir string) bool { return there[dir] })
	return out, slices.DeleteFunc(folders, func(f rootfs.File) bool { return there[f.Path] })
}

// location is what a command line says of the server's place.
type location struct {
	command    []string
	dir        string // of the server's code, "" for none
	workspaces []string
	rooted     bool // the command names the workspaces
	source     string
	// from is where the command's relative words start, "" for this process' directory;
	// start is the server's working directory where that is one of its own, else "".
	from, start string
}

// locate reads the command, or what is known of a package before there is a HOME
// for it to lie in.
func locate(o *Options, in *Fetched) location {
	var l location
	if in == nil {
		l = o.placed()
	} else {
		_, l.workspaces = sandbox.ServerDir("", append([]string{"/bin/true"}, slices.Concat(o.Places, o.Args)...), exec.LookPath)
	}
	_, named := sandbox.ServerDir("", append([]string{"/bin/true"}, o.namedDirs()...), exec.LookPath)
	for _, dir := range named {
		if !slices.ContainsFunc(append(slices.Clone(l.workspaces), l.dir), func(other string) bool {
			return other != "" && (shown.Within(dir, other) || shown.Within(other, dir))
		}) {
			l.workspaces = append(l.workspaces, dir)
		}
	}
	if l.rooted = len(l.workspaces) > 0; !l.rooted {
		l.workspaces = []string{"workspace"} // of HOME
	}
	// A file's directory is no boundary: it roots nothing.
	l.workspaces = append(l.workspaces, sandbox.DataDirs(o.settings(l.command), append(slices.Clone(l.workspaces), l.dir))...)
	return l
}

// installed gives the plan the place, the command and the source of what was fetched.
func (p Plan) installed(o *Options, in *Fetched) Plan {
	if in.Tree == nil {
		return p.image(o, in)
	}
	home := p.Identity.Home
	p.Server.ServerDir, p.Server.From = in.place(home), in.host()
	p.Server.Within = in.host()
	if real, err := filepath.EvalSymlinks(in.host()); err == nil {
		p.Server.Within = real
	}
	p.Server.Command = in.command(p.Server.ServerDir, o.Args)
	p.Files = in.files(p.Server.ServerDir, home)
	p.Placed = len(p.Files)
	p.Server.Source, p.Server.Top = in.source()
	p.Server.Tools = in.runtime()
	p.Package = in.described()
	if rel, err := filepath.Rel(in.Tree.Spec.Name, o.Dir); err == nil && filepath.IsLocal(rel) && o.Dir != "" && in.Tree.Spec.Kind == install.KindDirectory {
		p.Server.Dir = filepath.Join(p.Server.ServerDir, rel)
	}
	return p
}

// Built is a copy of the plan with what a build made in place of what was fetched.
func (p Plan) Built(o Options, in *Fetched) Plan {
	rest := p.Files[p.Placed:]
	q := p.installed(&o, in)
	q.Files = slices.Concat(q.Files, rest)
	// The build may have made them.
	source := q.Server.readable()
	defer closeSource(source)
	q.Server.Manifests = manifests(&o, source)
	q.Fits, q.GraphQL = answersOf(source)
	q = q.serviceVariables(&o, source)
	q.Hosts = q.hosts()
	return q
}

// image runs an image as an engine would: its entry point with its command, or
// with the arguments given, in its directory and with its variables. Its health
// check is not run, its user is the sandbox's, its volumes are directories.
func (p Plan) image(o *Options, in *Fetched) Plan {
	p.Sandbox.Image = o.Package.Name
	p.Server.Command, p.Server.Source = in.ImageCommand(o), in.Top
	p.Server.Top = in.Copied
	p.Package = in.described()
	if in.Image.Dir != "" {
		p.Server.Dir = in.Image.Dir
	}
	p.Server.Workspaces = slices.Clone(p.Server.Workspaces)
	for _, v := range in.Image.Volumes {
		if filepath.IsAbs(v) && !slices.Contains(p.Server.Workspaces, v) {
			p.Server.Workspaces = append(p.Server.Workspaces, v)
		}
	}
	return p
}
