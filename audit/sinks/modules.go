package sinks

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// constantImport returns the module that a call imports by a name that is constant.
func constantImport(c *lang.CallSite) (string, bool) {
	if len(c.Call.Args) == 0 || !slices.ContainsFunc(c.Names, lang.Loads) {
		return "", false
	}
	v, ok := lang.Fold(c.Call.Args[0].Value)
	return v.Text, ok && v.Kind == lang.String
}

// modulesImported returns the ids of the package's modules that a statement imports.
func (p *project) modulesImported(s *source, n lang.Import) []string {
	out := p.modulesNamed(s, n.Module)
	if s.Language != "Python" {
		return out
	}
	for _, name := range n.Names {
		if name.Name != "*" {
			out = append(out, p.modulesNamed(s, strings.TrimSuffix(n.Module, ".")+"."+name.Name)...)
		}
	}
	return out
}

// maxModules bounds how many of the package's files one name of a module may mean.
const maxModules = 3

// modulesNamed returns the ids of the package's modules that a name in a source means.
func (p *project) modulesNamed(s *source, name string) []string {
	if s.Language != "Python" {
		if other, _ := p.file(s, name); other != nil {
			return []string{id(other.Path, "")}
		}
		return nil
	}
	if strings.HasPrefix(name, ".") {
		name = p.absolute(s, name)
	}
	list := p.modules[name]
	if len(list) > maxModules {
		return nil
	}
	var out []string
	for _, other := range list {
		out = append(out, id(other.Path, ""))
	}
	return out
}

// byFile finds a name of JavaScript such as "./lib/tools.js.run".
func (p *project) byFile(s *source, name string) []string {
	other, rest := p.file(s, name)
	if other == nil {
		return nil
	}
	return p.exported(other, rest, 0)
}

// file finds the file that a relative name of JavaScript begins with, and the rest of it.
func (p *project) file(s *source, name string) (*source, string) {
	if !strings.HasPrefix(name, ".") {
		return nil, ""
	}
	full := path.Join(path.Dir(s.Path), name)
	for i := len(full); i > 0; i = strings.LastIndexByte(full[:i], '.') {
		file, rest := full[:i], strings.TrimPrefix(full[i:], ".")
		for _, f := range variants(file) {
			if other := p.byPath[f]; other != nil {
				return other, rest
			}
		}
	}
	return nil, ""
}
