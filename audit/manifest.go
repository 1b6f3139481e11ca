package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/pelletier/go-toml/v2"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
)

// maxName bounds what a manifest says of itself.
const maxName = 200

// manifest reads the manifests of the root: the first names the package for the profile, and each is
// judged. A manifest that does not parse says nothing but the language.
func (a *auditor) manifest() {
	p, name := &a.report.Profile, ""
	for _, m := range []struct {
		runtime string
		read    func() (string, identity)
	}{{"python", a.pythonMetadata}, {"node", a.packageJSON}, {"python", a.pyproject}, {"go", a.goMod}, {"rust", a.cargo}} {
		found, of := m.read()
		if found == "" {
			continue
		}
		a.licensed = a.licensed || of.isLicensed
		if name == "" {
			name, p.Runtime = found, m.runtime
			p.PackageName, p.Version, a.report.Repository = of.name, of.version, of.repository
		}
	}
	p.DependencyCount = a.dependencies()
	a.closeDependencies()
	p.PackageName, p.Version = text.Printable(p.PackageName, maxName), text.Printable(p.Version, maxName)
	if lists := a.requirements(); name == "" && len(lists) > 0 {
		name, p.Runtime = lists[0], "python"
	}
	if name == "" {
		return
	}
	a.judgeManifest(name)
}

// identity is what a manifest says of its package.
type identity struct {
	name, version, repository string
	isLicensed                bool
}

func (a *auditor) packageJSON() (string, identity) {
	const name = "package.json"
	data, err := a.read(name)
	if err != nil {
		return "", identity{}
	}
	var m struct {
		Name, Version string
		License       any
		Repository    json.RawMessage
		Scripts       map[string]string
		Gypfile       *bool
	}
	if json.Unmarshal(data, &m) != nil {
		return name, identity{}
	}
	a.installScripts(name, string(data), m.Scripts)
	a.gypBuild(m.Scripts["install"] != "" || m.Scripts["preinstall"] != "" || m.Gypfile != nil && !*m.Gypfile)
	a.closeName("npm", name, m.Name)
	return name, identity{m.Name, m.Version, npmRepository(m.Repository), m.License != nil}
}

func (a *auditor) pyproject() (string, identity) {
	const name = "pyproject.toml"
	data, err := a.read(name)
	if err != nil {
		return "", identity{}
	}
	var m struct {
		Project struct {
			Name, Version string
			License       any
			URLs          map[string]string
		}
	}
	if toml.Unmarshal(data, &m) != nil {
		return name, identity{}
	}
	of := identity{name: m.Project.Name, version: m.Project.Version, isLicensed: m.Project.License != nil}
	for _, key := range []string{"Homepage", "homepage", "Source", "source", "Repository", "repository"} {
		of.repository = cmp.Or(m.Project.URLs[key], of.repository)
	}
	a.closeName("pypi", name, m.Project.Name)
	a.pythonBuild(name, data)
	return name, of
}

func (a *auditor) goMod() (string, identity) {
	if _, err := fs.Stat(a.files, "go.mod"); err != nil {
		return "", identity{}
	}
	return "go.mod", identity{}
}

func (a *auditor) cargo() (string, identity) {
	data, err := a.read("Cargo.toml")
	if err != nil {
		return "", identity{}
	}
	return "Cargo.toml", identity{isLicensed: cargoIsLicensed(data)}
}

// judgeManifest judges how many dependencies there are, and whether a licence is.
func (a *auditor) judgeManifest(name string) {
	if n := a.report.Profile.DependencyCount; n > 20 {
		sev := finding.Low
		if n > 50 {
			sev = finding.Medium
		}
		a.add(DependencyCount, sev, name, "", 0, fmt.Sprintf("%d direct dependencies", n), "")
	}
	if !a.licensed {
		a.add(NoLicense, finding.Info, name, "", 0, "no licence file, and none in the manifest", "")
	}
}

// npmRepository is the address in package.json's "repository", which is a text or an object with one.
func npmRepository(raw json.RawMessage) string {
	var at struct{ URL string }
	var plain string
	if json.Unmarshal(raw, &plain) == nil {
		return plain
	}
	_ = json.Unmarshal(raw, &at) // one that is no address names none
	return at.URL
}
