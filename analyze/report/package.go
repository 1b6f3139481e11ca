package report

import (
	"fmt"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxIntegrity bounds a hash as it is shown: a SHA-512 in base64 has 95 characters.
const maxIntegrity = 120

// packageName is a package as its registry's users write it, unescaped.
func packageName(p *session.Package) string {
	name := p.Kind + ":" + p.Name
	switch {
	case p.Version == "":
	case p.Kind == "pypi":
		name += "==" + p.Version
	default:
		name += "@" + p.Version
	}
	return name
}

// packageHash is the best there is of its hashes.
func packageHash(p *session.Package) string {
	if p.Integrity != "" {
		return p.Integrity
	}
	return p.Digest
}

// buildText says what became of a package's build.
func buildText(b *session.Build) string {
	switch b.State {
	case session.BuildNone:
		return "nothing to build"
	case session.BuildDone:
		return "built in the sandbox, " + plural(len(b.Steps), "script")
	case session.BuildFailed:
		return "the build failed: " + b.Why
	default:
		return "not built: " + b.Why
	}
}

// packageAsOf says from when the dependencies are, "" for the fetch's own time.
func packageAsOf(p *session.Package) string {
	switch {
	case p.AsOf == "":
		return ""
	case p.AsOfWhy == session.AsOfUnstarted:
		return "dependencies as of " + p.AsOf + ", since the server does not work with those of today"
	}
	return "dependencies as of " + p.AsOf
}

// packageLinks names the links that were left out, "" for none.
func packageLinks(p *session.Package) string {
	n := len(p.LinksLeftOut)
	if n == 0 {
		return ""
	}
	text := "skipped " + plural(n, "link") + " that led outside the package: " + strings.Join(p.LinksLeftOut[:min(n, 5)], ", ")
	if n > 5 {
		text += ", …"
	}
	return text
}

func (p *printer) pkg(pkg *session.Package) {
	if pkg == nil {
		return
	}
	p.fact("package", "%s %s; %s fetched, %s", Clean(packageName(pkg), 200), Clean(packageHash(pkg), maxIntegrity), plural(pkg.Packages, "package"), Clean(buildText(&pkg.Build), 300))
	if at := packageAsOf(pkg); at != "" {
		p.fact("as of", "%s", Clean(at, 200))
	}
	if links := packageLinks(pkg); links != "" {
		p.fact("links", "%s", Clean(links, 300))
	}
}

func (m *markdown) pkg(pkg *session.Package) {
	if pkg == nil {
		return
	}
	m.line("Package %s %s; %s fetched, %s.", code(packageName(pkg), 200), code(packageHash(pkg), maxIntegrity), plural(pkg.Packages, "package"), code(buildText(&pkg.Build), 300))
	for _, more := range []string{packageAsOf(pkg), packageLinks(pkg)} {
		if more != "" {
			m.line("%s", code(more, 300))
		}
	}
	m.line("")
}

func packageFacts(pkg *session.Package) []factView {
	if pkg == nil {
		return nil
	}
	facts := []factView{
		{"Package", Escape(packageName(pkg), 200)},
		{"Hash", Escape(packageHash(pkg), maxIntegrity)},
		{"Fetched", plural(pkg.Packages, "package")},
		{"Build", Escape(buildText(&pkg.Build), 300)},
	}
	if at := packageAsOf(pkg); at != "" {
		facts = append(facts, factView{"As of", Escape(at, 200)})
	}
	if links := packageLinks(pkg); links != "" {
		facts = append(facts, factView{"Links", Escape(links, 300)})
	}
	return facts
}

// packageProperties are what SARIF has no member for.
func packageProperties(pkg *session.Package) *sarif.PropertyBag {
	props := sarif.NewPropertyBag()
	for _, kv := range [][2]string{
		{"package", packageName(pkg)}, {"integrity", pkg.Integrity}, {"digest", pkg.Digest}, {"build", buildText(&pkg.Build)}, {"asOf", packageAsOf(pkg)}, {"links", packageLinks(pkg)},
	} {
		if kv[1] != "" {
			props.Add(kv[0], text.Printable(strings.TrimSpace(kv[1]), 900))
		}
	}
	props.Add("packages", fmt.Sprint(pkg.Packages))
	return props
}
