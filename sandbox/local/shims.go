package local

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// A version manager puts a shim in PATH that picks a version and starts it.
// Inside the sandbox the manager is not there: the version is picked here, from
// the same files and variables, without running the shim.

// envManager is pyenv, or one of those made after it.
type envManager struct{ name, variable, file string }

var envManagers = []envManager{
	{"pyenv", "PYENV_VERSION", ".python-version"},
	{"nodenv", "NODENV_VERSION", ".node-version"},
	{"rbenv", "RBENV_VERSION", ".ruby-version"},
	{"goenv", "GOENV_VERSION", ".go-version"},
	{"plenv", "PLENV_VERSION", ".perl-version"},
}

// unshim returns the program that a shim stands for, or path when it is none.
func (r *resolver) unshim(path string) (string, error) {
	dir, name := filepath.Dir(path), filepath.Base(path)
	root := filepath.Dir(dir)
	switch {
	case filepath.Base(dir) == "shims" && isDir(filepath.Join(root, "versions")):
		return r.unshimEnv(root, name, path)
	case filepath.Base(dir) == "shims" && isDir(filepath.Join(root, "installs")):
		return r.unshimASDF(root, name, path)
	case filepath.Base(dir) == "bin" && isFile(filepath.Join(root, "tools/user/platform.json")):
		return r.unshimVolta(root, name, path)
	case shown.Within(path, "/snap/bin"):
		return "", &sandbox.UsageError{Err: fmt.Errorf("%s is a snap, which cannot run in a sandbox of namespaces", path), Hint: "use --sandbox docker, or install it otherwise"}
	}
	return path, nil
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

func noVersion(shim, manager string) error {
	return &sandbox.UsageError{
		Err:  fmt.Errorf("command not found: %s: %s has no version of it selected here", filepath.Base(shim), manager),
		Hint: "select a version, or give the path of the program itself",
	}
}

func (r *resolver) unshimEnv(root, name, shim string) (string, error) {
	manager := r.envManager(root, shim)
	for _, version := range r.envVersions(manager, root) {
		if version == "system" {
			if path := r.findBeside(name, filepath.Dir(shim)); path != "" {
				return path, nil
			}
			continue
		}
		for _, v := range matching(filepath.Join(root, "versions"), version) {
			path := filepath.Join(root, "versions", v, "bin", name)
			if executable(name, path) == nil {
				return path, nil
			}
		}
	}
	return "", noVersion(shim, manager.name)
}

// envManager tells by the shim's text whose it is.
func (r *resolver) envManager(root, shim string) envManager {
	text := readText(shim)
	for _, m := range envManagers {
		if strings.Contains(text, strings.ToUpper(m.name)+"_ROOT") || strings.HasSuffix(root, "/."+m.name) {
			return m
		}
	}
	return envManagers[0]
}

// envVersions lists the selected versions as the manager would: the variable, the
// file of this directory or one above, the global file, else the system's.
func (r *resolver) envVersions(m envManager, root string) []string {
	if v := r.env(m.variable); v != "" {
		return strings.FieldsFunc(v, func(c rune) bool { return c == ':' || c == ' ' })
	}
	if path := upwards(r.cwd, m.file); path != "" {
		if v := versionLines(readText(path)); len(v) > 0 {
			return v
		}
	}
	if v := versionLines(readText(filepath.Join(root, "version"))); len(v) > 0 {
		return v
	}
	return []string{"system"}
}

// versionLines are the words of a version file without its comments.
func versionLines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		all = append(all, strings.Fields(line)...)
	}
	return slices.DeleteFunc(all, func(v string) bool { return strings.ContainsRune(v, '/') || strings.HasPrefix(v, ".") })
}

// matching lists the installed versions that a selection means, best first:
// itself, else the newest that it is a prefix of ("3.11" for "3.11.7").
func matching(dir, version string) []string {
	if isDir(filepath.Join(dir, version)) {
		return []string{version}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), version+".") {
			all = append(all, e.Name())
		}
	}
	slices.SortFunc(all, func(a, b string) int { return slices.Compare(numbers(b), numbers(a)) })
	return all
}

var number = regexp.MustCompile(`[0-9]+`)

func numbers(version string) []int {
	var all []int
	for _, s := range number.FindAllString(version, -1) {
		n, _ := strconv.Atoi(s)
		all = append(all, n)
	}
	return all
}

// findBeside searches PATH without one directory.
func (r *resolver) findBeside(name, without string) string {
	for _, dir := range r.host.path {
		path := filepath.Join(dir, name)
		if filepath.Clean(dir) != without && filepath.IsAbs(dir) && executable(name, path) == nil {
			return path
		}
	}
	return ""
}

var asdfPlugin = regexp.MustCompile(`(?m)^# asdf-plugin: (\S+) (\S+)`)

// unshimASDF picks a version of asdf or mise: from the plugin's variable, from
// .tool-versions, else the newest that is installed.
func (r *resolver) unshimASDF(root, name, shim string) (string, error) {
	var plugins []string
	for _, m := range asdfPlugin.FindAllStringSubmatch(readText(shim), -1) {
		if !slices.Contains(plugins, m[1]) {
			plugins = append(plugins, m[1])
		}
	}
	if len(plugins) == 0 {
		entries, _ := os.ReadDir(filepath.Join(root, "installs"))
		for _, e := range entries {
			plugins = append(plugins, e.Name())
		}
	}
	for _, plugin := range plugins {
		installs := filepath.Join(root, "installs", plugin)
		versions := r.asdfVersions(plugin)
		if len(versions) == 0 {
			versions = newest(installs)
		}
		for _, want := range versions {
			for _, v := range matching(installs, want) {
				if path := filepath.Join(installs, v, "bin", name); executable(name, path) == nil {
					return path, nil
				}
			}
		}
	}
	return "", noVersion(shim, "asdf")
}

func (r *resolver) asdfVersions(plugin string) []string {
	variable := strings.ToUpper(strings.ReplaceAll(plugin, "-", "_")) + "_VERSION"
	for _, prefix := range []string{"ASDF_", "MISE_"} {
		if v := r.env(prefix + variable); v != "" {
			return strings.Fields(v)
		}
	}
	for _, path := range []string{upwards(r.cwd, ".tool-versions"), filepath.Join(r.home, ".tool-versions")} {
		for line := range strings.Lines(readText(path)) {
			if f := strings.Fields(line); len(f) > 1 && f[0] == plugin {
				return f[1:]
			}
		}
	}
	return nil
}

// newest lists the versions of a directory, highest first.
func newest(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	slices.SortFunc(all, func(a, b string) int { return slices.Compare(numbers(b), numbers(a)) })
	return all
}

// unshimVolta picks volta's version of node and what comes with it: the
// project's pin, else the user's default.
func (r *resolver) unshimVolta(root, name, shim string) (string, error) {
	var platform struct {
		Node struct {
			Runtime string `json:"runtime"`
		} `json:"node"`
	}
	_ = json.Unmarshal([]byte(readText(filepath.Join(root, "tools/user/platform.json"))), &platform)
	var project struct {
		Volta struct {
			Node string `json:"node"`
		} `json:"volta"`
	}
	_ = json.Unmarshal([]byte(readText(upwards(r.cwd, "package.json"))), &project)
	for _, version := range []string{project.Volta.Node, platform.Node.Runtime} {
		if version == "" || strings.ContainsRune(version, '/') {
			continue
		}
		path := filepath.Join(root, "tools/image/node", version, "bin", name)
		if executable(name, path) == nil {
			r.addPath(filepath.Dir(path))
			return path, nil
		}
		packages, _ := filepath.Glob(filepath.Join(root, "tools/image/packages", "*", "bin", name))
		if len(packages) > 0 {
			// Its "#!/usr/bin/env node" has to find the same version.
			r.host.path = append([]string{filepath.Dir(path)}, r.host.path...)
			return packages[0], nil
		}
	}
	return "", noVersion(shim, "volta")
}

// upwards finds a file in a directory or the nearest one above it.
func upwards(dir, name string) string {
	for {
		if path := filepath.Join(dir, name); isFile(path) {
			return path
		}
		if dir == "/" || dir == "." || dir == "" {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

// readText reads a small file, "" when there is none.
func readText(path string) string {
	f, err := shown.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, 256<<10))
	if err != nil {
		return ""
	}
	return string(b)
}
