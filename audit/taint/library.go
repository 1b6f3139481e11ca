package taint

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// joining is how a function joins paths.
type joining int

const (
	// joinPlain keeps ".." and starts again at an absolute part, as Python does.
	joinPlain joining = iota
	// joinClean resolves ".." and puts an absolute part below, as path.join of Node does.
	joinClean
	// joinResolve resolves ".." and starts again at an absolute part.
	joinResolve
)

var joins = map[string]joining{
	"os.path.join": joinPlain, "pathlib.Path": joinPlain, "pathlib.PurePath": joinPlain, "pathlib.PosixPath": joinPlain, "anyio.Path": joinPlain, "pathlib.Path.joinpath": joinPlain,
	"path.join": joinClean, "path.posix.join": joinClean, "path/filepath.Join": joinClean, "path.Join": joinClean,
	"path.resolve": joinResolve, "path.posix.resolve": joinResolve,
}

// normalizers make a path absolute or plain: what is checked of the result is checked of the file.
var normalizers = set("os.path.realpath os.path.abspath os.path.normpath fs.realpath fs.realpathSync fs.realpath.native path.normalize path.posix.normalize path/filepath.Clean path/filepath.Abs path/filepath.EvalSymlinks path.Clean util.promisify.realpath os.path.expanduser os.path.expandvars os.path.normcase")

// resolving are those of the normalizers that take ".." away.
var resolving = set("os.path.realpath os.path.abspath os.path.normpath fs.realpath fs.realpathSync path.normalize path.posix.normalize path/filepath.Clean path/filepath.Abs path/filepath.EvalSymlinks path.Clean")

// here are functions that return a directory that the user chose.
var here = set("process.cwd os.getcwd pathlib.Path.cwd os.Getwd os.homedir pathlib.Path.home os.UserHomeDir os.tmpdir")

// later are functions that call their argument with those behind it.
var later = map[string]int{"asyncio.to_thread": 0, "anyio.to_thread.run_sync": 0, "functools.partial": 0, "asyncio.create_task": 0, "threading.Thread": 0, "setTimeout": 0, "setImmediate": 0, "process.nextTick": 0, "starlette.concurrency.run_in_threadpool": 0}

// joinPath is a path that is made of parts.
func (f *frame) joinPath(parts []*value, how joining) *value {
	if len(parts) == 1 {
		out := parts[0].plain()
		if how == joinResolve {
			out = out.with(func(t *taint) { t.resolved = true })
		}
		out.end = parts[0].end
		return out
	}
	out := &value{}
	if n := len(parts); n > 0 {
		out.end, out.made = parts[n-1].ending(), ownPlace(parts)
	}
	chosen, fixed := false, false // by the caller, by the server
	for i, p := range parts {
		for _, t := range p.flat() {
			t.resolved = t.resolved && how == joinPlain && i == 0 || how != joinPlain
			if i > 0 {
				t.safe |= argument
			}
			if fixed && !chosen {
				t.joined = true
				if t.safe&noDots != 0 && (how == joinClean || t.safe&noRoot != 0) {
					t.safe |= pathname
				}
			}
			out.taints = addTaints(out.taints, []taint{t.within(p)})
		}
		switch {
		case p.tainted():
			chosen = true
		case p.made == "cwd" || p.known && (p.text == "." || p.text == "" || p.text == "/"):
		default:
			fixed = true
		}
	}
	if len(parts) > 0 && parts[0].made == "cwd" && !out.tainted() {
		out.made = "cwd"
	}
	if out.tainted() {
		out.made = ""
	}
	return out
}

// own is the directory of the server's code, and within one in it.
const own, within = "own", "within"

// ownPlace is own or within for constant parts behind the directory of the server's code.
func ownPlace(parts []*value) string {
	if parts[0].made != own && parts[0].made != within {
		return ""
	}
	for _, p := range parts[1:] {
		if !p.known || strings.HasPrefix(p.text, "/") {
			return ""
		}
	}
	if last := strings.TrimRight(parts[len(parts)-1].text, "/"); last != "" && !strings.HasSuffix(last, ".") {
		return within
	}
	return own
}

// ownKeepers are functions that lead from a file of the server's code to its directory, or make that plain.
var ownKeepers = set("path.dirname path.posix.dirname path.resolve path.normalize url.fileURLToPath os.path.dirname os.path.abspath os.path.realpath os.path.normpath pathlib.Path fs.realpathSync importlib.resources.files")

// library is the result of a function of a library, by its canonical names.
func (f *frame) library(c *callInfo) *value {
	if v := f.ofGuards(c); v != nil {
		return v
	}
	for _, n := range c.canonical {
		if v := f.known(n, c); v != nil {
			return v
		}
	}
	if c.method != "" {
		if c.recv != nil && (c.recv.made == own || c.recv.made == within) {
			switch c.method {
			case "resolve", "absolute":
				return c.recv
			case "joinpath":
				return f.joinPath(append([]*value{c.recv}, c.args...), joinPlain)
			}
		}
		if v := f.methodResult(c); v != nil {
			return v
		}
	}
	return f.callbacks(c)
}

// known is the result of a function that has an entry.
func (f *frame) known(n string, c *callInfo) *value {
	if len(c.args) == 1 && c.args[0].made == own && ownKeepers[n] || len(c.args) == 1 && c.args[0].made == within && n != "path.dirname" && n != "os.path.dirname" && ownKeepers[n] {
		return c.args[0]
	}
	if how, ok := joins[n]; ok {
		parts := c.args
		if c.recv != nil && strings.HasSuffix(n, ".joinpath") {
			parts = append([]*value{c.recv}, parts...)
		}
		out := f.joinPath(parts, how)
		if strings.HasPrefix(n, "pathlib.") || strings.HasPrefix(n, "anyio.") {
			v := *out
			if v.made == "" {
				v.made = "path"
			}
			return &v
		}
		return out
	}
	if v := f.attributeBy(n, c); v != nil {
		return v
	}
	switch {
	case here[n]:
		return &value{made: "cwd"}
	case normalizers[n]:
		v := union(c.args).plain().with(func(t *taint) { t.resolved = t.resolved || resolving[n] })
		if len(c.args) == 1 {
			v.end = c.args[0].end
		}
		return v
	case ends[n] != 0:
		return union(c.all()).plain().safer(ends[n])
	case n == "re.sub" || n == "re.subn":
		return f.substituted(c)
	case n == "fmt.Sprintf" || n == "util.format" || n == "fmt.Errorf" || n == "fmt.Appendf":
		if n == "fmt.Errorf" || len(c.args) == 0 {
			return nothing
		}
		return f.formatted(c.args[0], c.args[1:])
	case n == "fmt.Sprint" || n == "fmt.Sprintln":
		return f.concat(c.args)
	case n == "shlex.split" && len(c.args) > 0:
		return commandLine(c.args[0])
	case n == "strings.Join" && len(c.args) == 2:
		return f.concat([]*value{c.args[0].element(), c.args[1]})
	case n == "encoding/json.Unmarshal" && len(c.call.Args) == 2:
		f.store(c.call.Args[1].Value, c.args[0])
		return nothing
	case n == "append":
		return appended(c)
	case opened[n]:
		out := union(c.args).plain()
		if len(c.args) > 0 && isShared(c.args[0]) {
			out = f.sharedFile(c)
		}
		return out.safer(all &^ (object | code))
	}
	if made, ok := makers[n]; ok {
		return f.madeURL(made, c)
	}
	if keeps[n] {
		return f.kept(n, c)
	}
	if at, ok := later[n]; ok && len(c.args) > at {
		return f.calledLater(c, at)
	}
	return nil
}

// opened are functions that open a file: what is in it is the caller's choice where it is run or made into objects.
var opened = set("open io.open codecs.open gzip.open bz2.open aiofiles.open pathlib.Path.open pathlib.Path.read_bytes pathlib.Path.read_text fs.readFile fs.readFileSync os.ReadFile")

// kept is the result of a function that keeps what it is given.
func (f *frame) kept(n string, c *callInfo) *value {
	if at, ok := later[n]; ok && len(c.args) > at {
		return f.calledLater(c, at)
	}
	list := c.all()
	if n == "urllib.request.Request" || n == "Request" {
		list = requestParts(c)
	}
	if out := retyped(n, list); out != nil {
		return out
	}
	if len(list) == 1 {
		switch n {
		case "dict", "list", "Object.freeze", "structuredClone", "copy.copy", "copy.deepcopy", "Promise.resolve", "cast", "tuple", "set", "Set", "Array.from", "sorted", "asyncio.gather", "Promise.all", "encoding/json.Marshal", "Request", "iter":
			return list[0]
		}
		return list[0].plain().withoutMade()
	}
	if n == "Object.assign" {
		out := &value{}
		for _, v := range list {
			out.spread(v)
		}
		return out
	}
	if n == "dict" {
		out := &value{}
		for k, v := range c.named {
			out.set(k, v)
		}
		for _, v := range c.args {
			out.spread(v)
		}
		return out
	}
	return union(list).plain().withoutMade()
}

func (v *value) withoutMade() *value {
	if v.made == "" {
		return v
	}
	out := *v
	out.made = ""
	return &out
}

// union is what is any of some values.
func union(list []*value) *value {
	out := nothing
	for _, v := range list {
		out = merge(out, v)
	}
	return out
}

// appended is a list with more items, of Go.
func appended(c *callInfo) *value {
	if len(c.args) == 0 {
		return nothing
	}
	out := *c.args[0]
	out.list = true
	out.items = slices.Clone(out.items)
	for i, a := range c.args[1:] {
		if i+1 < len(c.call.Args) {
			if _, ok := c.call.Args[i+1].Value.(lang.Spread); ok {
				out.spread(a)
				continue
			}
		}
		out.items = append(out.items, a)
	}
	return &out
}

// store gives a target of a call its value: json.Unmarshal(data, &args).
func (f *frame) store(target lang.Expr, v *value) {
	if op, ok := target.(lang.Operation); ok && op.Op == "&" && len(op.Operands) == 1 {
		target = op.Operands[0]
	}
	if v.tainted() {
		f.bind(target, v, false)
	}
}

// adders are methods that add their argument to the receiver.
var adders = set("append push add extend insert unshift update set WriteString Write appendleft")

// elements are methods that call a function with each element of the receiver.
var elements = set("map filter forEach some every find findIndex flatMap then sort catch finally")

// methodResult is the result of a method of something, nil where it is not known.
func (f *frame) methodResult(c *callInfo) *value {
	recv := c.recv
	if c := endMethods[c.method]; c != 0 {
		return nothing
	}
	switch {
	case adders[c.method]:
		f.added(c)
		return recv
	case (c.method == "reduce" || c.method == "reduceRight") && c.hasFunction():
		return f.reduced(c)
	case elements[c.method] && c.hasFunction():
		return f.eachElement(c)
	case c.method == "call" || c.method == "apply" || c.method == "bind":
		return nil
	}
	if !recv.tainted() && !union(c.args).tainted() {
		return nil
	}
	switch c.method {
	case "join":
		if len(c.args) == 1 && f.src.Language == "Python" { // "between".join(list)
			return f.joined(c.args[0], recv)
		}
		return f.joined(recv, union(c.args))
	case "format":
		return f.formatted(recv, c.all())
	case "concat":
		return f.concat(append([]*value{recv}, c.args...))
	case "replace", "replaceAll":
		return f.substituted(c)
	case "resolve", "realpath":
		return recv.plain().with(func(t *taint) { t.resolved = true })
	case "joinpath":
		return f.joinPath(append([]*value{recv}, c.args...), joinPlain)
	case "get", "pop", "setdefault", "GetString", "RequireString", "GetStringSlice", "RequireStringSlice", "ParseString", "Get":
		if len(c.args) > 0 && c.args[0].known {
			return f.stepped(recv.field(c.args[0].text), c.call.Span, "the argument "+c.args[0].text)
		}
		return recv.element()
	case "GetArguments", "GetRawArguments":
		return recv
	case "BindArguments", "bindArguments":
		if len(c.call.Args) == 1 {
			f.store(c.call.Args[0].Value, recv)
		}
		return nothing
	case "copy", "dict", "model_dump", "toJSON", "then", "unwrap":
		return recv
	case "parse", "safeParse", "parseAsync", "safeParseAsync", "model_validate", "validate", "cast":
		return f.parsed(c)
	}
	if keepMethods[c.method] && recv.tainted() {
		if ofText[c.method] {
			return recv.plain().safer(selector)
		}
		return recv.plain()
	}
	return nil
}

// joined is a list as a text.
func (f *frame) joined(list, between *value) *value {
	if !list.list || len(list.items) == 0 {
		return list.plain().with(func(t *taint) { t.embedded = true })
	}
	var parts []*value
	for i, v := range list.items {
		if i > 0 {
			parts = append(parts, between)
		}
		parts = append(parts, v.plain())
	}
	return f.concat(parts)
}

// added keeps what a method adds to its receiver.
func (f *frame) added(c *callInfo) {
	key := keyOf(c.receiver)
	if key == "" || len(c.args) == 0 {
		return
	}
	out := *c.recv
	if strings.HasSuffix(key, ".searchParams") {
		c.args = inQuery(c.args)
	}
	switch c.method {
	case "set", "update", "WriteString", "Write":
		v := union(c.args)
		if !v.tainted() {
			return
		}
		if c.method == "update" {
			out.spread(v)
			break
		}
		out.taints = addTaints(out.taints, v.plain().with(func(t *taint) { t.embedded = true }).taints)
	case "extend":
		out.list = true
		out.spread(c.args[0])
	case "unshift", "insert", "appendleft":
		out.list = true
		out.items = append([]*value{c.args[len(c.args)-1]}, out.items...)
	default:
		out.list = true
		out.items = slices.Clone(out.items)
		for i, a := range c.args {
			if i < len(c.call.Args) {
				if _, ok := c.call.Args[i].Value.(lang.Spread); ok {
					out.spread(a)
					continue
				}
			}
			if len(out.items) < maxFields {
				out.items = append(out.items, a)
			}
		}
	}
	f.env.set(key, &out)
}

// inQuery are values as a URL's query holds them: percent-encoded, behind its host and its path.
func inQuery(list []*value) []*value {
	out := make([]*value, len(list))
	for i, v := range list {
		out[i] = v.with(func(t *taint) { t.safe, t.embedded = t.safe|request|pathname|argument|noRoot, true })
	}
	return out
}

// substituted is a text in which a pattern was replaced: what an allow-list leaves is harmless.
func (f *frame) substituted(c *callInfo) *value {
	pattern, text, with := c.arg(0), c.recv, c.arg(1)
	var x lang.Expr
	if len(c.call.Args) > 0 {
		x = c.call.Args[0].Value
	}
	if c.method == "sub" || c.method == "subn" || text == nil {
		text = c.arg(2)
	}
	if c.method == "replaceAll" || c.method == "replace" && f.src.Language == "Python" {
		out := text.plain()
		if tree, err := syntax.Parse(regexp.QuoteMeta(pattern.text), syntax.Perl); err == nil && pattern.known && with.known && c.arg(2) == nothing && c.named["count"] == nil {
			out = out.safer(leftBy(ofTree(tree), with.text))
		}
		if with.tainted() {
			out = merge(out, with.plain())
		}
		if k, ok := x.(lang.Const); !ok || k.Kind != lang.Regexp {
			return out
		}
	}
	if c.method == "sub" && c.recv != nil && c.recv != nothing && len(c.call.Args) == 2 { // of a compiled pattern
		return c.arg(1).plain()
	}
	safe := class(0)
	if p, ok := f.pattern(x, pattern); ok && !with.tainted() && f.replacesAll(c, p, x) {
		safe = leftBy(p, with.text)
	}
	out := text.plain().safer(safe)
	if with.tainted() {
		out = merge(out, with.plain())
	}
	return out
}

// replacesAll reports whether a substitution takes every place. That of JavaScript takes
// the first one without the flag g, and that of Python as many as its count.
func (f *frame) replacesAll(c *callInfo, p pattern, x lang.Expr) bool {
	switch f.src.Language {
	case "JavaScript":
		k, isConst := x.(lang.Const)
		return p.global && (!isConst || k.Kind == lang.Regexp)
	case "Python":
		at := 3 // re.sub(pattern, with, text, count)
		if c.names == nil {
			at = 2
		}
		return c.named["count"] == nil && c.arg(at) == nothing
	}
	return true
}
