package sinks

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// Sink is one use of a function that acts on the world.
type Sink struct {
	lang.Span
	Kind Kind
	// Name is that of the table: "subprocess.run".
	Name string
	// Called is unset where the function is used as a value, and called elsewhere.
	Called bool
}

// Function is a function of a package's own code, or the code of a module itself.
type Function struct {
	lang.Span
	File string
	// Name is qualified, and "" for the module. A handler without a name is "<tool x>".
	Name string
	// Sinks are in the order of the source. What a function without a name does counts
	// for the one around it.
	Sinks []Sink
	// Calls are the ids of functions that it may call, and of modules that it imports, sorted.
	Calls []string
	// Parts are the places of its code: more than one where several have its name, such as
	// a property's two methods.
	Parts []Part
}

// Part is the place of a function's code.
type Part struct {
	// Head is where its decorators begin, Body where its first statement does, which is
	// End where it has none.
	Head, Body, End lang.Pos
}

// ID names a function within its package: "src/server.py:Server.handle".
func (f Function) ID() string { return id(f.File, f.Name) }

func id(file, name string) string { return file + ":" + name }

// Functions lists the functions of one package's files, file by file in the order of the
// source, each file's module first.
func Functions(files []*lang.File) []Function { return newProject(files).allFunctions() }

// Both is Functions and Handlers, at the cost of one.
func Both(files []*lang.File) ([]Function, []Handler) {
	p := newProject(files)
	return p.allFunctions(), p.handlers()
}

func (p *project) allFunctions() []Function {
	var out []Function
	for _, s := range p.sources {
		out = append(out, p.functions(s)...)
	}
	return out
}

// project is what the files of a package know of each other.
type project struct {
	sources []*source
	byPath  map[string]*source
	// methods are the ids of methods by their last name, and modules the sources by the
	// end of their dotted path: "pkg.util" is also "util".
	methods map[string][]string
	modules map[string][]*source
	// inGo are the sources of Go by their directory.
	inGo map[string][]*source
}

// source is a file with its facts.
type source struct {
	*lang.File
	facts *lang.Facts
	// names are the qualified names of its functions; classes those of its classes.
	names   map[string]bool
	classes map[string]bool
	// handlers names the functions without a name that answer a client.
	handlers map[*lang.Function]string
	// nodes are those that may register or be handlers, objects the literals and classes that may describe a tool.
	nodes, objects []Node
}

// Node is a node of a tree with the scope that it stands in, nil for the module.
type Node struct {
	lang.Node
	In *lang.Scope
}

// maxMethods bounds how many methods of one name an unknown object may have.
const maxMethods = 8

func newProject(files []*lang.File) *project {
	p := &project{byPath: map[string]*source{}, methods: map[string][]string{}, modules: map[string][]*source{}, inGo: map[string][]*source{}}
	for _, f := range files {
		p.add(f)
	}
	return p
}

// add reads one file.
func (p *project) add(f *lang.File) *source {
	s := &source{File: f, names: map[string]bool{}, classes: map[string]bool{}, handlers: map[*lang.Function]string{}}
	s.facts = lang.CalculateFacts(f, s.keep)
	for _, d := range s.facts.Definitions {
		if d.Kind == lang.ClassKind {
			s.classes[d.Name] = true
			continue
		}
		s.names[d.Name] = true
		if d.Kind == lang.MethodKind {
			last := d.Name[strings.LastIndexByte(d.Name, '.')+1:]
			p.methods[last] = append(p.methods[last], id(f.Path, d.Name))
		}
	}
	p.sources = append(p.sources, s)
	p.byPath[f.Path] = s
	if f.Language == "Go" {
		dir := path.Dir(f.Path)
		p.inGo[dir] = append(p.inGo[dir], s)
	}
	p.addModule(s)
	nameHandlers(s)
	nameDefault(s)
	return s
}

// addModule notes the names under which Python finds a source.
func (p *project) addModule(s *source) {
	if s.Language != "Python" {
		return
	}
	dotted := strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(s.Path, path.Ext(s.Path)), "/__init__"), "/", ".")
	for dotted != "" {
		p.modules[dotted] = append(p.modules[dotted], s)
		_, dotted, _ = strings.Cut(dotted, ".")
	}
}

// functions lists those of one source.
func (p *project) functions(s *source) []Function {
	end := lang.At(0, 1, 1)
	if n := len(s.Body); n > 0 {
		end = s.Body[n-1].Place().End
	}
	start := lang.At(0, 1, 1)
	out := []Function{{File: s.Path, Span: lang.Span{Start: start, End: end}, Parts: []Part{{Head: start, Body: start, End: end}}}}
	at := map[string]int{"": 0}
	add := func(name string, f *lang.Function) {
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, Function{File: s.Path, Name: name, Span: f.Span})
		}
		out[i].Parts = append(out[i].Parts, partOf(f))
	}
	for _, d := range s.facts.Definitions {
		if d.Kind != lang.ClassKind {
			add(d.Name, d.Function)
		}
	}
	lang.Walk(s.File, func(n lang.Node, in *lang.Scope) bool {
		switch n := n.(type) {
		case *lang.Function:
			if s.handlers[n] != "" {
				add(s.handlers[n], n)
			}
		case lang.Import:
			if !n.Types {
				f := &out[at[s.owner(in)]]
				f.Calls = append(f.Calls, p.modulesImported(s, n)...)
			}
		}
		return true
	})
	for i := range s.facts.Calls {
		c := &s.facts.Calls[i]
		f := &out[at[s.owner(c.In)]]
		if module, ok := constantImport(c); ok {
			f.Calls = append(f.Calls, p.modulesNamed(s, module)...)
			continue // the code is no data
		}
		p.use(s, f, c.Names, c.Own, c.Call.Span, &c.Call)
		if a, ok := c.Call.Func.(lang.Attr); ok && len(c.Own) == 0 && !s.knows(c.Names) {
			f.Calls = append(f.Calls, p.method(a.Name)...)
			if len(c.Names) == 0 {
				p.use(s, f, []string{"*." + a.Name}, nil, c.Call.Span, &c.Call)
			}
		}
	}
	for name, ids := range p.throughTables(s) {
		f := &out[at[name]]
		f.Calls = append(f.Calls, ids...)
	}
	for _, r := range s.facts.References {
		p.use(s, &out[at[s.owner(r.In)]], r.Names, r.Own, r.Span, nil)
	}
	for _, c := range lang.CalculateConstants(s.File) {
		if c.Kind == lang.String && namesHome(c.Text) {
			f := &out[at[s.owner(c.In)]]
			f.Sinks = append(f.Sinks, Sink{Span: c.Span, Kind: Home, Name: "~"})
		}
	}
	for i := range out {
		f := &out[i]
		slices.Sort(f.Calls)
		f.Calls = slices.Compact(f.Calls)
		slices.SortStableFunc(f.Sinks, func(a, b Sink) int { return a.Start.Offset() - b.Start.Offset() })
	}
	return out
}

// namesHome reports whether a text is a path in a user's home.
func namesHome(text string) bool {
	return strings.HasPrefix(text, "~/") || strings.HasPrefix(text, "/home/") || strings.HasPrefix(text, "/root/") || strings.HasPrefix(text, "$HOME/")
}

// partOf is the place of a function's code.
func partOf(f *lang.Function) Part {
	p := Part{Head: f.Start, Body: f.End, End: f.End}
	for _, d := range f.Decorators {
		if at := d.Place().Start; at.Offset() < p.Head.Offset() {
			p.Head = at
		}
	}
	if len(f.Body) > 0 {
		p.Body = f.Body[0].Place().Start
	}
	return p
}

// owner is the name of the function to which the code of a scope counts.
func (s *source) owner(in *lang.Scope) string {
	for ; in != nil; in = in.Outer {
		if in.Function == nil {
			continue
		}
		if h := s.handlers[in.Function]; h != "" {
			return h
		}
		if s.names[in.Name] && (in.Outer == nil && in.Name != "" || in.Outer != nil && in.Name != in.Outer.Name) {
			return in.Name
		}
	}
	return ""
}

// knows reports whether one of the names comes from an import: then a method is not one
// of an unknown object.
func (s *source) knows(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return slices.ContainsFunc(s.facts.Imports, func(i lang.Import) bool {
			root, _, _ := strings.Cut(n, ".")
			return strings.HasPrefix(n+".", i.Module+".") || strings.HasPrefix(i.Module, root+".")
		})
	})
}

// use adds what names mean to a function: sinks, and calls within the package.
func (p *project) use(s *source, f *Function, names, own []string, at lang.Span, call *lang.Call) {
	for _, n := range names {
		if target := p.external(s, n); target != nil {
			f.Calls = append(f.Calls, target...)
			continue
		}
		kinds, name := Of(s.Language, n, call)
		for _, k := range kinds {
			if !slices.Contains(f.Sinks, Sink{Span: at, Kind: k, Name: name, Called: call != nil}) {
				f.Sinks = append(f.Sinks, Sink{Span: at, Kind: k, Name: name, Called: call != nil})
			}
		}
	}
	for _, n := range own {
		f.Calls = append(f.Calls, p.own(s, n)...)
	}
}

// own returns the functions that a name of a source means: a class is its constructor,
// and a method that its class lacks may be inherited.
func (p *project) own(s *source, name string) []string {
	switch {
	case s.names[name]:
		return []string{id(s.Path, name)}
	case s.classes[name]:
		for _, c := range []string{"__init__", "__new__", "constructor"} {
			if s.names[name+"."+c] {
				return []string{id(s.Path, name+"."+c)}
			}
		}
		return nil
	}
	base, last := cutLast(name)
	if s.classes[base] {
		return p.method(last)
	}
	return nil
}

// method returns the methods of the package with a name, unless they are too many to
// mean anything.
func (p *project) method(name string) []string {
	if list := p.methods[name]; len(list) <= maxMethods {
		return list
	}
	return nil
}

// external returns the functions of other files of the package that a name means.
func (p *project) external(s *source, name string) []string {
	name = strings.ReplaceAll(name, "()", "")
	switch s.Language {
	case "Python":
	case "Go":
		return p.byPackage(s, name)
	default:
		return p.byFile(s, name)
	}
	if strings.HasPrefix(name, ".") {
		name = p.absolute(s, name)
	}
	// The longest module first: a.b.C.m is m of C in a.b.
	for module := name; module != ""; module, _ = cutLast(module) {
		list := p.modules[module]
		if module == name || len(list) == 0 || len(list) > maxModules {
			continue
		}
		var out []string
		for _, other := range list {
			if ids := p.own(other, name[len(module)+1:]); ids != nil {
				out = append(out, ids...)
			} else {
				out = append(out, p.imported(other, name[len(module)+1:])...)
			}
		}
		if out != nil {
			return out
		}
	}
	return nil
}

// absolute is a relative name of Python from the root of the sources.
func (p *project) absolute(s *source, name string) string {
	rest := strings.TrimLeft(name, ".")
	dir := s.Path
	for range len(name) - len(rest) {
		dir = path.Dir(dir)
	}
	if dir == "." || dir == "/" {
		return rest
	}
	return strings.ReplaceAll(dir, "/", ".") + "." + rest
}
