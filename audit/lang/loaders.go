package lang

import (
	"slices"
	"strings"
)

// loaders are the functions that return the module which their first argument names.
var loaders = map[string]bool{
	"require": true, "import": true, "process.getBuiltinModule": true,
	"__import__": true, "builtins.__import__": true, "importlib.import_module": true, "importlib.__import__": true,
}

// Loads reports whether a function returns the module that its first argument names, by the
// name that CallSite has: "require", "node:module.createRequire()", "process.mainModule.require".
func Loads(function string) bool {
	name := strings.ReplaceAll(strings.TrimPrefix(function, "node:"), ".default", "")
	if loaders[name] || strings.HasSuffix(name, "createRequire()") || strings.HasSuffix(name, "createRequireFromPath()") {
		return true
	}
	// Each module of Node's has a require, and their class loads without one.
	name = strings.ReplaceAll(name, "()", "")
	root, _, _ := strings.Cut(name, ".")
	switch last := name[strings.LastIndexByte(name, '.')+1:]; root {
	case "module", "require", "import": // import.meta.require is Bun's
		return last == "require" || last == "_load"
	case "process":
		return strings.HasPrefix(name, "process.mainModule.") && (last == "require" || last == "_load")
	}
	return false
}

// loaded is the call of a loader by a function's name, with the argument that names the module.
// Function.prototype.call takes an object before it.
func loaded(function string, c Call) (module Expr, ok bool) {
	at := 0
	if name, isCall := strings.CutSuffix(function, ".call"); isCall && Loads(name) {
		function, at = name, 1
	}
	if !Loads(function) {
		return nil, false
	}
	if at >= len(c.Args) {
		return nil, true
	}
	return c.Args[at].Value, true
}

// forward is what a function returns: the result of another one, for a parameter of its own.
type forward struct {
	to    Expr
	in    *Scope
	param int
}

// result is the expression that a function returns and does nothing else, nil for another function.
func result(f *Function) Expr {
	if len(f.Body) != 1 {
		return nil
	}
	if r, ok := f.Body[0].(Return); ok && r.Op == "return" {
		return r.X
	}
	return nil
}

// forward keeps a function that hands a parameter to another one: (name) => require(name).
func (b *bindings) forward(name string, f *Function, in *Scope) {
	c, ok := result(f).(Call)
	if !ok || len(c.Args) == 0 || len(b.forwards[name]) >= maxNames {
		return
	}
	given, ok := c.Args[0].Value.(Name)
	for i, p := range f.Params {
		if ok && p.Name == given.ID {
			b.forwards[name] = append(b.forwards[name], forward{c.Func, &Scope{Outer: in, Function: f}, i})
		}
	}
}

// forwarded are the modules that a call of a function of the file loads by another one.
func (b *bindings) forwarded(name string, c Call, in *Scope, links int) (out []string) {
	for _, w := range b.forwards[name] {
		if w.param >= len(c.Args) || !slices.ContainsFunc(b.values(w.to, w.in, links+1), Loads) {
			continue
		}
		if module, ok := b.text(c.Args[w.param].Value, in, links+1); ok && module != "" {
			out = append(out, module)
		}
	}
	return out
}
