package taint

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// plainTypes are types of parameters that hold no text: an SDK checks them before the handler is called.
var plainTypes = set("int float bool complex int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 float32 float64 Decimal date datetime timedelta UUID UUID4 PositiveInt NonNegativeInt NegativeInt conint confloat Literal Enum IntEnum StrEnum Duration Time IPv4Address")

// numericTypes are those of them whose values a source compares with numbers.
var numericTypes = set("int float int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 float32 float64 Decimal PositiveInt NonNegativeInt NegativeInt conint confloat")

// typed is a parameter's value, as its type allows.
func (a *analysis) typed(s *source, p lang.Param, v *value) *value {
	if p.Annotation == nil || !v.tainted() {
		return v
	}
	return a.asType(s, p.Annotation, v, 0)
}

// asType is a value that was checked to be of a type.
func (a *analysis) asType(s *source, x lang.Expr, v *value, depth int) *value {
	if depth > 6 {
		return v
	}
	switch x := x.(type) {
	case lang.Name, lang.Attr:
		name := lastOf(x)
		if name == "str" && s.Language == "Python" {
			return v.safer(selector)
		}
		if plainTypes[name] {
			if a.guarding && numericTypes[name] {
				return v.safer(all | number)
			}
			return nothing
		}
		if alias := s.assigned[name]; alias != nil && s.Language == "Python" {
			return a.asType(s, alias, v, depth+1)
		}
		if class := a.class(s, name); class != nil {
			return a.asClass(s, class, v, depth)
		}
	case lang.Operation:
		switch {
		case x.Op == "|": // a union: None adds nothing
			out := nothing
			for _, o := range x.Operands {
				if _, isNull := truthOf(o); !isNull {
					out = merge(out, a.asType(s, o, v, depth+1))
				}
			}
			return out
		case (x.Op == "*" || x.Op == "&") && len(x.Operands) == 1:
			return a.asType(s, x.Operands[0], v, depth+1)
		}
	case lang.Index:
		return a.asGeneric(s, x, v, depth)
	}
	return v
}

func (a *analysis) asGeneric(s *source, x lang.Index, v *value, depth int) *value {
	switch lastOf(x.X) {
	case "Literal":
		return nothing
	case "Optional", "List", "list", "Sequence", "set", "Set":
		if len(x.Keys) == 1 {
			return a.asType(s, x.Keys[0], v, depth+1)
		}
	case "Union", "Annotated":
		keys := x.Keys
		if len(keys) == 1 {
			if c, ok := keys[0].(lang.Collection); ok {
				keys = nil
				for _, it := range c.Items {
					keys = append(keys, it.Value)
				}
			}
		}
		if len(keys) == 0 {
			return v
		}
		if lastOf(x.X) == "Annotated" {
			v = a.asType(s, keys[0], v, depth+1)
			for _, k := range keys[1:] {
				v = v.safer(a.fieldPattern(s, k))
			}
			return v
		}
		out := nothing
		for _, k := range keys {
			if _, isNull := truthOf(k); !isNull {
				out = merge(out, a.asType(s, k, v, depth+1))
			}
		}
		return out
	}
	return v
}

// fieldPattern are the classes for which Field(pattern="…") makes a text harmless.
func (a *analysis) fieldPattern(s *source, x lang.Expr) class {
	c, ok := x.(lang.Call)
	if !ok {
		return 0
	}
	for _, arg := range c.Args {
		if arg.Name == "pattern" || arg.Name == "regex" {
			return a.patternClass(s, arg.Value)
		}
	}
	return 0
}

// patternClass are the classes for which a text that a pattern matches is harmless.
func (a *analysis) patternClass(s *source, x lang.Expr) class {
	f := a.newFrame(s, sinks.Body{File: s.File, Function: &lang.Function{}}, nil)
	p, ok := f.pattern(x, nothing)
	if !ok {
		return 0
	}
	return p.safe(anchored(p.tree))
}

// class finds a class of the package by its name: in the file, or where it alone has the name.
func (a *analysis) class(s *source, name string) *lang.Class {
	if c := s.classes[name]; c != nil {
		return c
	}
	return a.unique[inLanguage{s.Language, name}]
}

// inLanguage is a name in a language.
type inLanguage struct{ language, name string }

// uniqueClasses are the classes whose names no other file of their language has.
func uniqueClasses(sources map[string]*source) map[inLanguage]*lang.Class {
	out := map[inLanguage]*lang.Class{}
	for _, s := range sources {
		for name, class := range s.classes {
			key := inLanguage{s.Language, name}
			if _, taken := out[key]; taken {
				class = nil
			}
			out[key] = class
		}
	}
	return out
}

// asClass is a value that was checked to be of a class: its fields are of their types.
func (a *analysis) asClass(s *source, c *lang.Class, v *value, depth int) *value {
	for _, b := range c.Bases {
		if strings.HasSuffix(lastOf(b.Value), "Enum") {
			return nothing
		}
	}
	out := *v
	out.fields = map[string]*value{}
	for k, old := range v.fields {
		out.fields[k] = old
	}
	for _, stmt := range c.Body {
		m, ok := stmt.(lang.Assign)
		if !ok || len(m.Targets) != 1 {
			continue
		}
		name := lastOf(m.Targets[0])
		annotation := m.Annotation
		if call, ok := m.Value.(lang.Call); ok && annotation == nil && s.Language == "Go" {
			annotation = call.Func
		}
		if annotation == nil {
			continue
		}
		field := a.asType(s, annotation, v.field(name), depth+1)
		if m.Value != nil {
			field = field.safer(a.fieldPattern(s, m.Value))
		}
		out.set(name, field)
	}
	return &out
}

// ownClass is the class of the package that a call makes an object of, where it has no
// constructor of its own.
func (f *frame) ownClass(c *callInfo) *lang.Class {
	if !slices.ContainsFunc(c.all(), (*value).tainted) {
		return nil
	}
	for _, n := range c.own {
		if class := f.src.classes[n]; class != nil {
			return class
		}
	}
	if len(c.own) == 0 {
		for _, n := range c.names {
			if name := n[strings.LastIndexByte(n, '.')+1:]; strings.HasPrefix(n, ".") || f.src.imports[name].module != "" {
				return f.a.class(f.src, name)
			}
		}
	}
	return nil
}

// model is an object of a class with fields: a dataclass, a model of pydantic, a struct.
func (f *frame) model(c *lang.Class, call *callInfo) *value {
	out := &value{}
	for _, k := range sortedKeys(call.named) {
		out.set(k, call.named[k])
	}
	i := 0
	for _, stmt := range c.Body {
		m, ok := stmt.(lang.Assign)
		if !ok || len(m.Targets) != 1 {
			continue
		}
		name := lastOf(m.Targets[0])
		v := out.fields[name]
		if v == nil {
			if v = f.fromSpread(call, name); !v.tainted() && i < len(call.args) && !isSpread(call.call, i) {
				v = call.args[i]
			}
			i++
		}
		if m.Annotation != nil {
			v = f.a.asType(f.src, m.Annotation, v, 0)
		}
		out.set(name, v)
	}
	return out
}

func isSpread(c lang.Call, i int) bool {
	if i >= len(c.Args) {
		return false
	}
	_, ok := c.Args[i].Value.(lang.Spread)
	return ok
}

// parsed is the result of schema.parse(x), or of a model's own validation.
func (f *frame) parsed(c *callInfo) *value {
	v := union(c.args)
	if c.recv.tainted() && !v.tainted() {
		return c.recv.plain()
	}
	if shape := f.a.shape(f.src, c.receiver); shape != nil {
		v = f.a.shaped(v, shape)
	} else if class := f.a.class(f.src, lastOf(c.receiver)); class != nil && f.src.Language == "Python" {
		v = f.a.asClass(f.src, class, v, 0)
	}
	if strings.HasPrefix(c.method, "safe") {
		return &value{taints: v.taints, fields: map[string]*value{"data": v}}
	}
	return v
}
