package sinks

import (
	"path"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// maxExports bounds how many files one name is led through.
const maxExports = 8

// defaultName names the function without a name that a file of JavaScript exports.
const defaultName = "<default>"

// nameDefault gives a name to the function that a source exports without one.
func nameDefault(s *source) {
	if f := defaultOf(s); f != nil && s.handlers[f] == "" {
		s.handlers[f] = defaultName
		s.names[defaultName] = true
	}
}

// defaultOf is the function that a source exports as its default, nil for none.
func defaultOf(s *source) *lang.Function {
	for _, stmt := range s.Body {
		if e, ok := stmt.(lang.Export); ok {
			if f, ok := e.Value.(*lang.Function); ok {
				return f
			}
		}
	}
	return nil
}

// exported returns the functions that a name of JavaScript's means in the file that it
// is imported from: of the file itself, or of one whose exports it passes on. The name
// "" is the default export.
func (p *project) exported(s *source, name string, depth int) []string {
	if depth > maxExports {
		return nil
	}
	first, rest, _ := strings.Cut(name, ".")
	if first == "" || first == "default" {
		first = "default"
		for _, local := range []string{defaultName, "exports"} {
			if s.names[local] && rest == "" {
				return []string{id(s.Path, local)}
			}
		}
	}
	if ids := p.own(s, strings.TrimPrefix(name, "default.")); ids != nil {
		return ids
	}
	for _, stmt := range s.Body {
		switch e := stmt.(type) {
		case lang.Assign:
			if ids := p.assigned(s, e, first, rest, depth+1); ids != nil {
				return ids
			}
		case lang.Export:
			for _, n := range e.Names {
				if n.As != first || n.Name == "" {
					continue
				}
				if ids := p.own(s, dotted(n.Name, rest)); ids != nil {
					return ids
				}
				if ids := p.local(s, n.Name, rest, depth+1); ids != nil {
					return ids
				}
			}
		case lang.Import:
			if ids := p.passedOn(s, e, first, rest, depth+1); ids != nil {
				return ids
			}
		}
	}
	return nil
}

// assigned finds a name in module.exports = f, or = {name: f}.
func (p *project) assigned(s *source, a lang.Assign, first, rest string, depth int) []string {
	if len(a.Targets) != 1 {
		return nil
	}
	target, ok := a.Targets[0].(lang.Attr)
	if root, named := target.X.(lang.Name); !ok || !named || root.ID != "module" || target.Name != "exports" {
		return nil
	}
	value := a.Value
	if c, ok := value.(lang.Collection); ok {
		for _, it := range c.Items {
			if k, ok := it.Key.(lang.Const); ok && k.Text == first {
				value = it.Value
			}
		}
	} else if first != "default" {
		rest = dotted(first, rest)
	}
	name := ""
	switch v := value.(type) {
	case lang.Name:
		name = v.ID
	case *lang.Function:
		name = v.Name
	case *lang.Class:
		name = v.Name
	}
	if name == "" {
		return nil
	}
	if ids := p.own(s, dotted(name, rest)); ids != nil {
		return ids
	}
	return p.local(s, name, rest, depth)
}

// passedOn finds a name among the re-exports of a statement.
func (p *project) passedOn(s *source, i lang.Import, first, rest string, depth int) []string {
	if !i.Exports || i.Types {
		return nil
	}
	for _, n := range i.Names {
		switch {
		case n.Name == "*" && n.As == "*" && first != "default":
			if ids := p.moduleOf(s, i.Module, dotted(first, rest), depth); ids != nil {
				return ids
			}
		case n.As == first && n.Name == "*":
			return p.moduleOf(s, i.Module, rest, depth)
		case n.As == first:
			return p.moduleOf(s, i.Module, dotted(n.Name, rest), depth)
		}
	}
	return nil
}

// local finds what an exported name means that the file imports itself.
func (p *project) local(s *source, name, rest string, depth int) []string {
	for _, i := range s.facts.Imports {
		for _, n := range i.Names {
			if n.As == name && !i.Exports && !i.Types {
				if n.Name == "*" {
					return p.moduleOf(s, i.Module, rest, depth)
				}
				return p.moduleOf(s, i.Module, dotted(n.Name, rest), depth)
			}
		}
	}
	return nil
}

func (p *project) moduleOf(s *source, module, name string, depth int) []string {
	if other := p.fileOf(s, module); other != nil {
		return p.exported(other, name, depth)
	}
	return nil
}

// fileOf is the file that a relative module of JavaScript names.
func (p *project) fileOf(s *source, module string) *source {
	if !strings.HasPrefix(module, ".") {
		return nil
	}
	full := path.Join(path.Dir(s.Path), module)
	for _, f := range variants(full) {
		if other := p.byPath[f]; other != nil {
			return other
		}
	}
	return nil
}

// variants are the files that the name of a module may mean.
func variants(file string) []string {
	out := []string{file, file + ".js", file + ".mjs", file + ".cjs", file + ".ts", file + ".tsx", file + ".jsx"}
	switch ext := path.Ext(file); ext {
	case ".js", ".mjs", ".cjs", ".jsx": // what a source of TypeScript calls what it is compiled to
		stem := strings.TrimSuffix(file, ext)
		out = append(out, stem+".ts", stem+".mts", stem+".cts", stem+".tsx")
	}
	return append(out, file+"/index.js", file+"/index.ts")
}

func dotted(parts ...string) string {
	var out []string
	for _, s := range parts {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, ".")
}

// imported returns the functions that a name means which a source of Python imports:
// "from .store import Store" in an __init__.py makes it a name of the package.
func (p *project) imported(s *source, name string) []string {
	first, rest, _ := strings.Cut(name, ".")
	for _, i := range s.facts.Imports {
		for _, n := range i.Names {
			if n.As != first || n.Name == "*" {
				continue
			}
			module := i.Module
			if !strings.HasSuffix(module, ".") {
				module += "."
			}
			target := dotted(module+n.Name, rest)
			if strings.HasPrefix(target, ".") {
				target = p.absolute(s, target)
			}
			for at := target; at != ""; at, _ = cutLast(at) {
				list := p.modules[at]
				if at == target || len(list) == 0 || len(list) > 3 {
					continue
				}
				for _, other := range list {
					if ids := p.own(other, target[len(at)+1:]); ids != nil {
						return ids
					}
				}
			}
		}
	}
	return nil
}

// byPackage finds a name of Go: "example.com/m/internal/store.New", or "New" of another
// file of the same directory.
func (p *project) byPackage(s *source, name string) []string {
	slash := strings.LastIndexByte(name, '/')
	dot := strings.IndexByte(name[slash+1:], '.')
	if slash < 0 {
		return p.inDirectory(path.Dir(s.Path), name)
	}
	if dot < 0 {
		return nil
	}
	imported, rest := name[:slash+1+dot], name[slash+dot+2:]
	for dir := imported; ; {
		if ids := p.inDirectory(dir, rest); ids != nil {
			return ids
		}
		_, after, more := strings.Cut(dir, "/")
		if !more {
			return nil
		}
		dir = after
	}
}

// inDirectory finds a name in the files of a directory of Go.
func (p *project) inDirectory(dir, name string) []string {
	for _, other := range p.inGo[dir] {
		if ids := p.own(other, name); ids != nil {
			return ids
		}
	}
	return nil
}
