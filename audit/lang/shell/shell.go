package shell

import (
	"bytes"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// Language is the shell. It has no state.
type Language struct{}

var _ lang.Language = Language{}

// Name implements lang.Language.
func (Language) Name() string { return "Shell" }

// Owns implements lang.Language.
func (Language) Owns(name string, head []byte) bool {
	switch path.Ext(name) {
	case ".sh", ".bash", ".ksh":
		return true
	case "":
		line, _, _ := bytes.Cut(head, []byte("\n"))
		fields := strings.Fields(strings.TrimPrefix(string(line), "#!"))
		if !bytes.HasPrefix(line, []byte("#!")) || len(fields) == 0 {
			return false
		}
		program := path.Base(fields[0])
		if program == "env" && len(fields) > 1 {
			program = fields[len(fields)-1]
		}
		return program == "sh" || program == "bash" || program == "dash" || program == "ksh"
	}
	return false
}

// Bounds of a script: its bytes, and what may be open at once. The parser recurses.
const (
	maxSize  = 256 << 10
	maxDepth = 200
)

// Parse implements lang.Language.
func (Language) Parse(name string, src []byte) *lang.File {
	out := &lang.File{Path: name, Language: "Shell"}
	switch {
	case len(src) > maxSize:
		return unread(out, "a script that is too long")
	case tooDeep(src):
		return unread(out, "it is nested too deeply")
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(src), "")
	if err != nil {
		return unread(out, "a syntax error")
	}
	out.Body = converter{}.statements(f.Stmts)
	return out
}

func unread(f *lang.File, why string) *lang.File {
	first := lang.At(0, 1, 1)
	f.Unread = []lang.Unread{{Span: lang.Span{Start: first, End: first}, Why: why}}
	return f
}

// opening and closing are the words of compound commands.
var (
	opening = map[string]bool{"if": true, "while": true, "until": true, "for": true, "case": true, "select": true}
	closing = map[string]bool{"fi": true, "done": true, "esac": true}
)

// tooDeep reports whether more is open at once than a script has. What is quoted counts too.
func tooDeep(src []byte) bool {
	depth, word := 0, 0
	for i := 0; i <= len(src); i++ {
		if i < len(src) && (src[i] >= 'a' && src[i] <= 'z' || src[i] == '_' || src[i] == '-') {
			continue
		}
		switch {
		case opening[string(src[word:i])]:
			depth++
		case closing[string(src[word:i])]:
			depth = max(depth-1, 0)
		}
		word = i + 1
		if i < len(src) {
			switch src[i] {
			case '(', '{', '[':
				depth++
			case ')', '}', ']':
				depth = max(depth-1, 0)
			}
		}
		if depth > maxDepth {
			return true
		}
	}
	return bytes.Count(src, []byte("`")) > 4*maxDepth || bytes.Contains(src, bytes.Repeat([]byte("! "), maxDepth))
}

type converter struct{}

func span(n syntax.Node) lang.Span { return lang.Span{Start: pos(n.Pos()), End: pos(n.End())} }

func pos(p syntax.Pos) lang.Pos {
	return lang.At(int(p.Offset()), max(int(p.Line()), 1), max(int(p.Col()), 1)) //nolint:gosec // within maxSize
}

func (c converter) statements(list []*syntax.Stmt) []lang.Stmt {
	var out []lang.Stmt
	for _, s := range list {
		if one := c.statement(s); one != nil {
			out = append(out, one)
		}
	}
	return out
}

// statement is a command with its redirections.
func (c converter) statement(s *syntax.Stmt) lang.Stmt {
	if call, ok := s.Cmd.(*syntax.CallExpr); ok || s.Cmd == nil {
		if call != nil && len(call.Args) == 0 {
			return c.assigns(call.Assigns, span(s))
		}
	} else if stmt, ok := c.compound(s.Cmd); ok {
		return stmt
	}
	x := c.expression(s)
	if x == nil {
		return nil
	}
	return lang.ExprStmt{Span: span(s), X: x}
}

func (c converter) assigns(list []*syntax.Assign, at lang.Span) lang.Stmt {
	out := lang.Block{Span: at}
	for _, a := range list {
		if a.Name == nil {
			continue
		}
		op := "="
		if a.Append {
			op = "+="
		}
		v := lang.Assign{Span: span(a), Targets: []lang.Expr{lang.Name{Span: span(a.Name), ID: a.Name.Value}}, Op: op}
		if a.Value != nil {
			v.Value = c.word(a.Value)
		}
		out.Body = append(out.Body, v)
	}
	if len(out.Body) == 1 {
		return out.Body[0]
	}
	return out
}

// compound is a command of commands, unless it is one of expressions.
func (c converter) compound(cmd syntax.Command) (lang.Stmt, bool) {
	switch n := cmd.(type) {
	case *syntax.IfClause:
		return c.condition(n), true
	case *syntax.WhileClause:
		return lang.Loop{Span: span(n), Init: c.statements(n.Cond), Body: c.statements(n.Do)}, true
	case *syntax.ForClause:
		out := lang.Loop{Span: span(n), Body: c.statements(n.Do)}
		if it, ok := n.Loop.(*syntax.WordIter); ok {
			out.Target = lang.Name{Span: span(it.Name), ID: it.Name.Value}
			items := lang.Collection{Span: span(it), Kind: lang.List}
			for _, w := range it.Items {
				items.Items = append(items.Items, lang.Item{Value: c.word(w)})
			}
			out.Iter = items
		}
		return out, true
	case *syntax.CaseClause:
		out := lang.Switch{Span: span(n), Subject: c.word(n.Word)}
		for _, it := range n.Items {
			k := lang.Case{Span: span(it), Body: c.statements(it.Stmts)}
			for _, p := range it.Patterns {
				k.Patterns = append(k.Patterns, c.word(p))
			}
			out.Cases = append(out.Cases, k)
		}
		return out, true
	case *syntax.FuncDecl:
		out := &lang.Function{Span: span(n)}
		if n.Name != nil {
			out.Name = n.Name.Value
		}
		if s := c.statement(n.Body); s != nil {
			out.Body = []lang.Stmt{s}
		}
		return out, true
	case *syntax.Block:
		return lang.Block{Span: span(n), Body: c.statements(n.Stmts)}, true
	case *syntax.Subshell:
		return lang.Block{Span: span(n), Body: c.statements(n.Stmts)}, true
	case *syntax.DeclClause:
		return c.assigns(n.Args, span(n)), true
	case *syntax.TimeClause:
		if n.Stmt != nil {
			return c.statement(n.Stmt), true
		}
	}
	return nil, false
}

func (c converter) condition(n *syntax.IfClause) lang.Stmt {
	out := lang.If{Span: span(n), Then: c.statements(n.Then)}
	if n.Else != nil {
		out.Else = []lang.Stmt{c.condition(n.Else)}
	}
	cond := c.statements(n.Cond)
	if len(cond) == 0 {
		return out
	}
	return lang.Block{Span: out.Span, Body: append(cond, out)}
}

// expression is a command as an expression, nil for one without a tree.
func (c converter) expression(s *syntax.Stmt) lang.Expr {
	var x lang.Expr
	switch n := s.Cmd.(type) {
	case *syntax.CallExpr:
		x = c.call(n)
	case *syntax.BinaryCmd:
		op := n.Op.String()
		if op == "|&" {
			op = "|"
		}
		out := lang.Operation{Span: span(n), Op: op}
		for _, side := range []*syntax.Stmt{n.X, n.Y} {
			if y := c.expression(side); y != nil {
				out.Operands = append(out.Operands, y)
			}
		}
		x = out
	case nil:
	default:
		if stmt, ok := c.compound(n); ok && stmt != nil {
			x = &lang.Function{Span: span(s), Body: []lang.Stmt{stmt}}
		}
	}
	for _, r := range s.Redirs {
		out := lang.Operation{Span: span(s), Op: r.Op.String()}
		if x != nil {
			out.Operands = append(out.Operands, x)
		}
		if r.Word != nil {
			out.Operands = append(out.Operands, c.word(r.Word))
		}
		x = out
	}
	return x
}

func (c converter) call(n *syntax.CallExpr) lang.Expr {
	if len(n.Args) == 0 {
		return nil
	}
	out := lang.Call{Span: span(n)}
	first := c.word(n.Args[0])
	if k, ok := first.(lang.Const); ok {
		out.Func = lang.Name{Span: k.Span, ID: k.Text}
	} else {
		out.Func = first
	}
	for _, w := range n.Args[1:] {
		out.Args = append(out.Args, lang.Arg{Value: c.word(w)})
	}
	return out
}

// word is one word: a constant where nothing in it is expanded.
func (c converter) word(w *syntax.Word) lang.Expr {
	var parts []lang.Expr
	for _, p := range w.Parts {
		parts = c.part(parts, p)
	}
	joined := parts[:0]
	for _, x := range parts {
		k, isConst := x.(lang.Const)
		if n := len(joined); isConst && n > 0 {
			if before, ok := joined[n-1].(lang.Const); ok {
				before.Text += k.Text
				before.End = k.End
				joined[n-1] = before
				continue
			}
		}
		joined = append(joined, x)
	}
	switch len(joined) {
	case 0:
		return lang.Const{Span: span(w), Kind: lang.String}
	case 1:
		return joined[0]
	}
	return lang.Template{Span: span(w), Parts: joined}
}

func (c converter) part(out []lang.Expr, p syntax.WordPart) []lang.Expr {
	switch p := p.(type) {
	case *syntax.Lit:
		return append(out, lang.Const{Span: span(p), Kind: lang.String, Text: unescaped(p.Value)})
	case *syntax.SglQuoted:
		return append(out, lang.Const{Span: span(p), Kind: lang.String, Text: p.Value})
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			out = c.part(out, q)
		}
		return out
	case *syntax.ParamExp:
		id := ""
		if p.Param != nil {
			id = p.Param.Value
		}
		return append(out, lang.Name{Span: span(p), ID: id})
	case *syntax.CmdSubst:
		return append(out, c.commands("$()", span(p), p.Stmts))
	case *syntax.ProcSubst:
		return append(out, c.commands("<()", span(p), p.Stmts))
	}
	return append(out, lang.Name{Span: span(p)})
}

func (c converter) commands(op string, at lang.Span, list []*syntax.Stmt) lang.Expr {
	out := lang.Operation{Span: at, Op: op}
	for _, s := range list {
		if x := c.expression(s); x != nil {
			out.Operands = append(out.Operands, x)
		}
	}
	return out
}

// unescaped is a word without its backslashes, and without the ends of lines behind them.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
