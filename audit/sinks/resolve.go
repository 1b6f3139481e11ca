package sinks

import (
	"slices"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// Package leads names to functions within the files of one package. Whoever adds files to it
// does so before others read it.
type Package struct {
	p      *project
	bodies map[string]Body
}

// Body is a function of a package with what stands around it.
type Body struct {
	File     *lang.File
	Function *lang.Function
	// In is the scope that the function is defined in, nil for the module.
	In *lang.Scope
	// Name is the function's, qualified.
	Name string
}

// NewPackage reads the files of a package.
func NewPackage(files []*lang.File) *Package {
	k := &Package{p: newProject(nil), bodies: map[string]Body{}}
	for _, f := range files {
		k.Add(f)
	}
	return k
}

// Add reads one more file, which ranks behind those that are there, and returns its facts.
func (k *Package) Add(f *lang.File) *lang.Facts {
	s := k.p.add(f)
	for i := range s.facts.Definitions {
		if d := &s.facts.Definitions[i]; d.Function != nil {
			k.add(s, d.Name, d.Function, d.In)
		}
	}
	for _, n := range s.nodes {
		if c, ok := n.Node.(lang.Call); ok {
			k.addHandlers(s, c, n.In)
		}
	}
	if f := defaultOf(s); f != nil {
		k.add(s, s.handlers[f], f, nil)
	}
	return s.facts
}

// addHandlers adds the functions without a name that a call registers.
func (k *Package) addHandlers(s *source, c lang.Call, in *lang.Scope) {
	_, _, values := registered(c)
	for _, a := range c.Args {
		values = append(values, a.Value)
	}
	for _, v := range values {
		if f, ok := v.(*lang.Function); ok {
			k.add(s, s.handlers[f], f, in)
		}
	}
}

// Objects are the literals and classes of a file that may describe a tool.
func (k *Package) Objects(file string) []Node {
	if s := k.p.byPath[file]; s != nil {
		return s.objects
	}
	return nil
}

func (k *Package) add(s *source, name string, f *lang.Function, in *lang.Scope) {
	if _, there := k.bodies[id(s.Path, name)]; !there && name != "" {
		k.bodies[id(s.Path, name)] = Body{File: s.File, Function: f, In: in, Name: name}
	}
}

// Handlers lists the handlers of the package.
func (k *Package) Handlers() []Handler { return k.p.handlers() }

// Functions lists the functions of the package, as the function of that name does.
func (k *Package) Functions() []Function { return k.p.allFunctions() }

// Facts are those of a file, nil for one that is not of the package.
func (k *Package) Facts(file string) *lang.Facts {
	if s := k.p.byPath[file]; s != nil {
		return s.facts
	}
	return nil
}

// Body returns a function by its id.
func (k *Package) Body(id string) (Body, bool) {
	b, ok := k.bodies[id]
	return b, ok
}

// Targets returns the ids of the package's functions that names of a file mean, as
// lang.CallSite has them.
func (k *Package) Targets(file string, names, own []string) []string {
	s := k.p.byPath[file]
	if s == nil {
		return nil
	}
	var out []string
	for _, n := range names {
		out = append(out, k.p.external(s, n)...)
	}
	for _, n := range own {
		out = append(out, k.p.own(s, n)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Methods returns the ids of the package's methods of a name, none where they are too
// many to mean anything.
func (k *Package) Methods(name string) []string { return k.p.method(name) }

// Imported returns the file that a relative module of a JavaScript file names, and nil
// for a module that is not of the package.
func (k *Package) Imported(file, module string) *lang.File {
	if s := k.p.byPath[file]; s != nil {
		if other := k.p.fileOf(s, module); other != nil {
			return other.File
		}
	}
	return nil
}
