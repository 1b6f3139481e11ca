package plan

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	parts := strings.Split(filepath.ToSlash(filepath.Clean(w)), "/")
	for i := len(parts) - 1; i > 0; i-- {
		if parts[i-1] != "node_modules" {
			continue
		}
		if strings.HasPrefix(parts[i], "@") && i+1 < len(parts) {
			return parts[i] + "/" + parts[i+1]
		}
		return parts[i]
	}
	if base := parts[len(parts)-1]; strings.Contains(base, ".") && len(parts) > 1 {
		return parts[len(parts)-2] + "/" + base
	}
	return parts[len(parts)-1]
}

// Absolute makes the relative paths of a command absolute: the working
// directory inside the sandbox is another one.
func Absolute(command []string) []string {
	out := slices.Clone(command)
	for i, a := range out {
		if a == "" || filepath.IsAbs(a) || strings.HasPrefix(a, "-") || (i == 0 && !strings.Contains(a, "/")) {
			continue
		}
		if _, err := os.Stat(a); err != nil {
			continue
		}
		if abs, err := filepath.Abs(a); err == nil {
			out[i] = abs
		}
	}
	return out
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
