package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// projectRunner is a program that runs the project around its working directory where one of
// words follows it.
type projectRunner struct {
	programs, words []string
	// manifests mark the top of the project.
	manifests []string
}

// scriptRunners are the programs of npm's packages that run the files of a project.
var scriptRunners = []string{"tsx", "ts-node", "ts-node-esm", "vite-node", "nodemon", "babel-node", "esno", "swc-node"}

var projectRunners = []projectRunner{
	{[]string{"npm"}, []string{"start", "run", "run-script"}, []string{"package.json"}},
	{[]string{"pnpm", "yarn"}, append([]string{"start", "run", "dev", "exec", "node"}, scriptRunners...), []string{"package.json"}},
	{[]string{"bun"}, []string{"start", "run", "dev"}, []string{"package.json"}},
	{[]string{"npx", "bunx"}, scriptRunners, []string{"package.json"}},
	{[]string{"deno"}, []string{"task", "run"}, []string{"deno.json", "deno.jsonc", "package.json"}},
	{[]string{"uv", "poetry", "pdm", "hatch"}, []string{"run"}, []string{"pyproject.toml"}},
	{[]string{"go"}, []string{"run"}, []string{"go.mod"}},
	{[]string{"cargo"}, []string{"run"}, []string{"Cargo.toml"}},
}

// Project is the top directory of the project that a command runs in place, found at or
// above the directory from, "" for that of this process. It is "" where the command runs
// something else, names the project's directory itself, or where that directory is one that
// no sandbox shows.
func Project(from string, command []string) string {
	if len(command) == 0 {
		return ""
	}
	return newPlace(from, nil).project(command)
}

func (p place) project(command []string) string {
	program := version.ReplaceAllString(filepath.Base(command[0]), "")
	var words []string
	for _, arg := range command[1:] {
		option, _, _ := strings.Cut(arg, "=")
		if slices.Contains(directoryOptions, option) {
			return ""
		}
		if !strings.HasPrefix(arg, "-") {
			words = append(words, arg)
			break
		}
	}
	for _, r := range projectRunners {
		if len(words) > 0 && slices.Contains(r.programs, program) && slices.Contains(r.words, words[0]) {
			return p.top(r.manifests)
		}
	}
	return ""
}

// top is the nearest directory, at or above the working directory, with one of the files in
// it, and not above the top of a repository.
func (p place) top(files []string) string {
	for dir := p.cwd; !p.tooWide(dir) && !isSystem(dir); dir = filepath.Dir(dir) {
		if slices.ContainsFunc(files, func(name string) bool { return isFile(filepath.Join(dir, name)) }) {
			return dir
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return ""
		}
	}
	return ""
}

// Installed reports whether a project, or a directory above it in its repository, has a
// program of an npm package.
func Installed(project, program string) bool {
	p := newPlace(project, nil)
	if filepath.Base(program) != program || project == "" {
		return false
	}
	return p.top([]string{filepath.Join("node_modules", ".bin", program)}) != ""
}
