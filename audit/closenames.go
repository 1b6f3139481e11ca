package audit

import (
	"path"
	"slices"
	"strings"
)

// closeName judges the name of a manifest.
func (a *auditor) closeName(registry, manifest, name string) {
	if c := resembles(registry, name); c.known != "" {
		a.add(NameClose, c.severity, manifest, "", 0, "the package's name is close to "+c.known+": "+shown(name), name)
	}
}

// closeDependencies judges the names of what the manifests of the root say that the package needs.
func (a *auditor) closeDependencies() {
	a.closeAmong("npm", "package.json", func(data []byte) []string { return NPMDependencies("package.json", data) })
	a.closeAmong("pypi", "pyproject.toml", func(data []byte) []string {
		names, _ := pythonDirect(data) // one that does not parse says nothing
		return names
	})
	for _, p := range a.requirements() {
		a.closeAmong("pypi", p, func(data []byte) []string { return requiredBy(string(data)) })
	}
	for _, p := range a.metadataFiles() {
		a.closeAmong("pypi", p, func(data []byte) []string {
			m, err := parseMetadata(data)
			if err != nil {
				return nil
			}
			return append(m.requires, m.extras...)
		})
	}
}

// maxJudgedNames bounds the names of a manifest that are compared with the well-known ones.
const maxJudgedNames = 2_000

// closeAmong judges the names that a manifest lists, each once.
func (a *auditor) closeAmong(registry, p string, names func([]byte) []string) {
	data, err := a.read(p)
	if err != nil {
		return
	}
	list, src := names(data), string(data)
	slices.Sort(list)
	list = slices.Compact(list)
	for _, name := range list[:min(len(list), maxJudgedNames)] {
		if c := resembles(registry, name); c.known != "" {
			a.add(NameClose, c.severity, p, src, strings.Index(src, name), "a dependency's name is close to "+c.known+": "+shown(name), name)
		}
	}
}

// installerRegistries are where the programs that install or run packages take them from.
var installerRegistries = map[string]string{
	"npm": "npm", "npx": "npm", "pnpm": "npm", "yarn": "npm", "bun": "npm", "bunx": "npm",
	"pip": "pypi", "pip3": "pypi", "pipx": "pypi", "uv": "pypi", "uvx": "pypi", "python": "pypi", "python3": "pypi",
}

// closeInstalled says which packages of a command have a name that is close to a well-known one.
func closeInstalled(list []string) (out []closeness) {
	registry := installerRegistries[list[0]]
	names, _ := installed(list)
	for _, n := range names {
		if n = packageName(registry, n); n == "" {
			continue
		}
		if c := resembles(registry, n); c.known != "" {
			out = append(out, c)
		}
	}
	return out
}

// packageName is the name in what an installer takes, "" for what no registry serves.
func packageName(registry, s string) string {
	switch {
	case strings.Contains(s, "://") || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "/"):
		return ""
	case registry == "pypi":
		return requirement.FindString(s)
	case registry != "npm" || strings.Contains(s, "/") && !strings.HasPrefix(s, "@"):
		return ""
	}
	if i := strings.LastIndexByte(s, '@'); i > 0 {
		return s[:i]
	}
	return s
}

// launched is the command of a server without its program's directory and ending, and without a shell of Windows before it.
func launched(command []string) []string {
	list := slices.Clone(command)
	for range 2 {
		list[0] = path.Base(strings.ReplaceAll(list[0], `\`, "/"))
		for _, ending := range []string{".cmd", ".exe"} {
			list[0] = strings.TrimSuffix(list[0], ending)
		}
		if list[0] != "cmd" || len(list) < 3 || !strings.EqualFold(list[1], "/c") {
			break
		}
		list = list[2:]
	}
	return list
}

// closeStarted judges the packages that the command of a server or of a script takes from a registry.
func (a *auditor) closeStarted(p, src string, at int, who string, list []string) {
	for _, c := range closeInstalled(list) {
		a.add(NameClose, c.severity, p, src, at, who+" a package whose name is close to "+c.known+": "+shown(c.name), who+" "+c.name)
	}
}
