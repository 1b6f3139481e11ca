package audit

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/lang/shell"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// The rules for commands of scripts, of Dockerfiles, of manifests and of configurations.
const (
	DownloadRun     = "download-run"
	UnpinnedInstall = "unpinned-install"
)

var (
	downloaders  = words("curl wget fetch http https aria2c axel iwr irm Invoke-WebRequest Invoke-RestMethod")
	interpreters = words("sh bash zsh dash ksh ash python python2 python3 node nodejs deno bun perl ruby php lua pwsh iex")
	prefixes     = words("sudo env exec nohup time command doas nice busybox")
	checkers     = words("sha256sum sha512sum sha1sum shasum gpg gpgv cosign minisign openssl b2sum md5sum slsa-verifier")
)

func words(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[w] = true
	}
	return out
}

// command is a simple command of a shell.
type command struct {
	lang.Span
	program string
	args    []lang.Expr
}

// commandOf is a call as a command, without what only changes how it is run: sudo, env.
func commandOf(c lang.Call) command {
	out := command{Span: c.Span}
	if n, ok := c.Func.(lang.Name); ok {
		out.program = n.ID
	}
	for _, a := range c.Args {
		out.args = append(out.args, a.Value)
	}
	for range 4 {
		if !prefixes[path.Base(out.program)] {
			break
		}
		for len(out.args) > 0 && (strings.HasPrefix(constant(out.args[0]), "-") || strings.Contains(constant(out.args[0]), "=")) {
			out.args = out.args[1:]
		}
		if len(out.args) == 0 {
			break
		}
		out.program, out.args = constant(out.args[0]), out.args[1:]
	}
	out.program = path.Base(out.program)
	return out
}

// constant is the text of an expression of literals, "" for none.
func constant(x lang.Expr) string {
	if x == nil {
		return ""
	}
	c, ok := lang.Fold(x)
	if !ok || c.Kind != lang.String {
		return ""
	}
	return c.Text
}

// wordsOf are the command's words, "" for those that are not constant.
func (c command) wordsOf() []string {
	out := []string{c.program}
	for _, x := range c.args {
		out = append(out, constant(x))
	}
	return out
}

// readsProgram reports whether an interpreter runs what comes on its standard input.
func (c command) readsProgram() bool {
	if !interpreters[strings.TrimRight(c.program, ".0123456789")] && !interpreters[c.program] {
		return false
	}
	for _, x := range c.args {
		switch w := constant(x); {
		case w == "-" || w == "-s" || w == "/dev/stdin" || w == "--":
			return true
		case !strings.HasPrefix(w, "-"):
			return false
		case takesProgram(w):
			return false
		}
	}
	return true
}

// takesProgram reports whether the program stands behind an option of an interpreter.
func takesProgram(option string) bool {
	return !strings.HasPrefix(option, "--") && strings.ContainsAny(option, "cemp")
}

// downloads reports whether an expression runs a program that downloads.
func downloads(x lang.Expr) bool {
	found := false
	lang.WalkExpr(x, nil, func(n lang.Node, _ *lang.Scope) bool {
		if c, ok := n.(lang.Call); ok {
			found = found || downloaders[commandOf(c).program]
		}
		return !found
	})
	return found
}

// shellText judges commands that stand in a file at an offset. piped is the severity of running
// what is downloaded at once. It reports whether the commands could be read.
func (a *auditor) shellText(p, src, commands string, at int, piped finding.Severity) bool {
	f := shell.Language{}.Parse(p, []byte(commands))
	if len(f.Unread) > 0 {
		return false
	}
	s := &script{a: a, path: p, src: src, at: at, piped: piped}
	lang.Walk(f, func(n lang.Node, _ *lang.Scope) bool {
		s.visit(n)
		return true
	})
	s.runs()
	return true
}

// script is what is known of one.
type script struct {
	a         *auditor
	path, src string
	at        int
	piped     finding.Severity
	// fetched are the files that were downloaded, by name, with the places; started are the commands after them.
	fetched map[string]int
	started []string
	checked bool
}

func (s *script) add(rule string, sev finding.Severity, at lang.Span, message, identity string) {
	s.a.add(rule, sev, s.path, s.src, s.at+at.Start.Offset(), message, identity)
}

func (s *script) visit(n lang.Node) {
	s.uploads(n)
	switch n := n.(type) {
	case lang.Operation:
		if n.Op == "|" && len(n.Operands) == 2 && downloads(n.Operands[0]) {
			if c, ok := n.Operands[1].(lang.Call); ok && commandOf(c).readsProgram() {
				s.add(DownloadRun, s.piped, n.Span, "what is downloaded is piped into "+shown(commandOf(c).program), "pipe "+commandOf(c).program)
			}
		}
		if (n.Op == ">" || n.Op == ">>") && len(n.Operands) == 2 && downloads(n.Operands[0]) {
			s.fetch(constant(n.Operands[1]), n.Span)
		}
	case lang.Call:
		s.command(commandOf(n))
	}
}

func (s *script) command(c command) {
	s.checked = s.checked || checkers[c.program]
	runner := interpreters[c.program] || c.program == "eval" || c.program == "source" || c.program == "."
	for _, x := range c.args {
		inner := false
		lang.WalkExpr(x, nil, func(n lang.Node, _ *lang.Scope) bool {
			op, ok := n.(lang.Operation)
			inner = inner || ok && (op.Op == "$()" || op.Op == "<()") && downloads(op)
			return !inner
		})
		if inner && runner {
			s.add(DownloadRun, s.piped, c.Span, "what is downloaded is run by "+shown(c.program), "run "+c.program)
		}
	}
	list := c.wordsOf()
	if downloaders[c.program] {
		for i, w := range list {
			switch {
			case (w == "-o" || w == "--output" || w == "-O" && c.program == "wget") && i+1 < len(list):
				s.fetch(list[i+1], c.Span)
			case (w == "-O" || w == "--remote-name" || strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.HasSuffix(w, "O")) && c.program == "curl":
				s.fetch(path.Base(list[len(list)-1]), c.Span)
			}
		}
		return
	}
	s.started = append(s.started, c.program)
	if interpreters[c.program] || c.program == "chmod" || c.program == "source" || c.program == "." {
		for _, w := range list[1:] {
			s.started = append(s.started, path.Base(w))
		}
	}
	s.a.closeStarted(s.path, s.src, s.at+c.Start.Offset(), "a command installs", list)
	if what := unpinned(list); what != "" {
		s.add(UnpinnedInstall, finding.Low, c.Span, what, what)
	}
}

func (s *script) fetch(name string, at lang.Span) {
	if name = path.Base(name); name == "" || name == "." || name == "-" {
		return
	}
	if s.fetched == nil {
		s.fetched = map[string]int{}
	}
	if _, again := s.fetched[name]; !again {
		s.fetched[name] = at.Start.Offset()
	}
}

// runs reports files that were downloaded and run, where nothing in the script compares
// them with what they should be.
func (s *script) runs() {
	if s.checked {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.fetched)) {
		if slices.Contains(s.started, name) {
			s.add(DownloadRun, finding.Medium, lang.Span{Start: lang.At(s.fetched[name], 0, 0)}, "a file is downloaded and run, and nothing compares it with a digest or a signature", "file "+name)
		}
	}
}

func shown(name string) string { return text.Printable(name, maxName) }

// exact is a name with one version: pip's ==, npm's @1.2.3, an address, a digest.
var exact = lazyregexp.New(`==|@[v=]?\d|@sha256|@[0-9a-f]{7,}|://|^git\+|^file:|^\.|^/|\.(?:whl|tgz|gz|zip)$`)

// base are Python's own tools, which a script brings up to date before it installs.
var base = words("pip setuptools wheel uv pipx build hatch poetry npm corepack pnpm yarn")

// installers are the commands that install, with what lists the packages.
var installers = []struct {
	words []string
	// run is set where only the first name is a package: what follows is its arguments.
	run bool
}{
	{[]string{"pip", "install"}, false}, {[]string{"pip3", "install"}, false}, {[]string{"uv", "pip", "install"}, false}, {[]string{"uv", "tool", "install"}, false}, {[]string{"uv", "add"}, false}, {[]string{"pipx", "install"}, false}, {[]string{"pipx", "run"}, true}, {[]string{"uvx"}, true},
	{[]string{"npm", "install"}, false}, {[]string{"npm", "i"}, false}, {[]string{"npm", "add"}, false}, {[]string{"pnpm", "add"}, false}, {[]string{"yarn", "add"}, false}, {[]string{"yarn", "global", "add"}, false}, {[]string{"bun", "add"}, false}, {[]string{"npx"}, true}, {[]string{"bunx"}, true}, {[]string{"pnpm", "dlx"}, true}, {[]string{"npm", "exec"}, true},
	{[]string{"gem", "install"}, false}, {[]string{"cargo", "install"}, false}, {[]string{"go", "install"}, false},
}

// valued are options of installers that take the next word.
var valued = words("-r --requirement -c --constraint -e --editable -t --target --prefix -i --index-url --extra-index-url --registry --from --with --python -p --package --path --git --version --root")

// installed are the packages that a command installs, and whether it is a command that installs.
func installed(list []string) ([]string, bool) {
	if len(list) > 3 && strings.HasPrefix(list[0], "python") && list[1] == "-m" {
		list = list[2:]
	}
	for _, in := range installers {
		if len(list) < len(in.words) || !slices.Equal(list[:len(in.words)], in.words) {
			continue
		}
		var out []string
		for i := len(in.words); i < len(list); i++ {
			w := list[i]
			switch {
			case w == "--version" || w == "--require-hashes" || w == "--git" || w == "--no-install":
				return nil, true
			case (w == "--from" || w == "-p" || w == "--package") && in.run && i+1 < len(list):
				return []string{list[i+1]}, true
			case valued[w]:
				i++
			case strings.HasPrefix(w, "-") || w == "":
			case in.run:
				return []string{w}, true
			default:
				out = append(out, w)
			}
		}
		return out, true
	}
	return nil, false
}

// unpinned says which of the packages of a command have no version, "" for none.
func unpinned(list []string) string {
	names, _ := installed(list)
	var out []string
	for _, n := range names {
		if !exact.MatchString(n) && !base[n] {
			out = append(out, shown(n))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return shown(list[0]) + " installs what is newest: " + strings.Join(out[:min(len(out), 5)], ", ")
}
