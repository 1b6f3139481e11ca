package handout

import (
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

var (
	// environments are the whole environment in Python and JavaScript.
	environments = set("os.environ environ process.env os.environb Deno.env.toObject() import.meta.env")
	// oneOf are functions that return one variable.
	oneOf = set("os.getenv os.environ.get getenv environ.get Deno.env.get core.getInput")
	// openers return or name what is in a file.
	openers = lazyregexp.New(`(?:^|\.)(?:open|readFile|readFileSync|createReadStream|Path|read_text|expanduser|join|resolve|readTextFile|file)$`)
	// runners run a text in a shell.
	runners = lazyregexp.New(`(?:^|\.)(?:system|popen|check_output|run|Popen|call|exec|execSync|spawnSync)$`)
	// requesters send to the address that they are given.
	requesters = lazyregexp.New(`(?:^|\.)(?:fetch|post|put|patch|get|request|urlopen|Request|sendBeacon|axios|got|ajax|upload|WebSocket|create_connection|connect|createConnection|urlretrieve)$`)
	// writers send through a connection.
	writers  = lazyregexp.New(`\.(?:write|end|send|sendall|sendto|emit|request|putrequest)$`)
	loginKey = lazyregexp.New(`(?i)^(?:proxy-)?authorization$|^(?:x-)?(?:api-?key|auth(?:-?token)?|private-token|access-?token|github-token)$|^cookie$|^auth$`)
)

// calledFunction is the secret in what a function of Python or JavaScript comes to.
func (f *flow) calledFunction(c lang.Call) (s secret) {
	name := dotted(c.Func)
	if environments[name] || environments[name+"()"] {
		return secret{what: wholeEnvironment}
	}
	if oneOf[name] && len(c.Args) > 0 {
		return ofName(word(c.Args[0].Value))
	}
	if runners.MatchString(name) {
		for _, a := range c.Args {
			s = worse(s, shellValue(f.word(a.Value)))
		}
	}
	if openers.MatchString(name) {
		for _, a := range c.Args {
			s = worse(s, ofFile(f.path(a.Value)))
		}
	}
	for _, a := range c.Args {
		s = worse(s, f.value(a.Value))
	}
	if a, ok := c.Func.(lang.Attr); ok {
		s = worse(s, f.value(a.X))
	}
	return s
}

// path is a text that names a file, by its parts.
func (f *flow) path(x lang.Expr) string {
	if w := f.word(x); w != "" {
		return strings.ReplaceAll(w, "\x00", "~")
	}
	if c, ok := x.(lang.Call); ok {
		var parts []string
		for _, a := range c.Args {
			parts = append(parts, f.path(a.Value))
		}
		return strings.Join(parts, "/")
	}
	return ""
}

// shellValue is the secret that a command of a shell prints.
func shellValue(code string) (s secret) {
	if code == "" {
		return s
	}
	f := newFlow(shellCode, nil, maxNested)
	for _, st := range parse(shellCode, code).Body {
		if e, ok := st.(lang.ExprStmt); ok {
			s = worse(s, f.value(e.X))
		}
	}
	return s
}

// connection is the host that a call connects with.
func (f *flow) connection(x lang.Expr) string {
	c, ok := x.(lang.Call)
	if !ok {
		return ""
	}
	for _, a := range c.Args {
		if h := f.hostOf(a.Value); h != "" {
			return h
		}
	}
	return ""
}

// hostOf is the host in an argument: of an address, of ("host", port), of {hostname: "host"}.
func (f *flow) hostOf(x lang.Expr) string {
	if h := hostIn(f.word(x)); h != "" {
		return h
	}
	list, ok := x.(lang.Collection)
	if !ok {
		return ""
	}
	for i, it := range list.Items {
		k := word(it.Key)
		if k == "hostname" || k == "host" || k == "url" || k == "uri" || it.Key == nil && i == 0 && list.Kind == lang.Tuple {
			w := f.word(it.Value)
			if m := bareHost.FindStringSubmatch(w); m != nil {
				return m[1]
			}
			return hostIn(w)
		}
	}
	return ""
}

// checkCall judges a call of Python or JavaScript.
func (f *flow) checkCall(c lang.Call) {
	name := dotted(c.Func)
	if name == "" {
		if a, ok := c.Func.(lang.Attr); ok {
			name = "." + a.Name
		}
	}
	if runners.MatchString(name) {
		for _, a := range c.Args {
			f.nested(strings.ReplaceAll(f.word(a.Value), "\x00", "x"))
		}
	}
	var sent secret
	for _, a := range c.Args {
		s := f.value(a.Value)
		s.login = !s.none() && (s.login || loginKey.MatchString(a.Name) || a.Name == "params" || strings.Contains(f.word(a.Value), "://"))
		sent = worse(sent, s)
	}
	if sent.none() {
		return
	}
	if requesters.MatchString(name) {
		if h := f.connection(c); h != "" {
			f.tell(sent, name, h)
			return
		}
	}
	if a, ok := c.Func.(lang.Attr); ok && writers.MatchString(name) {
		f.tell(sent, name, f.hosts[dotted(a.X)])
	}
}

var (
	psSend = lazyregexp.New(`(?i)\b(?:Invoke-WebRequest|Invoke-RestMethod|iwr|irm|curl|wget|UploadString|UploadData|UploadFile|PostAsync)\b`)
	psAll  = lazyregexp.New(`(?i)\b(?:Get-ChildItem|gci|dir|ls|Get-Item)\s+(?:-Path\s+)?env:|\[(?:System\.)?Environment\]::GetEnvironmentVariables\(\)`)
	psRead = lazyregexp.New(`(?i)(?:Get-Content|gc|cat|type|ReadAllText|ReadAllBytes|-InFile)\b[^|;\n]*`)
	psName = lazyregexp.New(`(?i)\$env:(\w+)`)
	psSet  = lazyregexp.New(`(?im)^\s*\$(\w+)\s*=\s*(.+)$`)
	psVar  = lazyregexp.New(`\$(\w+)`)
)

// powerShell reads PowerShell line by line: it has no parser here.
func powerShell(code string, env map[string]secret) (out []Leak) {
	f := newFlow(powerShellCode, env, 0)
	code = f.withoutExpressions(code)
	for _, l := range strings.Split(strings.ReplaceAll(code, "`\n", " "), "\n") {
		var s secret
		switch {
		case psAll.MatchString(l):
			s = secret{what: wholeEnvironment}
		default:
			for _, m := range psRead.FindAllString(l, 10) {
				s = worse(s, ofFile(strings.ReplaceAll(m, `\`, "/")))
			}
			for _, m := range psName.FindAllStringSubmatch(l, 10) {
				one := worse(f.vars[m[1]], ofName(m[1]))
				one.login = !one.none() && strings.Contains(strings.ToLower(l), "authorization")
				s = worse(s, one)
			}
			for _, m := range psVar.FindAllStringSubmatch(l, 20) {
				s = worse(s, f.vars[m[1]])
			}
			s = worse(s, f.standsFor(l))
		}
		if m := psSet.FindStringSubmatch(l); m != nil && !psSend.MatchString(l) {
			f.keep(m[1], s)
			continue
		}
		if psSend.MatchString(l) {
			f.tell(s, psSend.FindString(l), hostIn(standIn.ReplaceAllString(strings.ReplaceAll(l, "$", "\x00"), "\x00")))
		}
	}
	return f.out
}
