package audit

import (
	"encoding/json"
	"io/fs"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/mod/modfile"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// dependencies counts the packages that the manifests of the root name as what the server runs
// with, each once in its ecosystem. It is -1 where no manifest is there that parses.
func (a *auditor) dependencies() int {
	found, isRead := map[string]bool{}, false
	take := func(ecosystem string, names []string, err error) {
		if err != nil {
			return // one that does not parse says nothing
		}
		isRead = true
		for _, name := range names {
			if ecosystem == PyPI {
				name = strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(name))
			}
			if name != "" && len(found) < maxLocked {
				found[ecosystem+" "+name] = true
			}
		}
	}
	for _, m := range []struct {
		name, ecosystem string
		names           func([]byte) ([]string, error)
	}{{"package.json", NPM, npmDirect}, {"pyproject.toml", PyPI, pythonDirect}, {"go.mod", Go, goDirect}, {"Cargo.toml", Crates, cargoDirect}} {
		if data, err := a.read(m.name); err == nil {
			names, err := m.names(data)
			take(m.ecosystem, names, err)
		}
	}
	for _, name := range a.requirements() {
		if data, err := a.read(name); err == nil {
			take(PyPI, requiredBy(string(data)), nil)
		}
	}
	if names, ok := a.requiredDist(); ok {
		take(PyPI, names, nil)
	}
	if !isRead {
		return -1
	}
	return len(found)
}

func npmDirect(data []byte) ([]string, error) {
	var m struct{ Dependencies map[string]any }
	err := json.Unmarshal(data, &m)
	return keys(m.Dependencies), err
}

// pythonDirect are the dependencies of pyproject.toml, as PyPI and as Poetry have them.
func pythonDirect(data []byte) (out []string, err error) {
	var m struct {
		Project struct{ Dependencies []string }
		Tool    struct {
			Poetry struct{ Dependencies map[string]any }
		}
	}
	err = toml.Unmarshal(data, &m)
	for _, r := range m.Project.Dependencies {
		out = append(out, requirement.FindString(strings.TrimSpace(r)))
	}
	delete(m.Tool.Poetry.Dependencies, "python") // the interpreter is no package
	return append(out, keys(m.Tool.Poetry.Dependencies)...), err
}

func goDirect(data []byte) (out []string, err error) {
	f, err := modfile.ParseLax("go.mod", data, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range f.Require {
		if !r.Indirect {
			out = append(out, r.Mod.Path)
		}
	}
	return out, nil
}

// cargoDirect are the dependencies of Cargo.toml, also those for one platform alone.
func cargoDirect(data []byte) ([]string, error) {
	type list struct{ Dependencies map[string]any }
	var m struct {
		list
		Target map[string]list
	}
	err := toml.Unmarshal(data, &m)
	out := keys(m.Dependencies)
	for _, t := range m.Target {
		out = append(out, keys(t.Dependencies)...)
	}
	return out, err
}

// cargoIsLicensed reports whether Cargo.toml names a licence. It is a table where it is the workspace's.
func cargoIsLicensed(data []byte) bool {
	var m struct{ Package map[string]any }
	return toml.Unmarshal(data, &m) == nil && (m.Package["license"] != nil || m.Package["license-file"] != nil)
}

func keys(m map[string]any) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	return out
}

var (
	// requirement begins a line of requirements.txt or an entry of a list: the package's name.
	requirement = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?`)
	// forAnother is the comment of a package that another one needs.
	forAnother = lazyregexp.New(`(?m)^#?\s*via\b`)
	// forMakers is the name of a list of what a server is made and tested with.
	forMakers = lazyregexp.New(`(?i)dev|test|doc|lint|build|\bci\b|bench|example`)
)

// maxRequirements bounds the files requirements*.txt that are read.
const maxRequirements = 20

// requirements are the files requirements*.txt of the root.
func (a *auditor) requirements() []string {
	list, err := fs.Glob(a.files, "requirements*.txt")
	if err != nil {
		return nil
	}
	list = slices.DeleteFunc(list, forMakers.MatchString)
	return list[:min(len(list), maxRequirements)]
}

// requiredBy are the packages of a requirements.txt. Tools that write the file mark what is there
// for another package, which is no direct dependency: "# via httpx".
func requiredBy(src string) (out []string) {
	name, notes := "", ""
	flush := func() {
		if name != "" && (!forAnother.MatchString(notes) || strings.Contains(notes, "-r ") || strings.Contains(notes, ".in") || strings.Contains(notes, ".toml")) {
			out = append(out, name)
		}
		name, notes = "", ""
	}
	for line := range strings.Lines(src) {
		line = strings.TrimSpace(line)
		switch n := requirement.FindString(line); {
		case strings.HasPrefix(line, "#"):
			notes += line + "\n"
		case n != "":
			flush()
			name = n
			_, notes, _ = strings.Cut(line, " #")
		}
	}
	flush()
	return out
}
