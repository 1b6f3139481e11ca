package taint

import (
	"slices"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// alias notes what a variable was made of.
func (f *frame) alias(key string, of lang.Expr) {
	if a, ok := f.aliasOf(of); ok && a.key != key {
		f.aliases[key] = a
	}
}

// aliasOf is the variable that an expression makes plain, parses or copies.
func (f *frame) aliasOf(x lang.Expr) (alias, bool) {
	switch x := x.(type) {
	case lang.Name:
		return alias{key: x.ID, mask: all | confined}, true
	case lang.Attr:
		if slices.Contains([]string{"hostname", "host", "netloc", "origin", "Host", "href"}, x.Name) {
			if a, ok := f.aliasOf(x.X); ok && keyOf(x.X) == "" {
				return alias{key: a.key, mask: a.mask & request}, true
			}
			if key := keyOf(x.X); key != "" {
				return alias{key: key, mask: request}, true
			}
		}
		if x.Name == "parts" {
			a, ok := f.aliasOf(x.X)
			a.mask &= confined
			return a, ok
		}
		if key := keyOf(x); key != "" {
			return alias{key: key, mask: all | confined}, true
		}
	case lang.Operation:
		if x.Op == "await" && len(x.Operands) == 1 {
			return f.aliasOf(x.Operands[0])
		}
	case lang.Index:
		if key := keyOf(x); key != "" {
			return alias{key: key, mask: all | confined}, true
		}
	case lang.Call:
		return f.aliasOfCall(x)
	}
	return alias{}, false
}

func (f *frame) aliasOfCall(x lang.Call) (alias, bool) {
	var names []string
	if site := f.src.facts.CallAt(x.Place()); site != nil {
		for _, n := range site.Names {
			_, name := sinks.Of(f.src.Language, n, nil)
			names = append(names, name)
		}
	}
	inner := func(i int, mask class, relative bool) (alias, bool) {
		if i >= len(x.Args) {
			return alias{}, false
		}
		a, ok := f.aliasOf(x.Args[i].Value)
		a.mask &= mask
		a.relative = a.relative || relative
		return a, ok
	}
	for _, n := range names {
		switch {
		case n == "path.relative" || n == "os.path.relpath" || n == "path/filepath.Rel":
			at := 1
			if n == "os.path.relpath" {
				at = 0
			}
			return inner(at, confined, true)
		case normalizers[n] || (n == "path.resolve" || n == "pathlib.Path") && len(x.Args) == 1:
			return inner(0, confined, false)
		case makers[n] != "":
			return inner(0, request, false)
		case n == "strings.TrimSpace" || n == "str" || n == "String":
			return inner(0, all|confined, false)
		}
	}
	if site := f.src.facts.CallAt(x.Place()); site != nil && len(x.Args) > 0 && f.calls[place(x)] != nil {
		// A function of the package that gives back what it is given, made plain.
		if len(f.a.pkg.Targets(f.src.Path, site.Names, site.Own)) > 0 && alike(f.calls[place(x)], f.eval(x.Args[0].Value)) {
			return inner(0, confined, false)
		}
	}
	a, ok := x.Func.(lang.Attr)
	if !ok {
		return alias{}, false
	}
	switch a.Name {
	case "resolve", "absolute", "expanduser", "realpath":
		if of, ok := f.aliasOf(a.X); ok {
			of.mask &= confined
			return of, true
		}
	case "trim", "strip", "toString", "lower", "upper", "casefold", "toLowerCase", "toUpperCase", "Hostname":
		if a.Name == "Hostname" {
			if key := keyOf(a.X); key != "" {
				return alias{key: key, mask: request}, true
			}
		}
		return f.aliasOf(a.X)
	case "get":
		if key := keyOf(x); key != "" {
			return alias{key: key, mask: all | confined}, true
		}
	}
	return alias{}, false
}

// alike reports whether two values come from the same parameters.
func alike(a, b *value) bool {
	x, y := a.flat(), b.flat()
	return len(x) > 0 && !slices.ContainsFunc(x, func(t taint) bool {
		return !slices.ContainsFunc(y, func(o taint) bool { return o.origin == t.origin })
	})
}

// checks are the variables that are harmless once an expression is, for classes.
func (f *frame) checks(x lang.Expr, c class) []check {
	var out []check
	if c == 0 || c == ^class(0) && x == nil {
		return nil
	}
	key := keyOf(x)
	if _, constant := x.(lang.Const); constant {
		return nil
	}
	if key != "" {
		out = append(out, check{key: key, safe: c})
	} else if a, ok := f.aliasOf(x); ok {
		if a.relative && c&noDots != 0 {
			c |= pathname
		}
		key, c = a.key, c&a.mask
		out = append(out, check{key: key, safe: c})
	}
	for range 6 {
		a, ok := f.aliases[key]
		if !ok || c == 0 {
			break
		}
		if a.relative && c&noDots != 0 {
			c |= pathname
		}
		if c &= a.mask; c == 0 {
			break
		}
		out = append(out, check{key: a.key, safe: c})
		key = a.key
	}
	return out
}
