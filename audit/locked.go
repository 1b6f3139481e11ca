package audit

import (
	"encoding/json"
	"path"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// The ecosystems of packages, by OSV's names (ossf.github.io/osv-schema).
const (
	NPM    = "npm"
	PyPI   = "PyPI"
	Go     = "Go"
	Crates = "crates.io"
)

// LockedPackage is a package in one version.
type LockedPackage struct {
	Ecosystem, Name, Version string
	// Path is the file that names it.
	Path string
}

// maxLocked bounds the packages of all lockfiles.
const maxLocked = 20_000

// versioned are how lockfiles name a package and its version, which are the groups.
var versioned = map[string]struct {
	ecosystem string
	match     *lazyregexp.Regexp
}{
	"yarn.lock":      {NPM, lazyregexp.New(`(?m)^"?((?:@[^/"\s]+/)?[^@"\s#][^@"\s]*)@[^\n]*:\r?\n  "?version"?:? "?([^"\s]+)"?`)},
	"pnpm-lock.yaml": {NPM, lazyregexp.New(`(?m)^  ['"]?/?((?:@[^/'"\s]+/)?[^@'"\s:]+)@([^'"\s:()]+)[^\n]*:\r?$`)},
	"uv.lock":        {PyPI, tomlPackage}, "poetry.lock": {PyPI, tomlPackage}, "pdm.lock": {PyPI, tomlPackage}, "Cargo.lock": {Crates, tomlPackage},
	"go.sum": {Go, lazyregexp.New(`(?m)^(\S+) v([^\s/]+) h1:`)},
}

var tomlPackage = lazyregexp.New(`(?m)^\[\[package\]\]\r?\nname = "([^"\n]+)"\r?\nversion = "([^"\n]+)"`)

// lockedPackages are the packages of a lockfile with their versions.
func lockedPackages(p, src string) (out []LockedPackage) {
	base := path.Base(p)
	if base == "package-lock.json" || base == "npm-shrinkwrap.json" {
		return npmVersions(p, src)
	}
	of, ok := versioned[base]
	if !ok {
		return nil
	}
	for _, m := range of.match.FindAllStringSubmatch(src, maxLocked) {
		out = append(out, LockedPackage{of.ecosystem, m[1], m[2], p})
	}
	return out
}

// NPMDependencies are the packages of npm that a package.json or a lockfile names. A bundler
// takes those that are for the development in, too. Of another file there are none.
func NPMDependencies(p string, data []byte) (out []string) {
	if path.Base(p) != "package.json" {
		for _, l := range lockedPackages(p, string(data)) {
			if l.Ecosystem == NPM {
				out = append(out, l.Name)
			}
		}
		return out
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(data, &m) != nil {
		return nil
	}
	for _, key := range []string{"dependencies", "devDependencies", "optionalDependencies", "peerDependencies"} {
		var list map[string]json.RawMessage
		if json.Unmarshal(m[key], &list) != nil {
			continue // it is not there, or no list
		}
		for name := range list {
			if len(out) < maxLocked {
				out = append(out, name)
			}
		}
	}
	return out
}

// npmVersions are those of npm's lockfile. Links and folders of the project itself have no version of a registry.
func npmVersions(p, src string) (out []LockedPackage) {
	type locked struct {
		Version string
		Link    bool
	}
	var m struct {
		Packages, Dependencies map[string]locked
	}
	if json.Unmarshal([]byte(src), &m) != nil {
		return nil
	}
	add := func(name string, l locked) {
		if !l.Link && l.Version != "" && len(out) < maxLocked {
			out = append(out, LockedPackage{NPM, name, l.Version, p})
		}
	}
	for at, l := range m.Packages {
		if name := NodePackage(at); name != "" {
			add(name, l)
		}
	}
	if len(m.Packages) == 0 {
		for name, l := range m.Dependencies {
			add(name, l)
		}
	}
	return out
}
