package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// The rules for what the code does, whoever chooses its arguments.
const (
	ExecDynamic    = "exec-dynamic"
	ShellInjection = "shell-injection"
	RuntimeInstall = "runtime-install"
	FileDelete     = "fs-delete"
	FileWrite      = "fs-write"
	NetEgress      = "net-egress"
	HostHardcoded  = "host-hardcoded"
	CommandExec    = "cmd-exec"
)

// capabilities are the rules for kinds of sinks, one finding for each file.
var capabilities = []struct {
	kind     sinks.Kind
	rule     string
	severity finding.Severity
	text     string
}{
	{sinks.Process, CommandExec, finding.Info, "starts programs"},
	{sinks.Write, FileWrite, finding.Info, "writes files"},
	{sinks.Network, NetEgress, finding.Low, "uses the network"},
	{sinks.Delete, FileDelete, finding.Low, "removes files"},
}

// ofGo are the functions of Go's library that act on the world, which the table of sinks lacks.
var ofGo = map[string]sinks.Kind{
	"os/exec.Command": sinks.Process, "os/exec.CommandContext": sinks.Process, "os.StartProcess": sinks.Process, "syscall.Exec": sinks.Process,
	"os.WriteFile": sinks.Write, "os.Create": sinks.Write, "os.OpenFile": sinks.Write, "os.Mkdir": sinks.Write, "os.MkdirAll": sinks.Write, "os.Rename": sinks.Write,
	"os.Remove": sinks.Delete, "os.RemoveAll": sinks.Delete,
	"net/http.Get": sinks.Network, "net/http.Post": sinks.Network, "net/http.PostForm": sinks.Network, "net/http.NewRequest": sinks.Network, "net/http.NewRequestWithContext": sinks.Network, "net.Dial": sinks.Network, "net.DialTimeout": sinks.Network,
	"net.DialTCP": sinks.Network, "net.DialUDP": sinks.Network, "net.ListenPacket": sinks.Network, "net.ListenUDP": sinks.Network, "crypto/tls.Dial": sinks.Network, "crypto/tls.DialWithDialer": sinks.Network,
	"net/smtp.SendMail": sinks.Network, "net/smtp.Dial": sinks.Network, "log/syslog.Dial": sinks.Network, "net/rpc.Dial": sinks.Network, "net/rpc.DialHTTP": sinks.Network, "net/rpc.DialHTTPPath": sinks.Network, "net/rpc/jsonrpc.Dial": sinks.Network,
}

// blobs are functions that make objects or code of bytes.
var blobs = words("marshal.loads pickle.loads dill.loads cloudpickle.loads")

var (
	// evaluators run text as code. What else evaluates loads modules or templates.
	evaluators = words("eval exec execfile Function vm.runInThisContext vm.runInNewContext vm.runInContext vm.Script vm.compileFunction code.InteractiveInterpreter.runsource types.CodeType")
	// shells run their first argument; of those of subprocess only with shell=True.
	shells      = words("os.system os.popen subprocess.getoutput subprocess.getstatusoutput asyncio.create_subprocess_shell asyncio.subprocess.create_subprocess_shell child_process.exec child_process.execSync shelljs.exec execa.command execa.commandSync get_ipython.system")
	shellOption = words("subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen child_process.spawn child_process.spawnSync child_process.execFile")
	installing  = lazyregexp.New(`(?:^|[\s/])(?:pip3?|uv pip|pipx|npm|pnpm|yarn|bun|gem|cargo|apt|apt-get|apk|brew) (?:global )?(?:install|add|i)(?:\s|$)`)
)

// effects adds the findings for what the code of each file does.
func (a *auditor) effects(pkg *sinks.Package, at *places) {
	for _, f := range a.trees {
		e := &fileEffects{a: a, file: f, facts: pkg.Facts(f.Path), at: at, seen: map[sinks.Kind][]string{}, first: map[sinks.Kind]lang.Pos{}}
		for i := range e.facts.Calls {
			e.call(&e.facts.Calls[i])
		}
		for _, d := range e.facts.Definitions {
			if d.Class != nil {
				e.handed(d.Class.Bases)
			}
		}
		e.tellHosts()
		e.readsCredentials()
		e.builds()
		for _, c := range capabilities {
			if names := e.seen[c.kind]; len(names) > 0 {
				e.add(c.rule, c.severity, e.first[c.kind], c.text+": "+strings.Join(names[:min(len(names), 5)], ", "), "")
			}
		}
	}
}

// fileEffects are those of one file.
type fileEffects struct {
	a     *auditor
	file  *lang.File
	facts *lang.Facts
	at    *places
	// seen are the names of a kind, and first is where the first of them stands.
	seen  map[sinks.Kind][]string
	first map[sinks.Kind]lang.Pos
	// hosts are those that stand in calls of the network, in their order, and hostAt is the first one's place.
	hosts  []string
	hostAt lang.Pos
	// texts are those of the file, once somebody asked for one.
	texts *lang.Texts
}

func (e *fileEffects) add(rule string, sev finding.Severity, pos lang.Pos, message, identity string) {
	e.a.addAt(rule, sev, e.file.Path, e.at, pos, message, identity)
}

// addAt adds a finding at a place of a tree.
func (a *auditor) addAt(rule string, sev finding.Severity, p string, at *places, pos lang.Pos, message, identity string) *finding.Finding {
	src, offset := at.source(p), pos.Offset()
	if lines := at.lines[p]; lines != nil {
		offset = 0
		if pos.Line() > 0 && pos.Line() <= len(lines) {
			offset = lineOffset(src, lines[pos.Line()-1])
		}
	}
	f := a.add(rule, sev, p, src, offset, message, identity)
	if f != nil {
		at.set(f, p, pos)
		f.Evidence[0].Location = f.Location
	}
	return f
}

// note keeps what a function does, by its name and a place.
func (e *fileEffects) note(kinds []sinks.Kind, name string, at lang.Pos) {
	for _, k := range kinds {
		if _, again := e.first[k]; !again {
			e.first[k] = at
		}
		if list := e.seen[k]; len(list) < 5 && !slices.Contains(list, shown(name)) {
			e.seen[k] = append(list, shown(name))
		}
	}
}

// handed notes functions and classes that are handed on, to be called elsewhere: the
// arguments of a call, the bases of a class.
func (e *fileEffects) handed(list []lang.Arg) {
	for _, a := range list {
		switch a.Value.(type) {
		case lang.Name, lang.Attr:
		default:
			continue
		}
		r := e.facts.ReferenceAt(a.Value.Place())
		if r == nil {
			continue
		}
		for _, n := range r.Names {
			if strings.Contains(n, "()") {
				continue // what a call returned
			}
			kinds, name := sinks.Of(e.file.Language, n, nil)
			e.note(kinds, name, r.Start)
		}
	}
}

// call notes what one call does.
func (e *fileEffects) call(c *lang.CallSite) {
	e.handed(c.Call.Args)
	for _, n := range c.Names {
		kinds, name := sinks.Of(e.file.Language, n, &c.Call)
		if k, ok := ofGo[strings.ReplaceAll(n, "()", "")]; ok && e.file.Language == "Go" {
			kinds, name = []sinks.Kind{k}, n
		}
		e.note(kinds, name, c.Call.Start)
		if slices.Contains(kinds, sinks.Network) {
			e.host(e.hostOf(c), c.Call.Start)
		}
		if slices.Contains(kinds, sinks.Process) {
			e.process(c, name)
		}
		if evaluators[name] && len(c.Call.Args) > 0 {
			e.evaluates(c, name)
		}
		if blobs[name] && len(c.Call.Args) > 0 {
			e.unpacks(c, name)
		}
	}
	if isMaker(c.Call.Func) && len(c.Call.Args) > 0 {
		e.evaluates(c, "Function")
	}
}

// isMaker reports whether a callee is the constructor of functions without its name:
// [].constructor.constructor.
func isMaker(x lang.Expr) bool {
	for range 2 {
		switch y := x.(type) {
		case lang.Attr:
			if y.Name != "constructor" {
				return false
			}
			x = y.X
		case lang.Index:
			if len(y.Keys) != 1 || constant(y.Keys[0]) != "constructor" {
				return false
			}
			x = y.X
		default:
			return false
		}
	}
	return true
}

// unpacks judges a call that makes objects or code of bytes: where these stand in the source, nobody reads them.
func (e *fileEffects) unpacks(c *lang.CallSite, name string) {
	stands := false
	lang.WalkExpr(c.Call.Args[0].Value, nil, func(n lang.Node, _ *lang.Scope) bool {
		k, ok := n.(lang.Const)
		stands = stands || ok && (k.Kind == lang.String || k.Kind == lang.Bytes) && len(k.Text) >= minEncoded
		return !stands
	})
	if stands {
		e.add(EncodedCode, finding.Medium, c.Call.Start, "bytes in the source are made into objects or code: "+shown(name), name)
	}
}

// process judges a call that starts a program.
func (e *fileEffects) process(c *lang.CallSite, name string) {
	if len(c.Call.Args) == 0 {
		return
	}
	isFlow := e.at.sinks[sinkPlace{e.file.Path, c.Call.Start.Offset()}]
	if !isFlow && (shells[name] || shellOption[name] && asksForShell(&c.Call)) && isBuilt(c.Call.Args[0].Value) {
		sev := finding.Medium
		if e.at.followed {
			sev = finding.Low // the tools' ways were followed, and none leads here
		}
		e.add(ShellInjection, sev, c.Call.Start, "a shell gets a text that is put together: "+shown(name), name)
	}
	var args []lang.Expr
	for _, arg := range c.Call.Args[:min(len(c.Call.Args), 8)] {
		args = append(args, arg.Value)
	}
	if installing.MatchString(allText(args...)) {
		e.add(RuntimeInstall, finding.High, c.Call.Start, "the code installs packages while it runs: "+shown(name), name)
	}
}

// asksForShell reports whether a call of subprocess or spawn has shell=True.
func asksForShell(c *lang.Call) bool {
	isTrue := func(x lang.Expr) bool {
		k, ok := x.(lang.Const)
		return ok && k.Kind == lang.Bool && strings.EqualFold(k.Text, "true")
	}
	for _, a := range c.Args {
		if a.Name == "shell" && isTrue(a.Value) {
			return true
		}
		if o, ok := a.Value.(lang.Collection); ok && o.Kind == lang.Dict {
			for _, it := range o.Items {
				if k, ok := it.Key.(lang.Const); ok && k.Text == "shell" && isTrue(it.Value) {
					return true
				}
			}
		}
	}
	return false
}

// isBuilt reports whether an expression is a text of parts that are not all constant.
func isBuilt(x lang.Expr) bool {
	if _, ok := lang.Fold(x); ok {
		return false
	}
	switch x := x.(type) {
	case lang.Template:
		return len(x.Parts) > 1
	case lang.Operation:
		return (x.Op == "+" || x.Op == "%") && slices.ContainsFunc(x.Operands, func(o lang.Expr) bool { _, ok := lang.Fold(o); return ok || isBuilt(o) })
	case lang.Call:
		m, ok := x.Func.(lang.Attr)
		if !ok || m.Name != "format" && m.Name != "concat" {
			return false
		}
		k, ok := lang.Fold(m.X)
		return ok && k.Kind == lang.String
	}
	return false
}

// evaluates judges a call that runs text as code: what was decoded or downloaded for it is
// hidden from whoever reads the source.
func (e *fileEffects) evaluates(c *lang.CallSite, name string) {
	arg := c.Call.Args[len(c.Call.Args)-1].Value
	if name != "Function" {
		arg = c.Call.Args[0].Value
	}
	if _, ok := lang.Fold(arg); ok {
		return
	}
	hidden := ""
	note := func(names []string) {
		for _, n := range names {
			kinds, from := sinks.Of(e.file.Language, n, nil)
			if slices.Contains(kinds, sinks.Decode) || slices.Contains(kinds, sinks.Network) || blobs[from] {
				hidden = from
			}
		}
	}
	lang.WalkExpr(arg, nil, func(n lang.Node, _ *lang.Scope) bool {
		switch n.(type) {
		case lang.Call:
			if site := e.facts.CallAt(n.Place()); site != nil {
				note(site.Names)
			}
		case lang.Name:
			if r := e.facts.ReferenceAt(n.Place()); r != nil {
				note(slices.DeleteFunc(slices.Clone(r.Names), func(s string) bool { return !strings.Contains(s, "()") }))
			}
		case *lang.Function:
			return false
		}
		return true
	})
	if hidden != "" {
		e.add(ExecDynamic, finding.High, c.Call.Start, fmt.Sprintf("code is run that comes out of %s: %s", shown(hidden), shown(name)), name)
		return
	}
	if e.at.sinks[sinkPlace{e.file.Path, c.Call.Start.Offset()}] {
		return // the way from the tool says more
	}
	e.add(ExecDynamic, finding.Low, c.Call.Start, "text is run as code: "+shown(name), name)
}

// ofEffects are the rules for what the code does.
func ofEffects() []finding.Rule {
	return []finding.Rule{
		{ID: CommandExec, Name: "CommandExec", Title: "The code starts programs", Severity: finding.Info, Effects: []finding.EffectKind{finding.Exec},
			Help: "A file of the server starts programs. It says what the server can do, and costs no points."},
		{ID: ExecDynamic, Name: "ExecDynamic", Title: "Text is run as code", Severity: finding.High, CWE: []string{"CWE-95"}, OWASP: []string{"MCP05"},
			Help: "`eval`, `exec`, `Function` or the like runs a text that is not constant. High where the text is decoded, decompressed or downloaded for it, which hides what runs from whoever reads the source; else low.\n\n**False positive when** a library makes code of its own, as validators of schemas do."},
		{ID: FileDelete, Name: "FileDelete", Title: "The code removes files", Severity: finding.Low, CWE: []string{"CWE-73"}, OWASP: []string{"MCP02"}, Effects: []finding.EffectKind{finding.FileDelete},
			Help: "A file of the server removes files or directories. A probe shows which.\n\n**False positive when** they are the server's own, such as temporary ones."},
		{ID: FileWrite, Name: "FileWrite", Title: "The code writes files", Severity: finding.Info, Effects: []finding.EffectKind{finding.FileWrite, finding.FileMeta},
			Help: "A file of the server makes or changes files. It says what the server can do, and costs no points."},
		{ID: HostHardcoded, Name: "HostHardcoded", Title: "The code names a host", Severity: finding.Low, OWASP: []string{"MCP10"},
			Help: "The address of a host stands in a call of the network, or in the constant with which its address begins (`BASE + path`, an f-string, `urljoin`, `new URL`). Compare the hosts with what the server says it talks to. It is informational; low is a public address without a name, which no domain's owner answers for."},
		{ID: NetEgress, Name: "NetEgress", Title: "The code uses the network", Severity: finding.Low, CWE: []string{"CWE-200"}, OWASP: []string{"MCP10"}, Effects: []finding.EffectKind{finding.NetConnect, finding.NetListen, finding.UnixSocket},
			Help: "A file of the server connects, sends or listens. A probe shows where to."},
		{ID: RuntimeInstall, Name: "RuntimeInstall", Title: "The code installs packages while it runs", Severity: finding.High, CWE: []string{"CWE-494"}, OWASP: []string{"MCP04"}, Effects: []finding.EffectKind{finding.Exec},
			Help: "The code starts pip, npm or another installer: what runs then is not what was audited. Declare what the server needs."},
		{ID: ShellInjection, Name: "ShellInjection", Title: "A shell's command is put together", Severity: finding.Medium, CWE: []string{"CWE-78"}, OWASP: []string{"MCP05"}, Effects: []finding.EffectKind{finding.Exec},
			Help: "A text that a shell runs has parts that are not constant. Where a tool's caller chooses one, `taint-command` has the way; low is one to which no way from the server's tools leads, where all of them were followed. Give the program and its arguments as a list without a shell."},
	}
}
