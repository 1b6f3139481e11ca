package probe

import (
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// where is what a command line says of the server's surroundings.
type where struct {
	command    []string
	dir        string // of the server's code, "" for none
	workspaces []string
	rooted     bool // the command names the workspaces
	audit      string
}

// where reads the command, or what is known of a package before there is a HOME
// for it to lie in.
func (o *Options) where(in *fetched) where {
	var w where
	if in == nil {
		w.command = absolute(o.Command)
		w.dir, w.workspaces = sandbox.ServerDir(w.command, exec.LookPath)
		w.audit = auditRoot(w.command, w.dir)
	} else {
		_, w.workspaces = sandbox.ServerDir(append([]string{"/bin/true"}, slices.Concat(o.Places, o.Args)...), exec.LookPath)
	}
	if w.rooted = len(w.workspaces) > 0; !w.rooted {
		w.workspaces = []string{"workspace"} // of HOME
	}
	// A file's directory is no boundary: it roots nothing.
	w.workspaces = append(w.workspaces, sandbox.DataDirs(o.settings(w.command), append(slices.Clone(w.workspaces), w.dir))...)
	return w
}

// settings are the words of a command line after its program, and the values of
// the variables that a configuration gives.
func (o *Options) settings(command []string) []string {
	words := slices.Clone(o.Args)
	if len(command) > 0 {
		words = append(words, command[1:]...)
	}
	for _, vars := range []map[string]string{o.Env, o.Dummies} {
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			words = append(words, vars[name])
		}
	}
	return words
}

// takeInstalled gives the plan the place, the command and the source of what was fetched.
func (p *plan) takeInstalled() {
	in := p.installed
	if in.tree == nil {
		p.takeImage()
		return
	}
	p.spec.ServerDir, p.spec.ServerFrom = in.place(p.set.Home()), in.host()
	p.spec.Command = in.command(p.spec.ServerDir, p.opts.Args)
	p.spec.Files = in.files(p.spec.ServerDir, p.set.Home())
	p.placed = len(p.spec.Files)
	p.audit = in.source()
}

// takeImage runs an image as an engine would: its entry point with its command, or
// with the arguments given, in its directory and with its variables. Its health
// check is not run, its user is the sandbox's, its volumes are directories.
func (p *plan) takeImage() {
	img := p.installed.image
	p.spec.Image = p.opts.Package.Name
	p.spec.Command, p.audit = p.installed.imageCommand(&p.opts), p.installed.top
	if img.Dir != "" {
		p.spec.Dir = img.Dir
	}
	for _, v := range img.Volumes {
		if filepath.IsAbs(v) && !slices.Contains(p.spec.Workspaces, v) {
			p.spec.Workspaces = append(p.spec.Workspaces, v)
		}
	}
}

// vars are the variables that an image's own description and its command line give.
func (p *plan) vars() []string {
	if p.installed == nil || p.installed.image == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Concat(p.installed.image.Env, p.opts.Vars), func(kv string) bool {
		name, _, ok := strings.Cut(kv, "=")
		return !ok || name == "" || name == "PATH" || name == "HOME"
	})
}

// pkg is what the log says of the package, nil for none.
func (p *plan) pkg() *session.Package {
	if p.installed == nil {
		return nil
	}
	return &p.installed.pkg
}

// shortTarget names a package across its versions, a checkout by its directory.
func shortTarget(s install.Spec) string {
	if s.Kind == install.KindDirectory {
		return filepath.Base(s.Name)
	}
	return s.String()
}
