package taint

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

var numbers = map[class]string{command: "CWE-78", argument: "CWE-88", pathname: "CWE-22", request: "CWE-918", code: "CWE-94", object: "CWE-502", statement: "CWE-89", selector: "CWE-943", prototype: "CWE-1321"}

// checkSink notes what reaches a call that is a sink.
func (f *frame) checkSink(c *callInfo) {
	f.setsProperties(c)
	f.gitPython(c)
	f.formatsObject(c)
	names := c.canonical
	if c.method != "" && len(c.names) == 0 && len(c.own) == 0 {
		names = []string{"*." + c.method}
	}
	for _, n := range names {
		s, ok := sinkOf(f.src.Language, n, c.method != "")
		if !ok || sinks.IsConstructor(f.src.Language, n) {
			continue
		}
		f.atSink(s, strings.TrimPrefix(n, "*."), c)
		f.guarded(s, strings.TrimPrefix(n, "*."), c)
		return
	}
}

// gitPython notes a call of GitPython, repo.git.diff(target): each method is a command of git,
// and its arguments are git's.
func (f *frame) gitPython(c *callInfo) {
	of, ok := c.receiver.(lang.Attr)
	if !ok || of.Name != "git" || f.src.Language != "Python" || c.method == "" {
		return
	}
	list := append([]*value{constant("git"), constant(c.method)}, c.args...)
	f.argv(list, "git.Repo.git."+c.method, c)
}

// values are the arguments that a sink takes.
func (s *sink) values(c *callInfo) []*value {
	var out []*value
	if s.self && c.recv != nil {
		out = append(out, c.recv)
	}
	for _, i := range s.at {
		if i < len(c.args) {
			out = append(out, c.args[i])
		}
	}
	if s.from >= 0 && s.from < len(c.args) {
		out = append(out, c.args[s.from:]...)
	}
	for _, k := range s.keywords {
		if v := c.named[k]; v != nil {
			out = append(out, v)
		}
	}
	return out
}

func (f *frame) atSink(s sink, name string, c *callInfo) {
	list := s.values(c)
	switch s.effect {
	case toShell:
		for _, v := range list {
			f.report(command, v.flat(), name, c)
		}
	case toRun:
		f.run(list, name, c)
	case toSpawn:
		f.spawn(name, c)
	case toArgv:
		f.argv(list, name, c)
	case toPath:
		for _, v := range list {
			c.end = v.end
			f.report(pathname, v.flat(), name, c)
		}
	case toRequest:
		f.request(s, list, name, c)
	case toCode:
		for _, v := range list {
			later := strings.HasPrefix(name, "set") // setTimeout takes functions too
			if v.call == nil && (!later || isText(v)) {
				f.report(code, v.flat(), name, c)
			}
		}
	case toObject:
		if !loadsSafely(name, c) {
			for _, v := range list {
				f.report(object, v.flat(), name, c)
			}
		}
	case toSelector:
		if f.a.documents() {
			for _, v := range list {
				f.selectBy(v, name, c)
			}
		}
	case toSQL:
		for _, v := range list {
			f.statement(s, v, name, c)
		}
	}
}

func isText(v *value) bool {
	return v.text != "" || slices.ContainsFunc(v.taints, func(t taint) bool { return t.embedded })
}

// request notes a request's address, or the fields of its options that are one.
func (f *frame) request(s sink, list []*value, name string, c *callInfo) {
	for _, v := range list {
		if len(v.fields) == 0 {
			f.report(request, v.flat(), name, c)
			continue
		}
		for _, k := range []string{"url", "uri", "hostname", "host", "baseURL", "baseUrl", "href"} {
			if field := v.fields[k]; field != nil {
				f.report(request, field.flat(), name, c)
			}
		}
	}
}

// statement notes a statement. What may be a method of anything is one of a database
// only where its text is a statement, or the parameter says so.
func (f *frame) statement(s sink, v *value, name string, c *callInfo) {
	var list []taint
	for _, t := range v.taints {
		if t.sql || !t.embedded && says(t.origin, statement) && strings.ContainsAny(name, ".") || !s.method && t.embedded {
			list = append(list, t)
		}
	}
	f.report(statement, list, name, c)
}

// loadsSafely reports whether a call names a loader that makes no objects.
func loadsSafely(name string, c *callInfo) bool {
	for i, a := range c.call.Args {
		switch {
		case a.Name == "Loader" || a.Name == "" && i == 1:
			if l := lastOf(a.Value); strings.Contains(l, "Safe") || l == "BaseLoader" {
				return true
			}
		case a.Name == "weights_only":
			if k, ok := a.Value.(lang.Const); ok && k.Text == "true" {
				return true
			}
		}
	}
	return false
}

// option reports whether a call's option is set: by name, or as a field of an object.
func option(c *callInfo, name string) bool {
	on := func(x lang.Expr) bool {
		k, ok := x.(lang.Const)
		return !ok || k.Text != "false" && k.Kind != lang.Null
	}
	for _, a := range c.call.Args {
		if a.Name == name {
			return on(a.Value)
		}
		if o, ok := a.Value.(lang.Collection); ok && o.Kind == lang.Dict {
			for _, it := range o.Items {
				if k, ok := it.Key.(lang.Const); ok && k.Text == name {
					return on(it.Value)
				}
			}
		}
	}
	return false
}

// run notes the arguments of Python's subprocess.
func (f *frame) run(list []*value, name string, c *callInfo) {
	if len(list) == 0 {
		return
	}
	switch v := list[0]; {
	case option(c, "shell"):
		if v.list && len(v.items) > 0 {
			v = v.items[0]
		}
		f.report(command, v.flat(), name, c)
	case v.list:
		f.argv(append(slices.Clone(v.items), &value{taints: v.taints}), name, c)
	default:
		f.report(command, v.flat(), name, c)
	}
}

// spawn notes the arguments of JavaScript's spawn and execFile.
func (f *frame) spawn(name string, c *callInfo) {
	if len(c.args) == 0 {
		return
	}
	if option(c, "shell") {
		f.report(command, c.args[0].flat(), name, c)
		if len(c.args) > 1 && isArguments(c.args[1]) {
			f.report(command, c.args[1].flat(), name, c)
		}
		return
	}
	list := []*value{c.args[0]}
	if c.args[0].list { // Bun.spawn([program, …])
		list = c.args[0].items
	} else if len(c.args) > 1 && isArguments(c.args[1]) {
		list = append(list, c.args[1].items...)
		if len(c.args[1].taints) > 0 {
			list = append(list, &value{taints: c.args[1].taints})
		}
	}
	f.argv(list, name, c)
}

// isArguments reports whether the second argument of a spawn is its list: it may be
// left out, and what has properties is its options.
func isArguments(v *value) bool { return v.list || len(v.taints) > 0 && len(v.fields) == 0 }

var (
	// shells run the argument behind one of shellOptions, and interpreters behind theirs.
	shells       = set("sh bash zsh dash ksh ash fish cmd cmd.exe powershell powershell.exe pwsh /bin/sh /bin/bash /usr/bin/bash /bin/zsh")
	interpreters = set("python python3 node perl ruby php deno bun /usr/bin/python3 osascript sys.executable")
	// scripted take a script as their first argument that is no option, or behind one of scriptOptions, and run what
	// it says: sed has the flag e, awk has system(). The option --sandbox of GNU's takes both away.
	scripted      = set("sed gsed awk gawk mawk nawk")
	scriptOptions = set("-e --expression --source")
	runOptions    = set("-c -lc -ic -e -r /c /C -Command -command --eval -EncodedCommand -p")
)

// argv notes the program and the arguments of a process. A parameter that may begin with
// a dash is an option to the program, unless an option that takes it, or "--", stands before it.
func (f *frame) argv(list []*value, name string, c *callInfo) {
	if len(list) == 0 {
		return
	}
	if list[0].list {
		list = append(slices.Clone(list[0].items), list[1:]...)
		if len(list) == 0 {
			return
		}
	}
	var flat []*value
	for _, v := range list {
		if v.list && len(v.items) > 0 {
			flat = append(flat, v.items...)
		} else {
			flat = append(flat, v)
		}
	}
	f.report(command, flat[0].flat(), name, c)
	program := flat[0].text
	if flat[0].known {
		c.program = path.Base(strings.TrimSuffix(program, ".exe"))
	}
	runs, of := class(0), false
	takesScript := scripted[c.program] && !slices.ContainsFunc(flat, func(v *value) bool { return v.known && v.text == "--sandbox" })
	script := takesScript
	for _, v := range flat[1:] {
		switch {
		case script && !of && (v.tainted() || v.text != "" && v.text[0] != '-'):
			f.report(code, partOf(v.flat()), name, c)
			script = false
			continue
		case runs != 0 && v.tainted():
			f.report(runs, v.flat(), name, c)
			runs = 0
			continue
		case v.known && v.text == "--":
			return
		case v.known && takesScript && scriptOptions[v.text]:
			script = true
			continue
		case v.known:
			of = takesValue(c.program, v.text)
			script = script && v.text != "-f" && v.text != "--file"
			if shells[program] && runOptions[v.text] {
				runs = command
			} else if interpreters[program] && runOptions[v.text] {
				runs = code
			}
			continue
		case v.tainted() && !of:
			f.report(argument, slices.DeleteFunc(v.flat(), func(t taint) bool { return t.resolved || t.joined }), name, c)
		}
		of = false
	}
}

// partOf are taints whose parameter does not say that its caller writes a script, whatever its name is.
func partOf(list []taint) []taint {
	out := slices.Clone(list)
	for i := range out {
		out[i].embedded = true
	}
	return out
}

// switches are options without a value: long ones of any program, and the letters of some.
var (
	switches = set("--all --force --verbose --quiet --silent --recursive --json --version --help --oneline --stat --numstat --cached --staged --porcelain --dry-run --yes --fail --location --insecure --bare --recurse-submodules --name-only --name-status --no-color --no-pager")
	letters  = map[string]string{"sed": "nErsuz", "gsed": "nErsuz", "tar": "xctzjJvkpu", "grep": "rRinlLvwxcEFHhqsoP", "ls": "alhtrRS1dF", "rsync": "avzrnuP", "curl": "sSLIkfvig", "cp": "rRapfvn", "rm": "rfiv", "mv": "fivn", "cat": "nAbes", "wc": "lwcmL", "git": "vqpza", "zip": "rqj9", "unzip": "oqjnl"}
)

// takesValue reports whether an option of a program may take the next argument: -o, --output,
// but not a cluster of letters such as -sI.
func takesValue(program, option string) bool {
	cluster, dash := strings.CutPrefix(option, "-")
	if !dash || cluster == "" || switches[option] || len(cluster) == 1 && strings.Contains(letters[program], cluster) {
		return false
	}
	if cluster[0] == '-' || len(cluster) == 1 {
		return !strings.Contains(cluster, "=")
	}
	return len(cluster) > 3 || strings.ContainsAny(cluster[len(cluster)-1:], "feomc")
}

// report notes the taints that reach a sink and are not harmless there.
func (f *frame) report(c class, list []taint, name string, at *callInfo) {
	for _, t := range list {
		if t.safe&c != 0 || (t.embedded || t.joined) && capableOfAll(c, t.origin, list) {
			continue
		}
		part := t.embedded || t.joined
		fl := Flow{
			CWE: numbers[c], Tool: f.a.tool, Parameter: parameterOf(t.origin), Sink: name, Function: f.name,
			File: f.src.Path, Place: at.call.Span, Part: part, Capability: capable(c, t), Checked: t.safe&tried != 0,
		}
		switch c {
		case argument:
			fl.Program = at.program
		case pathname:
			fl.Ending, fl.Does = extension(at.end), f.doing(name, at)
		}
		end := &way{Step: Step{File: f.src.Path, Span: at.call.Span, Text: "reaches " + name}, before: t.way}
		fl.Steps = end.steps()
		f.a.found(fl)
	}
}

// extension is that of a file whose name ends so, "" for none.
func extension(end string) string {
	dot := strings.LastIndexByte(end, '.')
	if dot < 0 || dot == len(end)-1 || strings.ContainsAny(end[dot:], "/\\ ") {
		return ""
	}
	return end[dot:]
}

// listing are the sinks of paths that tell names alone.
var listing = set(`
	os.listdir os.scandir os.walk glob.glob glob.iglob aiofiles.os.listdir pathlib.Path.iterdir pathlib.Path.glob pathlib.Path.rglob iterdir rglob
	fs.readdir fs.readdirSync fs.opendir Deno.readDir os.ReadDir io/ioutil.ReadDir path/filepath.Walk path/filepath.WalkDir path/filepath.Glob`)

// doing is what a sink does with the file that a path leads to.
func (f *frame) doing(name string, at *callInfo) Doing {
	if listing[name] {
		return Lists
	}
	for _, n := range append(slices.Clone(at.names), name) {
		if kinds, _ := sinks.Of(f.src.Language, n, &at.call); len(kinds) == 1 && kinds[0] == sinks.Read {
			return Reads
		}
	}
	return ""
}

// capableOfAll reports whether a parameter also reaches the sink as the whole of what its name
// says: what else it reaches as a part then gives its caller nothing more.
func capableOfAll(c class, origin string, list []taint) bool {
	return slices.ContainsFunc(list, func(t taint) bool { return t.origin == origin && t.safe&c == 0 && capable(c, t) })
}

// capable reports whether a parameter chooses the whole of what its name says.
func capable(c class, t taint) bool {
	if c == object || c == prototype || t.joined || strings.HasPrefix(t.origin, sharedOrigin) || c == pathname && t.safe&tried != 0 {
		return false
	}
	if c == pathname && t.embedded {
		return says(t.origin, c) // within a directory that the caller chose, or a suffix
	}
	return !t.embedded && says(t.origin, c)
}
