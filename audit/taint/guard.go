package taint

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// apply makes variables harmless for what was checked of them.
func (f *frame) apply(list []check) {
	for _, c := range list {
		v, ok := f.env.get(c.key)
		if !ok {
			v = f.project(c.key)
		}
		if v.tainted() {
			f.env.put(c.key, v.safer(c.safe))
		}
	}
}

// project is the value of a path whose beginning is a variable.
func (f *frame) project(key string) *value {
	for i := strings.LastIndexByte(key, '.'); i > 0; i = strings.LastIndexByte(key[:i], '.') {
		if v, ok := f.env.get(key[:i]); ok {
			for part := range strings.SplitSeq(key[i+1:], ".") {
				v = v.field(part)
			}
			return v
		}
	}
	return nothing
}

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
	if site := f.src.calls[place(x)]; site != nil {
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
	if site := f.src.calls[place(x)]; site != nil && len(x.Args) > 0 && f.calls[place(x)] != nil {
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
	case "trim", "strip", "toString", "Hostname":
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
		out = append(out, check{key, c})
	} else if a, ok := f.aliasOf(x); ok {
		if a.relative && c&noDots != 0 {
			c |= pathname
		}
		key, c = a.key, c&a.mask
		out = append(out, check{key, c})
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
		out = append(out, check{a.key, c})
		key = a.key
	}
	return out
}

// both are the checks that two lists have.
func both(a, b []check) []check {
	var out []check
	for _, x := range a {
		if c := x.safe & of(b, x.key); c != 0 {
			out = append(out, check{x.key, c})
		}
	}
	return out
}

// implied are the variables that are harmless where a condition is true, or false.
func (f *frame) implied(x lang.Expr, truth bool) []check {
	if f.a.work--; f.a.work <= 0 {
		return nil
	}
	switch x := x.(type) {
	case lang.Operation:
		return f.impliedBy(x, truth)
	case lang.Call:
		return f.impliedByCall(x, truth)
	case lang.Assign:
		return f.implied(x.Value, truth)
	case lang.Index:
		// An entry of a table that is there: its key is one of the table's.
		if len(x.Keys) == 1 && truth && !f.eval(x.X).tainted() {
			return f.checks(x.Keys[0], all)
		}
	case lang.Name, lang.Attr:
		if key := keyOf(x); key != "" {
			if v, ok := f.env.get(key); ok {
				if truth {
					return v.yes
				}
				return v.no
			}
		}
	}
	return nil
}

func (f *frame) impliedBy(x lang.Operation, truth bool) []check {
	if len(x.Operands) == 0 {
		return nil
	}
	switch x.Op {
	case "not", "!":
		return f.implied(x.Operands[0], !truth)
	case "await", "!!":
		return f.implied(x.Operands[0], truth)
	case "and", "&&", "or", "||":
		joins := truth == (x.Op == "and" || x.Op == "&&")
		out := f.implied(x.Operands[0], truth)
		for _, o := range x.Operands[1:] {
			more := f.implied(o, truth)
			if joins {
				out = append(slices.Clone(out), more...)
			} else {
				out = both(out, more)
			}
		}
		return out
	}
	if len(x.Operands) != 2 {
		return nil
	}
	a, b := x.Operands[0], x.Operands[1]
	switch x.Op {
	case "in", "not in":
		return f.member(a, b, truth == (x.Op == "in"))
	case "==", "===", "is", "!=", "!==", "is not":
		return f.equal(a, b, truth == (x.Op[0] == '=' || x.Op == "is"))
	case ">=", ">", "<":
		// list.indexOf(x) >= 0, > -1, < 0
		if c, ok := a.(lang.Call); ok && truth == (x.Op != "<") {
			if m, ok := c.Func.(lang.Attr); ok && m.Name == "indexOf" && len(c.Args) == 1 {
				return f.member(c.Args[0].Value, m.X, true)
			}
		}
	}
	return nil
}

// member is what x in list means.
func (f *frame) member(x, list lang.Expr, truth bool) []check {
	if m, ok := list.(lang.Attr); ok && m.Name == "parents" { // base in path.parents
		if truth && resolved(f.eval(m.X)) {
			return f.checks(m.X, confined)
		}
		return nil
	}
	v := f.eval(list)
	if c, ok := x.(lang.Const); ok {
		if !truth && c.Kind == lang.String {
			if a, ok := list.(lang.Attr); ok && a.Name == "parts" && c.Text == ".." {
				if of, ok := f.aliasOf(a.X); ok {
					return f.checks(lang.Name{ID: of.key}, noDots)
				}
				return f.checks(a.X, noDots)
			}
			return f.checks(list, without(c.Text))
		}
		return nil
	}
	if !truth || v.tainted() || v.known || v.text != "" {
		return nil
	}
	return f.checks(x, all)
}

// without are the classes for which a text without a part is harmless.
func without(part string) class {
	switch part {
	case "..":
		return noDots
	case "/":
		return pathname | noRoot | noDots
	}
	return 0
}

// equal is what a comparison means.
func (f *frame) equal(a, b lang.Expr, truth bool) []check {
	for range 2 {
		if _, isNull := truthOf(b); isNull {
			key := keyOf(a)
			if v, ok := f.env.get(key); ok && key != "" && truth {
				return v.no
			}
			if v, ok := f.env.get(key); ok && key != "" {
				return v.yes
			}
			return nil
		}
		if c, ok := a.(lang.Operation); ok && c.Op == "typeof" && truth {
			if k, ok := b.(lang.Const); ok && (k.Text == "number" || k.Text == "boolean") && len(c.Operands) == 1 {
				return f.checks(c.Operands[0], all)
			}
			return nil
		}
		if c, ok := a.(lang.Call); ok {
			if found := f.equalCall(c, b, truth); found != nil {
				return found
			}
		}
		a, b = b, a
	}
	if !truth {
		return nil
	}
	va, vb := f.eval(a), f.eval(b)
	switch {
	case va.tainted() && !vb.tainted() && notEmpty(vb):
		return f.checks(a, all)
	case vb.tainted() && !va.tainted() && notEmpty(va):
		return f.checks(b, all)
	}
	return nil
}

func truthOf(x lang.Expr) (isTrue, isNull bool) {
	switch x := x.(type) {
	case lang.Const:
		return false, x.Kind == lang.Null
	case lang.Name:
		return false, x.ID == "nil" || x.ID == "None" || x.ID == "undefined"
	}
	return false, false
}

func notEmpty(v *value) bool { return !v.known || v.text != "" }

// equalCall is what the comparison of a call's result means.
func (f *frame) equalCall(c lang.Call, with lang.Expr, truth bool) []check {
	site := f.src.calls[place(c)]
	if site != nil && slices.ContainsFunc(site.Names, func(n string) bool { return strings.HasSuffix(n, "path.commonpath") }) && truth && len(c.Args) == 1 {
		if l, ok := c.Args[0].Value.(lang.Collection); ok {
			var out []check
			for _, it := range l.Items {
				if v := f.eval(it.Value); v.tainted() && resolved(v) {
					out = append(out, f.checks(it.Value, confined)...)
				}
			}
			return out
		}
	}
	if site != nil && truth && len(c.Args) == 1 && keyOf(with) != "" && keyOf(c.Args[0].Value) == keyOf(with) {
		for _, n := range site.Names { // basename(x) == x
			if _, name := sinks.Of(f.src.Language, n, nil); ends[name] != 0 {
				return f.checks(with, ends[name])
			}
		}
	}
	if m, ok := c.Func.(lang.Attr); ok && len(c.Args) == 1 && m.Name == "indexOf" {
		if k, ok := lang.Fold(with); ok && (k.Text == "0" || k.Text == "1") {
			return nil
		}
		return f.member(c.Args[0].Value, m.X, !truth) // === -1
	}
	return nil
}

func resolved(v *value) bool {
	if v == nil {
		return false
	}
	list := v.flat()
	for _, t := range list {
		if !t.resolved {
			return false
		}
	}
	return len(list) > 0
}

// impliedByCall is what the truth of a call's result means.
func (f *frame) impliedByCall(x lang.Call, truth bool) []check {
	var names []string
	if site := f.src.calls[place(x)]; site != nil {
		names = site.Names
		if out, ok := f.byFunction(x, names, truth); ok {
			return out
		}
	}
	if a, ok := x.Func.(lang.Attr); ok {
		if out := f.byMethod(x, a, truth); out != nil {
			return out
		}
	} else if n, ok := x.Func.(lang.Name); ok && (n.ID == "any" || n.ID == "all") && len(x.Args) == 1 && truth {
		if c, ok := x.Args[0].Value.(lang.Operation); ok && c.Op == "comprehension" && len(c.Operands) > 0 {
			return f.within(func() []check {
				for _, o := range c.Operands[1:] {
					if clause, ok := o.(lang.Operation); ok && len(clause.Operands) > 1 {
						f.bindFresh(clause.Operands[0], f.eval(clause.Operands[1]).element())
					}
				}
				return f.implied(c.Operands[0], true)
			})
		}
	}
	v, ok := f.calls[place(x)]
	if !ok {
		v = f.eval(x)
	}
	if truth {
		return v.yes
	}
	return v.no
}

// within runs a question with variables of its own, and keeps what concerns the others.
func (f *frame) within(ask func() []check) []check {
	saved := f.env
	f.env = &env{vars: map[string]*value{}, outer: saved}
	out := ask()
	inner := f.env.vars
	f.env = saved
	return slices.DeleteFunc(slices.Clone(out), func(c check) bool {
		first, _, _ := strings.Cut(c.key, ".")
		_, own := inner[first]
		return own
	})
}

// byFunction is what functions of libraries check.
func (f *frame) byFunction(x lang.Call, names []string, truth bool) ([]check, bool) {
	arg := func(i int) lang.Expr {
		if i < len(x.Args) {
			return x.Args[i].Value
		}
		return nil
	}
	for _, n := range names {
		switch strings.TrimPrefix(n, "node:") {
		case "isinstance":
			if truth && len(x.Args) == 2 && numeric(arg(1)) {
				return f.checks(arg(0), all), true
			}
		case "Number.isInteger", "Number.isFinite", "Number.isSafeInteger", "uuid.validate", "net.isIP", "net.isIPv4":
			if truth {
				return f.checks(arg(0), all), true
			}
		case "path/filepath.IsLocal":
			if truth {
				return f.checks(arg(0), confined), true
			}
		case "path.isAbsolute", "os.path.isabs", "path/filepath.IsAbs":
			if !truth {
				return f.checks(arg(0), noRoot), true
			}
		case "slices.Contains":
			if truth && len(x.Args) == 2 {
				return f.member(arg(1), arg(0), true), true
			}
		case "strings.Contains":
			if len(x.Args) == 2 {
				return f.member(arg(1), arg(0), truth), true
			}
		case "strings.HasPrefix":
			if len(x.Args) == 2 {
				return f.prefixed(arg(0), arg(1), truth), true
			}
		case "strings.ContainsAny":
			if k, ok := lang.Fold(arg(1)); ok && !truth {
				return f.checks(arg(0), withoutAny(k.Text)), true
			}
		case "re.match", "re.fullmatch", "re.search", "regexp.MatchString":
			if len(x.Args) >= 2 {
				return f.matches(arg(0), arg(1), n[strings.LastIndexByte(n, '.')+1:], truth), true
			}
		}
	}
	return nil, false
}

func numeric(x lang.Expr) bool {
	if c, ok := x.(lang.Collection); ok {
		return len(c.Items) > 0 && !slices.ContainsFunc(c.Items, func(it lang.Item) bool { return !numeric(it.Value) })
	}
	n := lastOf(x)
	return n == "int" || n == "float" || n == "bool"
}

// byMethod is what methods check.
func (f *frame) byMethod(x lang.Call, m lang.Attr, truth bool) []check {
	var first lang.Expr
	if len(x.Args) > 0 {
		first = x.Args[0].Value
	}
	switch m.Name {
	case "includes", "has", "contains", "__contains__", "hasOwnProperty", "hasOwn":
		if first != nil {
			return f.member(first, m.X, truth)
		}
	case "startsWith", "startswith":
		if first != nil {
			return f.prefixed(m.X, first, truth)
		}
	case "is_relative_to":
		if truth && resolved(f.eval(m.X)) {
			return f.checks(m.X, confined)
		}
	case "is_absolute":
		if !truth {
			return f.checks(m.X, noRoot)
		}
	case "isdigit", "isdecimal", "isnumeric", "isalnum", "isalpha", "isidentifier":
		if truth {
			return f.checks(m.X, all)
		}
	case "test", "exec":
		return f.matches(m.X, first, "test", truth)
	case "MatchString":
		return f.matches(m.X, first, "MatchString", truth)
	case "match", "search", "fullmatch":
		if f.src.Language == "Python" {
			return f.matches(m.X, first, m.Name, truth)
		}
		return f.matches(first, m.X, "test", truth)
	case "some", "every":
		if c, ok := first.(*lang.Function); ok && truth {
			return f.impliedByCallback(c, m, truth)
		}
	}
	return nil
}

// impliedByCallback is what list.some(x => …) means for the variables around it.
func (f *frame) impliedByCallback(c *lang.Function, m lang.Attr, truth bool) []check {
	return f.within(func() []check {
		in := f.a.newFrame(f.src, sinks.Body{File: f.src.File, Function: &lang.Function{}}, f.env)
		in.aliases = f.aliases
		for i, p := range c.Params {
			v := nothing
			if i == 0 {
				v = f.eval(m.X).element()
			}
			in.bindParam(p, v)
		}
		var all [][]check
		in.returns(c.Body, nil, truth, &all)
		f.env = in.env
		if len(all) == 0 {
			return nil
		}
		out := all[0]
		for _, more := range all[1:] {
			out = both(out, more)
		}
		return out
	})
}

// returns collects what holds at each return of something that may be true (or false),
// given what holds before. It reports whether the statements always end the function.
func (f *frame) returns(body []lang.Stmt, before []check, truth bool, to *[][]check) bool {
	for _, s := range body {
		if f.a.work--; f.a.work <= 0 {
			return true
		}
		switch s := s.(type) {
		case lang.Return:
			isTrue, isFalse := constantly(s.X)
			switch {
			case s.Op != "return" || truth && isFalse || !truth && isTrue:
			case isTrue || isFalse:
				*to = append(*to, before)
			default:
				*to = append(*to, slices.Concat(before, f.implied(s.X, truth)))
			}
			return true
		case lang.If:
			f.eval(s.Test)
			whenTrue, whenFalse := f.implied(s.Test, true), f.implied(s.Test, false)
			then := onlyWindows(s.Test) || f.returns(s.Then, slices.Concat(before, whenTrue), truth, to)
			other := f.returns(s.Else, slices.Concat(before, whenFalse), truth, to)
			if then && other {
				return true
			}
			if then {
				before = slices.Concat(before, whenFalse)
			}
		case lang.Block:
			if f.returns(s.Body, before, truth, to) {
				return true
			}
		default:
			f.stmt(s)
		}
	}
	return false
}

// constantly is truth without the meaning that results have in Go.
func constantly(x lang.Expr) (isTrue, isFalse bool) {
	if _, ok := x.(lang.Collection); ok {
		return false, false
	}
	return truth(x)
}

// onlyWindows reports whether a condition holds on Windows alone: what it leads to is
// not followed, since servers are run on Linux here.
func onlyWindows(x lang.Expr) bool {
	op, ok := x.(lang.Operation)
	if !ok {
		return false
	}
	switch op.Op {
	case "&&", "and":
		return slices.ContainsFunc(op.Operands, onlyWindows)
	case "==", "===":
		return slices.ContainsFunc(op.Operands, func(o lang.Expr) bool {
			k, ok := o.(lang.Const)
			return ok && (k.Text == "win32" || k.Text == "\\" || k.Text == "nt" || k.Text == "windows" || k.Text == "Windows")
		}) && slices.ContainsFunc(op.Operands, func(o lang.Expr) bool {
			name := lastOf(o)
			return name == "sep" || name == "platform" || name == "name" || name == "GOOS"
		})
	}
	return false
}

// prefixed is what x.startsWith(prefix) means.
func (f *frame) prefixed(x, prefix lang.Expr, truth bool) []check {
	p := f.eval(prefix)
	if !truth {
		switch {
		case !p.known:
		case p.text == "-":
			return f.checks(x, argument)
		case p.text == "/":
			return f.checks(x, noRoot)
		case strings.HasPrefix("../", p.text) && p.text != ".":
			return f.relativeChecks(x)
		}
		return nil
	}
	if p.tainted() {
		return nil
	}
	if rest := schemePrefix.ReplaceAllString(p.text, ""); p.known && rest != p.text && strings.Contains(rest, "/") {
		return f.checks(x, request)
	}
	if endsInSeparator(prefix) && resolved(f.eval(x)) {
		return f.checks(x, confined)
	}
	c := tried
	if p.known && p.text != "" && p.text[0] != '-' {
		c |= argument
	}
	return f.checks(x, c)
}

// relativeChecks is what a way that does not begin with ".." means: the path that it
// leads to stays in its directory. A path that was written so may still have ".." later.
func (f *frame) relativeChecks(x lang.Expr) []check {
	if a, ok := f.aliases[keyOf(x)]; ok && a.relative {
		return f.checks(x, noDots)
	}
	if a, ok := f.aliasOf(x); ok && a.relative {
		return f.checks(x, noDots)
	}
	return nil
}

// endsInSeparator reports whether a prefix ends in the separator of paths.
func endsInSeparator(x lang.Expr) bool {
	switch x := x.(type) {
	case lang.Const:
		return strings.HasSuffix(x.Text, "/") && len(x.Text) > 1 || x.Text == "/"
	case lang.Attr:
		return x.Name == "sep" || x.Name == "Separator"
	case lang.Name:
		return x.ID == "sep" || x.ID == "SEP"
	case lang.Operation:
		return x.Op == "+" && len(x.Operands) > 1 && endsInSeparator(x.Operands[len(x.Operands)-1])
	case lang.Template:
		return len(x.Parts) > 1 && endsInSeparator(x.Parts[len(x.Parts)-1])
	case lang.Call:
		if len(x.Args) == 1 && (lastOf(x.Func) == "string" || lastOf(x.Func) == "str") {
			return endsInSeparator(x.Args[0].Value)
		}
		if lastOf(x.Func) == "join" && len(x.Args) > 1 {
			c, ok := x.Args[len(x.Args)-1].Value.(lang.Const)
			return ok && c.Text == ""
		}
	}
	return false
}
