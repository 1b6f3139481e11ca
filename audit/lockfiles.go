package audit

import (
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// The rules for what a package installs.
const (
	InstallScript = "install-script"
	LockSource    = "lock-source"
)

// lockPatterns are how the formats of lockfiles name a package, by the file's name. The first
// group, where there is one, is the package.
var lockPatterns = map[string]*lazyregexp.Regexp{
	"yarn.lock":      lazyregexp.New(`(?m)^"?((?:@[^/"\s]+/)?[^@"\s#][^@"\s]*)@[^\n]*:\r?$`),
	"pnpm-lock.yaml": lazyregexp.New(`(?m)^  ['"]?/?((?:@[^/'"\s]+/)?[^@'"\s:]+)@[^\n]*:\r?$`),
	"uv.lock":        lazyregexp.New(`(?m)^\[\[package\]\]\r?\nname = "([^"\n]+)"`),
	"poetry.lock":    lazyregexp.New(`(?m)^\[\[package\]\]\r?\nname = "([^"\n]+)"`),
	"pdm.lock":       lazyregexp.New(`(?m)^\[\[package\]\]\r?\nname = "([^"\n]+)"`),
	"Cargo.lock":     lazyregexp.New(`(?m)^\[\[package\]\]\r?\nname = "([^"\n]+)"`),
	"go.sum":         lazyregexp.New(`(?m)^(\S+) v\S+ h1:`),
}

// addresses are those that a lockfile names.
var addresses = lazyregexp.New(`(?:git\+)?[a-z]+://[^\s"',}#]+`)

// registries serve packages whose content their digest in the lockfile holds to.
var registries = words("registry.npmjs.org registry.yarnpkg.com pypi.org files.pythonhosted.org github.com crates.io index.crates.io static.crates.io npm.jsr.io codeload.github.com")

// lockfile counts the packages that a lockfile names, and judges where they come from.
func (a *auditor) lockfile(p, src string) {
	base := path.Base(p)
	names := map[string]bool{}
	switch pattern := lockPatterns[base]; {
	case base == "package-lock.json" || base == "npm-shrinkwrap.json":
		names = npmLocked([]byte(src))
	case pattern != nil:
		for _, m := range pattern.FindAllStringSubmatch(src, -1) {
			names[m[1]] = true
		}
	default:
		return
	}
	if a.report.Profile.Locked == nil {
		a.report.Profile.Locked = map[string]int{}
	}
	a.report.Profile.Locked[p] = len(names)
	if more := lockedPackages(p, src); len(a.report.Packages)+len(more) <= maxLocked {
		a.report.Packages = append(a.report.Packages, more...)
	}
	seen := map[string]bool{}
	for _, at := range addresses.FindAllStringIndex(src, -1) {
		why := lockedFrom(src[at[0]:at[1]])
		if why == "" || seen[why] {
			continue
		}
		seen[why] = true
		sev := finding.Low
		if strings.HasPrefix(why, "plain HTTP") {
			sev = finding.Medium
		}
		a.add(LockSource, sev, p, src, at[0], "a locked package comes from "+why, why)
	}
}

// lockedFrom says what is unusual about the address that a package comes from, "" for nothing.
// Lockfiles have addresses of homepages and of funding too.
func lockedFrom(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	isPackage := strings.HasSuffix(u.Path, ".tgz") || strings.HasSuffix(u.Path, ".tar.gz") || strings.HasSuffix(u.Path, ".whl") || strings.HasSuffix(u.Path, "/simple")
	switch {
	case strings.HasPrefix(u.Scheme, "git") || u.Scheme == "ssh":
		return "a repository: " + shown(u.Hostname())
	case !isPackage:
		return ""
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return "plain HTTP: " + shown(u.Hostname())
	case !registries[u.Hostname()]:
		return "another host than a registry: " + shown(u.Hostname())
	}
	return ""
}

// npmLocked are the packages of npm's lockfile, in each of its versions: by their way below the top
// node_modules, which is the name for those at the top.
func npmLocked(data []byte) map[string]bool {
	var m struct {
		Packages, Dependencies map[string]json.RawMessage
	}
	out := map[string]bool{}
	if json.Unmarshal(data, &m) != nil {
		return out
	}
	for at := range m.Packages {
		if _, name, ok := strings.Cut(at, "node_modules/"); ok {
			out[name] = true
		}
	}
	for name := range m.Dependencies {
		out[name] = true
	}
	return out
}

// installScripts judges what npm runs when the package is installed from its registry.
func (a *auditor) installScripts(p, src string, scripts map[string]string) {
	for _, event := range []string{"preinstall", "install", "postinstall"} {
		command := scripts[event]
		if command == "" {
			continue
		}
		at := max(strings.Index(src, `"`+event+`"`), 0)
		a.add(InstallScript, finding.Low, p, src, at, "npm runs a command when the package is installed ("+event+"): "+shown(command), event)
		a.shellText(p, src, command, at, finding.High)
	}
}

// isLockfile reports whether a file is one.
func isLockfile(p string) bool {
	base := path.Base(p)
	return lockPatterns[base] != nil || slices.Contains([]string{"package-lock.json", "npm-shrinkwrap.json"}, base)
}
