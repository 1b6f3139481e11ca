package golang

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// Language is Go. It has no state.
type Language struct{}

var _ lang.Language = Language{}

// Name implements lang.Language.
func (Language) Name() string { return "Go" }

// Owns implements lang.Language. Tests are no part of a server.
func (Language) Owns(name string, _ []byte) bool {
	return path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go")
}

// maxUnread bounds how many errors of a file are kept.
const maxUnread = 100

// Parse implements lang.Language.
func (Language) Parse(name string, src []byte) *lang.File {
	out := &lang.File{Path: name, Language: "Go"}
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", src, parser.SkipObjectResolution|parser.AllErrors)
	if f == nil {
		out.Unread = []lang.Unread{{Why: "no source of Go"}}
		return out
	}
	c := &converter{file: files.File(f.FileStart), size: len(src), classes: map[string]*lang.Class{}}
	if c.file == nil {
		out.Unread = []lang.Unread{{Why: "no source of Go"}}
		return out
	}
	if list, ok := err.(scanner.ErrorList); ok { //nolint:errorlint // as go/parser documents it
		for _, e := range list[:min(len(list), maxUnread)] {
			at := lang.At(e.Pos.Offset, max(e.Pos.Line, 1), max(e.Pos.Column, 1))
			out.Unread = append(out.Unread, lang.Unread{Span: lang.Span{Start: at, End: at}, Why: "a syntax error"})
		}
	}
	out.Body = c.decls(f.Decls)
	return out
}

// converter turns the tree of one file into the common one.
type converter struct {
	file    *token.File
	size    int
	classes map[string]*lang.Class
}

func (c *converter) pos(p token.Pos) lang.Pos {
	if !p.IsValid() {
		return lang.At(0, 1, 1)
	}
	offset := min(c.file.Offset(p), c.size)
	// Line directives of a source do not move it.
	at := c.file.PositionFor(p, false)
	return lang.At(offset, at.Line, at.Column)
}

func (c *converter) span(n ast.Node) lang.Span {
	return lang.Span{Start: c.pos(n.Pos()), End: c.pos(n.End())}
}

func (c *converter) decls(list []ast.Decl) []lang.Stmt {
	var out []lang.Stmt
	for _, d := range list {
		switch d := d.(type) {
		case *ast.GenDecl:
			out = append(out, c.general(d)...)
		case *ast.FuncDecl:
			f := c.function(d.Type, d.Body, d)
			f.Name = d.Name.Name
			if d.Recv == nil || len(d.Recv.List) == 0 {
				out = append(out, f)
				continue
			}
			recv := d.Recv.List[0]
			p := lang.Param{Span: c.span(recv), Annotation: c.typ(recv.Type)}
			if len(recv.Names) > 0 {
				p.Name = recv.Names[0].Name
			} else {
				p.Name = "_"
			}
			f.Params = append([]lang.Param{p}, f.Params...)
			class, fresh := c.class(baseName(recv.Type), c.span(d))
			class.Body = append(class.Body, f)
			if fresh {
				out = append(out, class)
			}
		}
	}
	return out
}

// class is the one of a type, which may be made here.
func (c *converter) class(name string, at lang.Span) (class *lang.Class, fresh bool) {
	if class = c.classes[name]; class != nil {
		return class, false
	}
	class = &lang.Class{Span: at, Name: name}
	c.classes[name] = class
	return class, true
}

// baseName is the name of a receiver's type.
func baseName(x ast.Expr) string {
	for {
		switch t := x.(type) {
		case *ast.StarExpr:
			x = t.X
		case *ast.ParenExpr:
			x = t.X
		case *ast.IndexExpr:
			x = t.X
		case *ast.IndexListExpr:
			x = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

func (c *converter) general(d *ast.GenDecl) []lang.Stmt {
	var out []lang.Stmt
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.ImportSpec:
			out = append(out, c.importSpec(s))
		case *ast.ValueSpec:
			out = append(out, c.valueSpec(s)...)
		case *ast.TypeSpec:
			t, ok := s.Type.(*ast.StructType)
			if !ok {
				continue
			}
			class, fresh := c.class(s.Name.Name, c.span(s))
			class.Body = append(c.fields(t), class.Body...)
			if fresh {
				out = append(out, class)
			}
		}
	}
	return out
}

// fields are those of a struct. An embedded one has the name of its type.
func (c *converter) fields(t *ast.StructType) []lang.Stmt {
	var out []lang.Stmt
	for _, f := range t.Fields.List {
		typ := c.typ(f.Type)
		if typ == nil {
			continue
		}
		names := f.Names
		if len(names) == 0 {
			if base := baseName(f.Type); base != "" {
				names = []*ast.Ident{{NamePos: f.Pos(), Name: base}}
			}
		}
		for _, n := range names {
			at := c.span(n)
			this := lang.Attr{Span: at, X: lang.Name{Span: at, ID: "this"}, Name: n.Name}
			out = append(out, lang.Assign{Span: at, Targets: []lang.Expr{this}, Op: "=", Value: lang.Call{Span: at, Func: typ}})
		}
	}
	return out
}

var version = regexp.MustCompile(`^v[0-9]+$`)

// importSpec binds a package to its name.
func (c *converter) importSpec(s *ast.ImportSpec) lang.Stmt {
	module, err := strconv.Unquote(s.Path.Value)
	if err != nil {
		module = ""
	}
	name := packageName(module)
	if s.Name != nil {
		name = s.Name.Name
	}
	as := lang.ImportName{Name: "*", As: name}
	if name == "." {
		as.As = "*"
	}
	return lang.Import{Span: c.span(s), Module: module, Names: []lang.ImportName{as}}
}

// packageName is what a package is most probably called.
func packageName(module string) string {
	parts := strings.Split(module, "/")
	last := parts[len(parts)-1]
	if version.MatchString(last) && len(parts) > 1 {
		last = parts[len(parts)-2]
	}
	last, _, _ = strings.Cut(last, ".")
	last = strings.TrimSuffix(strings.TrimPrefix(last, "go-"), "-go")
	return last[strings.LastIndexByte(last, '-')+1:]
}

func (c *converter) valueSpec(s *ast.ValueSpec) []lang.Stmt {
	var out []lang.Stmt
	if len(s.Values) == 1 && len(s.Names) > 1 {
		names := make([]ast.Expr, len(s.Names))
		for i, n := range s.Names {
			names[i] = n
		}
		return []lang.Stmt{lang.Assign{Span: c.span(s), Targets: []lang.Expr{c.tuple(names, c.span(s))}, Op: "=", Value: c.expr(s.Values[0]), Declares: "var"}}
	}
	for i, n := range s.Names {
		a := lang.Assign{Span: c.span(s), Targets: []lang.Expr{c.expr(n)}, Op: "=", Declares: "var"}
		switch {
		case i < len(s.Values):
			a.Value = c.expr(s.Values[i])
		case s.Type != nil: // the zero value of a type
			if t := c.typ(s.Type); t != nil {
				a.Value = lang.Call{Span: c.span(s.Type), Func: t}
			}
		}
		out = append(out, a)
	}
	return out
}

func (c *converter) tuple(list []ast.Expr, at lang.Span) lang.Expr {
	t := lang.Collection{Span: at, Kind: lang.Tuple}
	for _, x := range list {
		t.Items = append(t.Items, lang.Item{Value: c.expr(x)})
	}
	return t
}

func (c *converter) function(t *ast.FuncType, body *ast.BlockStmt, at ast.Node) *lang.Function {
	f := &lang.Function{Span: c.span(at)}
	if t.Params != nil {
		for _, p := range t.Params.List {
			typ, rest := p.Type, false
			if e, ok := typ.(*ast.Ellipsis); ok {
				typ, rest = e.Elt, true
			}
			param := lang.Param{Span: c.span(p), Annotation: c.typ(typ), Rest: rest}
			if len(p.Names) == 0 {
				param.Name = "_"
				f.Params = append(f.Params, param)
			}
			for _, n := range p.Names {
				param.Span, param.Name = c.span(n), n.Name
				f.Params = append(f.Params, param)
			}
		}
	}
	if body != nil {
		f.Body = c.stmts(body.List)
	}
	return f
}

// typ is a type as an annotation, nil for one that says nothing to a reader of the tree.
func (c *converter) typ(x ast.Expr) lang.Expr {
	switch x := x.(type) {
	case *ast.Ident:
		return lang.Name{Span: c.span(x), ID: x.Name}
	case *ast.SelectorExpr:
		return c.expr(x)
	case *ast.StarExpr:
		return c.typ(x.X)
	case *ast.ParenExpr:
		return c.typ(x.X)
	case *ast.IndexExpr:
		return c.typ(x.X)
	case *ast.IndexListExpr:
		return c.typ(x.X)
	case *ast.ArrayType:
		if inner := c.typ(x.Elt); inner != nil {
			return lang.Index{Span: c.span(x), X: lang.Name{Span: c.span(x), ID: "List"}, Keys: []lang.Expr{inner}}
		}
	case *ast.MapType:
		return lang.Name{Span: c.span(x), ID: "map"}
	}
	return nil
}

// name is an identifier, or what the language gives its name to.
func (c *converter) name(x *ast.Ident) lang.Expr {
	at := c.span(x)
	switch x.Name {
	case "nil":
		return lang.Const{Span: at, Kind: lang.Null}
	case "true", "false":
		return lang.Const{Span: at, Kind: lang.Bool, Text: x.Name}
	}
	return lang.Name{Span: at, ID: x.Name}
}

func (c *converter) literal(x *ast.BasicLit) lang.Expr {
	out := lang.Const{Span: c.span(x), Kind: lang.Number, Text: x.Value}
	if x.Kind == token.STRING || x.Kind == token.CHAR {
		text, err := strconv.Unquote(x.Value)
		out.Kind, out.Text = lang.String, cmp.Or(text, "")
		if err != nil {
			out.Text = string(bytes.Trim([]byte(x.Value), "\"`'"))
		}
	}
	return out
}
