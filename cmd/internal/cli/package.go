package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/config"
)

// mendable makes an error of install's one of the command line.
func mendable(err error) error {
	var mend *install.Error
	if errors.As(err, &mend) {
		return &sandbox.UsageError{Err: err, Hint: mend.Hint}
	}
	return err
}

// target completes options by what is to be probed: a package's name, a checkout's
// directory, a command that would fetch a package, or any other command. file is
// the configuration that names it, "" for the command line.
func (f *probeFlags) target(o plan.Options, words []string, file string) (plan.Options, error) {
	spec, ok, err := install.Prefixed(words[0])
	switch {
	case err != nil:
		return o, mendable(err)
	case ok:
		o.Args = words[1:]
	case isDirectory(words[0]):
		abs, err := filepath.Abs(words[0])
		if err != nil {
			return o, err
		}
		spec, o.Args = install.Spec{Kind: install.KindDirectory, Name: abs}, words[1:]
	default:
		l, launched := config.LaunchOf(words)
		if !launched {
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
	o.Package = &spec
	return o, nil
}

func (f *probeFlags) command(o plan.Options, words []string) (plan.Options, error) {
	if f.bin != "" {
		return o, usage("coalmine probe --bin NAME npm:PACKAGE", "--bin needs a package, but %s is a command", words[0])
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
		return spec, mendable(err)
	}
	for _, w := range l.With {
		with, err := install.Parse(string(l.Kind), w)
		if err != nil {
			return spec, mendable(err)
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
