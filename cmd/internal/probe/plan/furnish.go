package plan

import (
	"path/filepath"
	"slices"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
	"github.com/coalmine-dev/coalmine/synth"
)

// Absent are those of some places at which Furnishing makes something: no file of the plan, and none of the server's
// own, stands there.
func (p *Plan) Absent(places []string) []string {
	own := map[string]bool{}
	for _, f := range p.Files {
		if !f.Dir {
			own[f.Path] = true
		}
	}
	source := p.Server.readable()
	defer closeSource(source)
	return slices.DeleteFunc(slices.Clone(places), func(place string) bool {
		if own[place] {
			return true
		}
		rel, err := filepath.Rel(p.Server.ServerDir, place)
		if p.Server.ServerDir == "" || source == nil || err != nil || !filepath.IsLocal(rel) {
			return false
		}
		info, err := source.Lstat(rel)
		return err == nil && !info.IsDir()
	})
}

// Furnishing is a copy of the plan in which places that the server looked for exist: files, and directories with
// documents. What stands there in the plan or the server's own directory is left alone. Its calls name them first.
func (p Plan) Furnishing(places []string) Plan {
	source := p.Server.readable()
	defer closeSource(source)
	names := fileNames(source)
	dirs, taken := map[string]bool{}, map[string]bool{}
	for _, f := range p.Files {
		taken[f.Path] = true
		for dir := f.Path; dir != "/" && !dirs[dir]; dir = filepath.Dir(dir) {
			dirs[dir] = f.Dir || dir != f.Path
		}
	}
	there := func(dir string) bool { return dirs[dir] || shown.Within(p.Server.ServerDir, dir) }
	files := synth.Furnish(p.Absent(places), p.Seed, func(name string) bool { return names[name] }, there)
	files = slices.DeleteFunc(files, func(f rootfs.File) bool { return taken[f.Path] })
	p = p.Planting(files...)
	p.Server.Workspaces = slices.Clone(p.Server.Workspaces)
	for _, f := range files {
		dir := f.Path
		if !f.Dir {
			dir = filepath.Dir(f.Path)
		}
		isThere := func(top string) bool { return top != "" && shown.Within(dir, top) }
		if slices.Contains(places, f.Path) && !slices.ContainsFunc(append(p.Server.Workspaces, p.Identity.Home, p.Server.ServerDir), isThere) {
			p.Server.Workspaces = append(p.Server.Workspaces, dir) // a user's would be writable
		}
	}
	p.Drive.Hints = synth.HintsWith(p.Drive.Hints, files)
	return p
}
