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

// manifest reads the first manifest of the root for the profile, and judges the dependencies
// of all and the licence. A manifest that does not parse says nothing.
func (a *auditor) manifest() {
	p := &a.report.Profile
	name := ""
	if data, err := a.read("package.json"); err == nil {
		name = "package.json"
		p.Runtime = "node"
		var m struct {
			Name, Version string
			License       any
			Repository    json.RawMessage
			Scripts       map[string]string
		}
		if json.Unmarshal(data, &m) == nil {
			p.PackageName, p.Version = m.Name, m.Version
			a.licensed = a.licensed || m.License != nil
			a.report.Repository = npmRepository(m.Repository)
			a.installScripts(name, string(data), m.Scripts)
			a.closeName("npm", name, m.Name)
		}
	} else if data, err := a.read("pyproject.toml"); err == nil {
		name = "pyproject.toml"
		p.Runtime = "python"
		var m struct {
			Project struct {
				Name, Version string
				License       any
				URLs          map[string]string
			}
		}
		if toml.Unmarshal(data, &m) == nil {
			p.PackageName, p.Version = m.Project.Name, m.Project.Version
			a.licensed = a.licensed || m.Project.License != nil
			for _, key := range []string{"Homepage", "homepage", "Source", "source", "Repository", "repository"} {
				a.report.Repository = cmp.Or(m.Project.URLs[key], a.report.Repository)
			}
			a.closeName("pypi", name, m.Project.Name)
		}
	} else if _, err := fs.Stat(a.files, "go.mod"); err == nil {
		name = "go.mod"
		p.Runtime = "go"
	} else if data, err := a.read("Cargo.toml"); err == nil {
		name = "Cargo.toml"
		p.Runtime = "rust"
		a.licensed = a.licensed || cargoIsLicensed(data)
	}
	p.DependencyCount = a.dependencies()
	p.PackageName, p.Version = text.Printable(p.PackageName, maxName), text.Printable(p.Version, maxName)
	if lists := a.requirements(); name == "" && len(lists) > 0 {
		name, p.Runtime = lists[0], "python"
	}
	if name == "" {
		return
	}
	a.judgeManifest(name)
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
