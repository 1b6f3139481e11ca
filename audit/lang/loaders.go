package lang

import "strings"

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
