package plan

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
)

// targetName names the server across runs and machines: its name in a
// configuration, its npm package, or its command without directories.
func targetName(o *Options) string {
	if o.Name != "" {
		return o.Name
	}
	if o.Package != nil {
		unversioned := *o.Package
		unversioned.Version = ""
		return shortTarget(unversioned)
	}
	var words []string
	for _, w := range o.Command {
		words = append(words, shortName(w))
	}
	return strings.Join(words[:min(len(words), 4)], " ")
}

// shortName is a path's package below node_modules, or its last two names.
func shortName(w string) string {
	if !strings.Contains(w, "/") {
		return w
	}
	w = filepath.ToSlash(filepath.Clean(w))
	if name := audit.NodePackage(w); name != "" {
		return name
	}
	parts := strings.Split(w, "/")
	if base := parts[len(parts)-1]; strings.Contains(base, ".") && len(parts) > 1 {
		return parts[len(parts)-2] + "/" + base
	}
	return parts[len(parts)-1]
}

// absoluteFrom makes the relative paths of a command absolute: the working directory inside
// the sandbox is another one. The name of a module stays. They start from a directory, "" for
// this process' own.
func absoluteFrom(from string, command []string) []string {
	out := slices.Clone(command)
	module := moduleAt(command)
	for i, a := range out {
		if i == module && module > 0 || a == "" || filepath.IsAbs(a) || strings.HasPrefix(a, "-") || (i == 0 && !strings.Contains(a, "/")) {
			continue
		}
		abs, err := filepath.Abs(filepath.Join(from, a))
		if err != nil {
			continue
		}
		if _, err := os.Stat(abs); err == nil {
			out[i] = abs
		}
	}
	return out
}

// moduleAt is the place of NAME in "python -m NAME", 0 for none.
func moduleAt(command []string) int {
	if len(command) == 0 || !sandbox.IsPython(command[0]) {
		return 0
	}
	for i, a := range command[1:] {
		switch {
		case a == "-m" && i+2 < len(command):
			return i + 2
		case !strings.HasPrefix(a, "-") || a == "-c":
			return 0 // a script's own arguments, or code
		}
	}
	return 0
}

// modulePath is the directory from which "python -m NAME" takes a module of the user's own,
// which is the working directory of this process and not of the server; "" for none.
func modulePath(command []string) string {
	i := moduleAt(command)
	cwd, err := os.Getwd()
	if i == 0 || err != nil || sandbox.ServerCode("", command[:i+1], exec.LookPath) == "" {
		return ""
	}
	top, _, _ := strings.Cut(command[i], ".")
	for _, name := range []string{top, top + ".py"} {
		if _, err := os.Stat(filepath.Join(cwd, name)); err == nil {
			return cwd
		}
	}
	return ""
}

// shortTarget names a package across its versions, a checkout by its directory.
func shortTarget(s install.Spec) string {
	if s.Kind == install.KindDirectory {
		return filepath.Base(s.Name)
	}
	return s.String()
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
