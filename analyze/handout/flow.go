package handout

import (
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/lang/javascript"
	"github.com/coalmine-dev/coalmine/audit/lang/python"
	"github.com/coalmine-dev/coalmine/audit/lang/shell"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// flow follows secrets through one script: in two rounds what is assigned, then what is sent.
type flow struct {
	language language
	// vars are the variables and files with secrets, texts the variables that are one text, and
	// hosts the variables that are a connection.
	vars  map[string]secret
	texts map[string]string
	hosts map[string]string
	// functions are those of the script, by name.
	functions map[string]*lang.Function
	depth     int
	out       []Leak
}

// maxNested bounds code within code: sh -c, os.system.
const maxNested = 3

// leaks are those of a snippet.
func (s snippet) leaks(depth int) []Leak {
	if s.leak != nil {
		return []Leak{*s.leak}
	}
	if s.language == powerShellCode {
		return powerShell(s.code, s.env)
	}
	f := newFlow(s.language, s.env, depth)
	code := f.withoutExpressions(s.code)
	file := parse(s.language, code)
	f.read(file)
	if s.language == shellCode && len(f.out) == 0 && (s.prose || len(file.Unread) > 0) {
		f.read(parse(shellCode, commandLines(code)))
	}
	return f.out
}

func parse(of language, code string) *lang.File {
	switch of {
	case pythonCode:
		return python.Language{}.Parse("x.py", []byte(code))
	case javascriptCode:
		return javascript.Language{}.Parse("x.js", []byte(code))
	}
	return shell.Language{}.Parse("x.sh", []byte(code))
}

func newFlow(of language, env map[string]secret, depth int) *flow {
	f := &flow{language: of, vars: map[string]secret{}, texts: map[string]string{}, hosts: map[string]string{}, functions: map[string]*lang.Function{}, depth: depth}
	for k, v := range env {
		f.vars[k] = v
	}
	return f
}

// standIn is what stands in code for an expression of a workflow, which is put into the text before
// any quotes count.
var standIn = lazyregexp.New(`GHX_[A-Z]+_`)

// withoutExpressions puts a name in the place of each expression of a workflow.
func (f *flow) withoutExpressions(code string) string {
	return expression.ReplaceAllStringFunc(code, func(x string) string {
		n := len(f.vars)
		name := "GHX_" + string(rune('A'+n%26)) + strings.Repeat("X", n/26) + "_"
		f.vars[name] = ofExpression(x, f.vars)
		return name
	})
}

// standsFor is what the expressions in a constant come to.
func (f *flow) standsFor(text string) (s secret) {
	if strings.Contains(text, "GHX_") {
		for _, name := range standIn.FindAllString(text, 20) {
			s = worse(s, f.vars[name])
		}
	}
	return s
}

// read follows a file.
func (f *flow) read(file *lang.File) {
	for range 2 {
		lang.Walk(file, func(n lang.Node, _ *lang.Scope) bool {
			f.bind(n)
			return true
		})
	}
	lang.Walk(file, func(n lang.Node, _ *lang.Scope) bool {
		f.check(n)
		return len(f.out) < maxLeaks
	})
}

// bind keeps what a node gives a variable, a file or a function.
func (f *flow) bind(n lang.Node) {
	switch n := n.(type) {
	case lang.Assign:
		for _, t := range n.Targets {
			f.assign(t, n.Value)
		}
	case lang.Loop:
		if n.Target != nil && n.Iter != nil {
			f.assign(n.Target, n.Iter)
		}
	case *lang.Function:
		if n.Name != "" {
			f.functions[n.Name] = n
		}
	case lang.Call:
		if fn := f.functions[dotted(n.Func)]; fn != nil {
			for i, p := range fn.Params {
				if i < len(n.Args) && p.Name != "" {
					f.keep(p.Name, f.value(n.Args[i].Value))
				}
			}
		}
		f.copies(n)
		if a, ok := n.Func.(lang.Attr); ok && strings.HasPrefix(a.Name, "connect") {
			if h := f.connection(n); h != "" {
				f.hosts[dotted(a.X)] = h
			}
		}
	case lang.Operation:
		if len(n.Operands) == 2 && strings.Contains(n.Op, ">") && f.language == shellCode {
			f.keep(word(n.Operands[1]), f.value(n.Operands[0]))
		}
	}
}

func (f *flow) assign(target, value lang.Expr) {
	if value == nil {
		return
	}
	switch t := target.(type) {
	case lang.Collection:
		for _, it := range t.Items {
			f.assign(it.Value, value)
		}
		return
	case lang.Spread:
		target = t.X
	}
	name := dotted(target)
	if name == "" {
		return
	}
	f.keep(name, f.value(value))
	if w := f.word(value); w != "" {
		f.texts[name] = w
	}
	if h := f.connection(value); h != "" {
		f.hosts[name] = h
	}
}

func (f *flow) keep(name string, s secret) {
	if name != "" && !s.none() {
		f.vars[name] = worse(f.vars[name], s)
	}
}

// copies keeps that a program put secrets into a file: tar czf OUT ~/.ssh.
func (f *flow) copies(n lang.Call) {
	if f.language != shellCode || !copiers[dotted(n.Func)] {
		return
	}
	s := f.value(n)
	if s.none() {
		return
	}
	for _, a := range n.Args {
		if w := word(a.Value); w != "" && !strings.HasPrefix(w, "-") && ofFile(w).none() && strings.ContainsAny(w, "./") {
			f.keep(w, s)
		}
	}
}

// value is the secret in an expression.
func (f *flow) value(x lang.Expr) (s secret) {
	switch x := x.(type) {
	case nil:
	case lang.Const:
		return f.standsFor(x.Text)
	case lang.Name:
		return f.named(x.ID)
	case lang.Attr, lang.Index:
		return f.member(x)
	case lang.Call:
		return f.called(x)
	case lang.Operation:
		return f.operation(x)
	case lang.Template:
		for _, p := range x.Parts {
			s = worse(s, f.value(p))
		}
	case lang.Collection:
		for _, it := range x.Items {
			s = worse(s, f.item(it))
		}
	case lang.Spread:
		return f.value(x.X)
	case lang.Assign:
		return f.value(x.Value)
	case *lang.Function:
		if f.language != shellCode {
			return s
		}
		for _, st := range x.Body {
			if e, ok := st.(lang.ExprStmt); ok {
				s = worse(s, f.value(e.X))
			}
		}
	}
	return s
}

// item is the secret in an element; below a key of a header it is a login.
func (f *flow) item(it lang.Item) secret {
	s := f.value(it.Value)
	if k, ok := it.Key.(lang.Const); ok && loginKey.MatchString(k.Text) {
		s.login = s.login || !s.none()
	}
	return s
}

func (f *flow) named(id string) secret {
	if s, ok := f.vars[id]; ok {
		return s
	}
	if f.language == shellCode {
		return ofName(id)
	}
	if id == "environ" { // from os import environ
		return secret{what: wholeEnvironment}
	}
	return secret{}
}

// member is the secret in a member: of the environment it is one variable.
func (f *flow) member(x lang.Expr) secret {
	name := dotted(x)
	if s, ok := f.vars[name]; ok {
		return s
	}
	if environments[name] {
		return secret{what: wholeEnvironment}
	}
	switch x := x.(type) {
	case lang.Attr:
		if environments[dotted(x.X)] {
			return ofName(x.Name)
		}
		return f.value(x.X)
	case lang.Index:
		if environments[dotted(x.X)] && len(x.Keys) == 1 {
			if k, ok := x.Keys[0].(lang.Const); ok {
				return ofName(k.Text)
			}
		}
		return f.value(x.X)
	}
	return secret{}
}

// quietOperators come to a truth, not to what they compare.
var quietOperators = map[string]bool{"==": true, "!=": true, "===": true, "!==": true, "in": true, "not in": true, "is": true, "not": true, "!": true, "typeof": true}

func (f *flow) operation(x lang.Operation) (s secret) {
	if f.language == shellCode {
		return f.shellOperation(x)
	}
	if quietOperators[x.Op] {
		return s
	}
	for _, o := range x.Operands {
		s = worse(s, f.value(o))
	}
	return s
}

// tell notes that a secret is sent.
func (f *flow) tell(s secret, via, host string) {
	host = strings.ToLower(host)
	if leak, sure := s.leaksTo(host); leak && len(f.out) < maxLeaks {
		f.out = append(f.out, Leak{Secret: s.what, Via: via, Host: host, Sure: sure})
	}
}

// nested reads code within a text of the script.
func (f *flow) nested(code string) {
	if f.depth < maxNested && code != "" {
		f.out = append(f.out, snippet{language: shellCode, code: code, env: f.vars}.leaks(f.depth+1)...)
	}
}

// dotted is the name of an expression: "os.environ.get".
func dotted(x lang.Expr) string {
	switch x := x.(type) {
	case lang.Name:
		return x.ID
	case lang.Attr:
		if base := dotted(x.X); base != "" {
			return base + "." + x.Name
		}
	case lang.Call:
		if base := dotted(x.Func); base != "" {
			return base + "()"
		}
	}
	return ""
}
