package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/config"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// target completes options by what is to be probed: a package's name, a checkout's
// directory, a command that would fetch a package, or any other command. file is
// the configuration that names it, "" for the command line.
func (f *probeFlags) target(o plan.Options, words []string, file string) (plan.Options, error) {
	spec, ok, err := install.Prefixed(words[0])
	switch {
	case err != nil:
		return o, plan.Mendable(err)
	case ok:
		o.Args = words[1:]
	case isCheckout(o.Dir, words[0]):
		if !filepath.IsAbs(words[0]) {
			words[0] = filepath.Join(o.Dir, words[0])
		}
		abs, err := filepath.Abs(words[0])
		if err != nil {
			return o, err
		}
		spec, o.Args = install.Spec{Kind: install.KindDirectory, Name: abs}, words[1:]
	default:
		if program, args, is := goRun(o.Dir, words); is {
			spec, o.Args = program, args
			if o.Dir == "" {
				if o.Dir, err = os.Getwd(); err != nil {
					return o, err
				}
			}
			break
		}
		l, launched := config.LaunchOf(words)
		if !launched || runsHere(o.Dir, words, l) {
			return f.command(o, words)
		}
		if spec, err = launch(&o, l, words[0]); err != nil {
			return o, err
		}
	}
	if len(o.Args) > 0 && o.Args[0] == "--" {
		o.Args = o.Args[1:]
	}
	if f.bin != "" {
		spec.Bin = f.bin
	}
	if dir := install.Checkout(spec, near(file)); dir != "" {
		// A change of the package is to be seen, not what was published before it.
		spec = install.Spec{Kind: install.KindDirectory, Name: dir, Bin: spec.Bin}
	}
	if f.cwd != "" && spec.Kind != install.KindDirectory {
		return o, usage("leave --cwd out", "--cwd needs a command or a checkout; %s starts in a directory of its own", spec)
	}
	if err := within(o, spec); err != nil {
		return o, err
	}
	o.Package = &spec
	return o, nil
}

// within holds a checkout that a configuration names to the configuration's own project.
func within(o plan.Options, spec install.Spec) error {
	if spec.Kind != install.KindDirectory || o.Within == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(spec.Name)
	if err != nil {
		return &sandbox.UsageError{Err: err, Hint: "name a directory that can be read"}
	}
	bounds := shown.Bounds{Top: o.Within}
	for _, path := range o.Show {
		if abs, err := filepath.Abs(path); err == nil {
			bounds.Also = append(bounds.Also, abs)
		}
	}
	if !bounds.Allow(real) {
		return sandbox.Outside(real, bounds)
	}
	return nil
}

func (f *probeFlags) command(o plan.Options, words []string) (plan.Options, error) {
	if f.bin != "" {
		return o, usage("coalmine probe --bin NAME npm:PACKAGE", "--bin needs a package, but %s is a command", words[0])
	}
	if f.AsOf != "" {
		return o, usage("coalmine probe --as-of 2025-03-31 npm:PACKAGE", "--as-of needs a package, but %s is a command", words[0])
	}
	o.Command = words
	return o, nil
}

// launch takes from a runner's command line what it would fetch and start.
func launch(o *plan.Options, l config.Launch, program string) (install.Spec, error) {
	if l.Refused != "" {
		return install.Spec{}, usage("put it into the settings of npm, pip or docker, or name the package itself: npm:NAME, pypi:NAME, oci:IMAGE",
			"%s %s says what is fetched or run, and is not followed here", program, l.Refused)
	}
	spec, err := install.Parse(string(l.Kind), l.Package)
	if err != nil {
		return spec, plan.Mendable(err)
	}
	for _, w := range l.With {
		with, err := install.Parse(string(l.Kind), w)
		if err != nil {
			return spec, plan.Mendable(err)
		}
		spec.With = append(spec.With, strings.TrimPrefix(with.String(), with.Kind+":"))
	}
	spec.Bin = l.Bin
	o.Args, o.Entrypoint, o.Places = l.Args, l.Entrypoint, l.Places
	for _, kv := range l.Env {
		// A name alone is for the engine to take from its environment: the server gets
		// what the configuration says of it, and of this process' own only --pass-env.
		if strings.Contains(kv, "=") {
			o.Vars = append(o.Vars, kv)
		}
	}
	return spec, nil
}

// isCheckout reports whether a command is a directory. Where somebody named the directory to
// start in, only a path counts: a program may have the name of a directory there.
func isCheckout(from, word string) bool {
	if from == "" || filepath.IsAbs(word) {
		return isDirectory(word)
	}
	return (word == "." || strings.Contains(word, "/")) && isDirectory(filepath.Join(from, word))
}

// goRun is the program that "go run" would build of the module around a directory, and that
// program's arguments. A build with options of its own is left to the command.
func goRun(from string, words []string) (spec install.Spec, args []string, ok bool) {
	module := sandbox.Project(from, words)
	if module == "" || len(words) < 3 || filepath.Base(words[0]) != "go" || words[1] != "run" || strings.HasPrefix(words[2], "-") || strings.Contains(words[2], "@") {
		return spec, nil, false
	}
	dir, err := filepath.Abs(filepath.Join(from, words[2]))
	args = words[3:]
	if filepath.Ext(dir) == ".go" {
		for dir = filepath.Dir(dir); len(args) > 0 && filepath.Ext(args[0]) == ".go"; {
			args = args[1:]
		}
	}
	if err != nil || !contains(module, dir) || !isDirectory(dir) {
		return spec, nil, false
	}
	spec = install.Spec{Kind: install.KindDirectory, Name: module}
	if dir != module {
		spec.Bin = filepath.Base(dir)
	}
	return spec, args, true
}

// runsHere reports whether a command of npx starts a file of the project by a program that is
// installed there.
func runsHere(from string, words []string, l config.Launch) bool {
	project := sandbox.Project(from, words)
	return project != "" && l.Kind == config.KindNPM && len(l.Args) > 0 && sandbox.Installed(project, l.Package)
}

// start is the directory that --cwd or a configuration's entry has the server start in: of a
// command that runs a project in place, the one around the configuration. It is "" for the
// workspace that is planted.
func (f *probeFlags) start(s *config.Server, refer config.Context) (string, error) {
	if f.cwd != "" {
		dir, err := filepath.Abs(f.cwd)
		if err == nil && !isDirectory(dir) {
			err = usage("name the directory that the server starts in", "--cwd %s is not a directory", f.cwd)
		}
		return dir, err
	}
	if s == nil {
		return "", nil
	}
	dir, err := s.Start(refer)
	if err != nil {
		return "", fmt.Errorf("%s: %w (--cwd DIR names it)", f.config, err)
	}
	if dir != "" {
		return filepath.Abs(dir)
	}
	if around, err := filepath.Abs(filepath.Dir(f.config)); err == nil {
		if strings.HasPrefix(filepath.Base(around), ".") {
			around = filepath.Dir(around) // .vscode, .cursor and the like lie in the project
		}
		if sandbox.Project(around, s.Command) != "" {
			return around, nil
		}
	}
	return "", nil
}

func isDirectory(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// near is the directory from which a checkout is looked for.
func near(config string) string {
	if config == "" {
		return "."
	}
	return filepath.Dir(config)
}
