package plan

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// Bounds are where on the host the plan's command may lead.
func (p *Plan) Bounds() shown.Bounds { return shown.Bounds{Top: p.Server.Within, Also: p.Server.Show} }

// bound holds the server's directory to the plan's bounds. One that only the search path
// leads to is left to the sandbox, which shows the program as it was installed.
func (l *location) bound(b shown.Bounds) error {
	if b.Top == "" || l.dir == "" {
		return nil
	}
	code, err := filepath.EvalSymlinks(cmp.Or(sandbox.ServerCode(l.from, l.command, exec.LookPath), l.dir))
	if err != nil {
		return &sandbox.UsageError{Err: fmt.Errorf("the server's code: %w", err), Hint: "name the server's file by a path that exists"}
	}
	if !b.Allow(code) {
		if alone, _ := sandbox.ServerDir("", l.command[:1], exec.LookPath); alone != l.dir || strings.Contains(l.command[0], "/") {
			return sandbox.Outside(code, b)
		}
		l.dir, l.source, l.start = "", "", ""
		return nil
	}
	if real, err := filepath.EvalSymlinks(l.dir); err != nil || !b.Allow(real) {
		// The code is within, and the project around it is not.
		l.dir = b.Top
		l.source = sourceRoot(l.from, l.command, l.dir)
	}
	return nil
}

// resolvedShow are the paths that the user shows, without links.
func (o *Options) resolvedShow() ([]string, error) {
	var out []string
	for _, path := range o.Show {
		abs, err := filepath.Abs(path)
		if err == nil {
			abs, err = filepath.EvalSymlinks(abs)
		}
		if err != nil {
			return nil, &sandbox.UsageError{Err: fmt.Errorf("--show %s: %w", path, err), Hint: "name a file or directory that is there"}
		}
		out = append(out, abs)
	}
	return out, nil
}

// Revealed is a copy of the plan that knows what it shows of the server's own files. They
// are read to their end; where that cannot be done, the error says so.
func (p Plan) Revealed(ctx context.Context) (Plan, error) {
	p.View = nil
	if p.Server.ServerDir == "" {
		return p, nil
	}
	r := shown.Request{Dir: cmp.Or(p.Server.From, p.Server.ServerDir), Show: p.Server.Show}
	for _, hidden := range p.Server.Hidden {
		if rel, err := filepath.Rel(p.Server.ServerDir, hidden); err == nil && filepath.IsLocal(rel) {
			r.Skip = append(r.Skip, filepath.ToSlash(rel))
		}
	}
	code := ""
	if top := p.tracked(); top != "" {
		var err error
		if r.Index, err = shown.ReadIndex(ctx, top); err != nil {
			return p, &sandbox.UsageError{Err: err, Hint: "install git, or show all of it: --show " + top}
		}
		from, command := p.onHost()
		// What the command runs may be a build's product that git ignores.
		if code = sandbox.ServerCode(from, command, exec.LookPath); code != "" {
			if code, err = filepath.EvalSymlinks(code); err == nil && sandbox.IsCode(code) {
				r.Show, r.Code = append(slices.Clone(r.Show), code), code
			}
		}
	}
	if dir := filepath.Clean(p.Server.ServerDir); sandbox.TooWide(dir) {
		return p, nil // the backend refuses it
	}
	if cache, err := os.UserCacheDir(); err == nil {
		r.Clean = shown.OpenClean(filepath.Join(cache, "coalmine", "clean"))
		defer func() { _ = r.Clean.Save() }() // it costs time only, if it cannot be kept
	}
	view, err := shown.Look(ctx, r)
	if err != nil {
		if ctx.Err() != nil {
			return p, context.Cause(ctx)
		}
		return p, sandbox.NotShown(p.Server.ServerDir, err)
	}
	p.View = view
	return p, p.codeIsShown(code)
}

// Copied is a copy of the plan whose server runs from a copy of its directory below HOME,
// for a sandbox that cannot put one in its place.
func (p Plan) Copied() Plan {
	from := filepath.Clean(p.Server.ServerDir)
	src := filepath.Join(p.Identity.Home, "src")
	to := filepath.Join(src, filepath.Base(from))
	p.Server.From, p.Server.ServerDir = from, to
	p.Server.Command = moved(p.Server.Command, from, to)
	if shown.Within(p.Server.Dir, from) {
		p.Server.Dir = to + strings.TrimPrefix(p.Server.Dir, from)
		p = p.With(Variable{Name: "PWD", Value: p.Server.Dir})
	}
	p.Files = slices.Concat([]rootfs.File{{Path: src, Dir: true, Mode: 0o755}}, p.Files)
	return p
}

// moved are a command's words with the paths in one directory as those in another.
func moved(command []string, from, to string) []string {
	command = slices.Clone(command)
	for i, word := range command {
		option, path, ok := strings.Cut(word, "=")
		if !ok || !strings.HasPrefix(word, "-") {
			option, path = "", word
		} else {
			option += "="
		}
		if path == from || strings.HasPrefix(path, from+"/") {
			command[i] = option + to + strings.TrimPrefix(path, from)
		}
	}
	return command
}

// onHost is the command as the host has its files, and where its relative words start, "" for
// this process' directory.
func (p *Plan) onHost() (from string, command []string) {
	s := &p.Server
	command = s.Command
	if s.ServerDir != "" && shown.Within(s.Dir, s.ServerDir) {
		from = s.Dir
	}
	if s.From == "" {
		return from, command
	}
	if from != "" {
		from = s.From + strings.TrimPrefix(from, s.ServerDir)
	}
	return from, moved(command, s.ServerDir, s.From)
}

// tracked is the repository of which only what git tracks is shown, "" for none. What was
// fetched is nobody's working tree.
func (p *Plan) tracked() string {
	top := p.Server.Within
	if top == "" || p.Package != nil || slices.Contains(p.Server.Show, top) {
		return ""
	}
	if _, err := os.Lstat(filepath.Join(top, ".git")); err != nil {
		return ""
	}
	return top
}

// codeIsShown refuses a plan whose server would not find its own code.
func (p *Plan) codeIsShown(code string) error {
	for _, name := range p.View.Untracked {
		hidden := filepath.Join(p.View.Real, name)
		if rel, err := filepath.Rel(hidden, code); code != "" && err == nil && filepath.IsLocal(rel) {
			return &sandbox.UsageError{
				Err:  fmt.Errorf("git does not track %s, and it is not shown to the server", code),
				Hint: "git add it, or show it: --show " + code,
			}
		}
	}
	return nil
}
