package taint

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

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
			if truth && len(x.Args) == 2 && lastOf(arg(1)) == "str" {
				return f.checks(arg(0), selector), true
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

// addressParsers read the address of a host, and raise an error for anything else.
var addressParsers = set("ipaddress.ip_address ipaddress.ip_network ipaddress.ip_interface ipaddress.IPv4Address ipaddress.IPv6Address ipaddress.IPv4Network ipaddress.IPv6Network")

// addressed are the variables that are harmless once a call has returned: what is no address raises an error.
func (f *frame) addressed(x lang.Call) []check {
	site := f.src.facts.CallAt(x.Place())
	if site == nil || len(x.Args) == 0 || !slices.ContainsFunc(site.Names, func(n string) bool { return addressParsers[n] }) {
		return nil
	}
	return f.checks(x.Args[0].Value, all&^request)
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
	case "hasOwn", "call": // Object.hasOwn(object, key), hasOwnProperty.call(object, key)
		if len(x.Args) == 2 && (m.Name == "hasOwn" || lastOf(m.X) == "hasOwnProperty") {
			return f.member(x.Args[1].Value, first, truth)
		}
	case "includes", "has", "contains", "__contains__", "hasOwnProperty":
		if first != nil {
			return f.member(first, m.X, truth)
		}
	case "startsWith", "startswith":
		if first != nil {
			return f.prefixed(m.X, first, truth)
		}
	case "endsWith", "endswith":
		if v := f.eval(first); truth && v.known && v.text != "" && keyOf(m.X) != "" {
			return []check{{key: keyOf(m.X), end: v.text}}
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
			then := onlyWindows(s.Test) || f.skipsCheck(s) || f.returns(s.Then, slices.Concat(before, whenTrue), truth, to)
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

// skipsCheck reports whether a branch does nothing but leave the function, and only where the operator says so: what
// the function checks behind it is checked for everybody else.
func (f *frame) skipsCheck(s lang.If) bool {
	if len(s.Then) != 1 {
		return false
	}
	r, ok := s.Then[0].(lang.Return)
	if !ok || r.Op != "return" {
		return false
	}
	_, isFalse := truth(r.X)
	return isFalse && f.switchedOff(s.Test)
}

// switchedOff reports whether a condition holds only where the operator set a variable of the environment
// to some text. It may stand in a function of its own.
func (f *frame) switchedOff(x lang.Expr) bool {
	switch x := x.(type) {
	case lang.Operation:
		switch x.Op {
		case "&&", "and":
			return slices.ContainsFunc(x.Operands, f.switchedOff)
		case "==", "===":
			return len(x.Operands) == 2 && (ofEnvironment(x.Operands[0]) && isLiteral(x.Operands[1]) || ofEnvironment(x.Operands[1]) && isLiteral(x.Operands[0]))
		}
	case lang.Call:
		site := f.src.facts.CallAt(x.Place())
		if site == nil || len(x.Args) > 0 {
			return false
		}
		ids := f.a.pkg.Targets(f.src.Path, site.Names, site.Own)
		if len(ids) != 1 {
			return false
		}
		b, ok := f.a.pkg.Body(ids[0])
		if !ok || b.Function == nil || len(b.Function.Body) != 1 {
			return false
		}
		r, ok := b.Function.Body[0].(lang.Return)
		if _, calls := r.X.(lang.Call); !ok || calls {
			return false
		}
		return f.switchedOff(r.X)
	}
	return false
}

// ofEnvironment reports whether an expression is a variable of the environment: process.env.NAME,
// os.environ.get("NAME"), os.Getenv("NAME").
func ofEnvironment(x lang.Expr) bool {
	switch x := x.(type) {
	case lang.Attr:
		return lang.IsEnviron(x.X)
	case lang.Index:
		return len(x.Keys) == 1 && lang.IsEnviron(x.X)
	case lang.Call:
		name := lastOf(x.Func)
		of, isMethod := x.Func.(lang.Attr)
		return len(x.Args) == 1 && (name == "getenv" || name == "Getenv" || name == "get" && isMethod && lang.IsEnviron(of.X))
	}
	return false
}

// isLiteral reports whether an expression is a text that is not empty.
func isLiteral(x lang.Expr) bool {
	c, ok := x.(lang.Const)
	return ok && c.Kind == lang.String && c.Text != ""
}

// never reports whether a condition cannot hold: a text ends otherwise.
func (f *frame) never(x lang.Expr) bool {
	c, ok := x.(lang.Call)
	if !ok || len(c.Args) != 1 {
		return false
	}
	m, ok := c.Func.(lang.Attr)
	if !ok || m.Name != "endsWith" && m.Name != "endswith" {
		return false
	}
	end, with := f.eval(m.X).end, f.eval(c.Args[0].Value)
	return end != "" && with.known && len(with.text) <= len(end) && !strings.HasSuffix(end, with.text)
}

// prefixed is what x.startsWith(prefix) means.
func (f *frame) prefixed(x, prefix lang.Expr, truth bool) []check {
	p := f.eval(prefix)
	if !truth {
		switch {
		case !p.known:
		case p.text == "-":
			return f.checks(x, argument)
		case p.text == "_" || p.text == "__":
			if f.src.Language == "Python" {
				return f.checks(x, ordinaryKey)
			}
			return f.checks(x, noProto)
		case p.text == "/":
			return f.checks(x, noRoot)
		case p.text == ".." || p.text == "../":
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
	// What begins like a directory of the server's own code, but is not in it, is its own too.
	if (endsInSeparator(prefix) || p.made == within) && resolved(f.eval(x)) {
		return f.checks(x, confined)
	}
	c := tried
	if p.known && scheme.MatchString(p.text) {
		c = 0 // it tells kinds of addresses apart
	}
	if p.known && strings.HasSuffix(p.text, " ") { // the program of a command line
		out := f.checks(x, c)
		if len(out) > 0 {
			out[0].begin = p.text
		}
		return out
	}
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
