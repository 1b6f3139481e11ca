package plan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// Location is the file that a reviewer opens for a finding of the run: the
// configuration's entry, or the server's first file, source before machine code,
// or its manifest.
func Location(entry *finding.Location, in *Fetched, p Plan) finding.Location {
	if entry != nil {
		return finding.Location{Path: Relative(entry.Path), Line: entry.Line, Column: entry.Column}
	}
	if in != nil {
		return in.location()
	}
	program := ""
	for _, a := range p.Server.Command {
		if info, err := os.Stat(a); !filepath.IsAbs(a) || err != nil || !info.Mode().IsRegular() {
			continue
		}
		if !shown.IsELF(a) {
			return finding.Location{Path: Relative(a), Line: 1}
		}
		if program == "" {
			program = a
		}
	}
	candidates := []string{program}
	for _, m := range manifestNames[""] {
		candidates = append(candidates, filepath.Join(p.Server.ServerDir, m))
	}
	for _, f := range candidates {
		if info, err := os.Stat(f); err == nil && filepath.IsAbs(f) && info.Mode().IsRegular() {
			return finding.Location{Path: Relative(f), Line: 1}
		}
	}
	if p.Server.ServerDir != "" {
		return finding.Location{Path: Relative(p.Server.ServerDir), Line: 1}
	}
	return finding.Location{Path: filepath.Base(p.Server.Command[0]), Line: 1}
}

// location is the manifest of the package's own.
func (in *Fetched) location() finding.Location {
	if in.Tree == nil {
		return finding.Location{Path: in.Package.Name, Line: 1}
	}
	dir, top := in.source()
	s := Server{Source: dir, Top: top}
	root := s.readable()
	defer closeSource(root)
	for _, m := range append(slices.Clone(install.Manifests), "__init__.py") {
		if root == nil {
			break
		}
		if _, err := root.Stat(m); err == nil {
			return finding.Location{Path: Relative(filepath.Join(dir, m)), Line: 1}
		}
	}
	return finding.Location{Path: Relative(dir), Line: 1}
}

// Relative writes a path as a reviewer in the working directory would. It never
// leads out of that directory, nor names what only this machine has: of a package
// installed elsewhere the part from the installation's tree on is left, of
// anything else the last element.
func Relative(p string) string {
	if p == "" {
		return "."
	}
	abs, err := filepath.Abs(p)
	if err != nil {
		return filepath.Base(p)
	}
	wd, err := os.Getwd()
	if err != nil {
		return filepath.Base(abs)
	}
	// Below the root directory everything is somewhere: that is no repository.
	if rel, err := filepath.Rel(wd, abs); err == nil && filepath.IsLocal(rel) && wd != "/" {
		return filepath.ToSlash(rel)
	}
	for _, tree := range []string{"node_modules", "site-packages", "dist-packages"} {
		if i := strings.LastIndex(filepath.ToSlash(abs), "/"+tree+"/"); i >= 0 {
			return filepath.ToSlash(abs)[i+1:]
		}
	}
	return filepath.Base(abs)
}
