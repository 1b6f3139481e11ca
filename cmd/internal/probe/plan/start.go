package plan

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// placed reads the command of a server that is there. The words of a command that runs a
// project in place stay as they are.
func (o *Options) placed() location {
	project := sandbox.Project(o.Dir, o.Command)
	l := location{command: o.Command, from: o.Dir}
	if project == "" {
		l.command = absoluteFrom(o.Dir, o.Command)
	}
	l.dir, l.workspaces = sandbox.ServerDir(o.Dir, l.command, exec.LookPath)
	l.source = sourceRoot(o.Dir, l.command, l.dir)
	start := o.Dir
	if project != "" {
		l.source = cmp.Or(l.source, project)
		if start == "" {
			start, _ = os.Getwd() // a process without one finds no project
		}
	}
	if start != "" && l.dir != "" && shown.Within(start, l.dir) {
		l.start = start
	}
	return l
}

// checkDir refuses a working directory that is none, or lies out of bounds.
func (o *Options) checkDir(b shown.Bounds) error {
	if o.Dir == "" {
		return nil
	}
	const hint = "name the directory that the server starts in: --cwd DIR"
	real, err := filepath.EvalSymlinks(o.Dir)
	if err != nil {
		return &sandbox.UsageError{Err: fmt.Errorf("the working directory: %w", err), Hint: hint}
	}
	info, err := os.Stat(real)
	switch {
	case err == nil && !info.IsDir():
		err = errors.New("it is not a directory")
	case err == nil && !filepath.IsAbs(o.Dir):
		err = errors.New("it is not absolute")
	case err == nil && !b.Allow(real):
		return sandbox.Outside(real, b)
	}
	if err != nil {
		return &sandbox.UsageError{Err: fmt.Errorf("the working directory %s: %w", o.Dir, err), Hint: hint}
	}
	return nil
}
