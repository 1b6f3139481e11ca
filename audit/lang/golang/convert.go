package golang

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

func (c *converter) stmts(list []ast.Stmt) []lang.Stmt {
	out := make([]lang.Stmt, 0, len(list))
	for _, s := range list {
		out = append(out, c.stmt(s)...)
	}
	return out
}

func (c *converter) stmt(s ast.Stmt) []lang.Stmt {
	switch s := s.(type) {
	case *ast.ExprStmt:
		return []lang.Stmt{lang.ExprStmt{Span: c.span(s), X: c.expr(s.X)}}
	case *ast.AssignStmt:
		return []lang.Stmt{c.assign(s)}
	case *ast.IncDecStmt:
		one := lang.Const{Span: c.span(s), Kind: lang.Number, Text: "1"}
		return []lang.Stmt{lang.Assign{Span: c.span(s), Targets: []lang.Expr{c.expr(s.X)}, Op: s.Tok.String()[:1] + "=", Value: one}}
	case *ast.DeclStmt:
		if d, ok := s.Decl.(*ast.GenDecl); ok {
			return c.general(d)
		}
	case *ast.ReturnStmt:
		r := lang.Return{Span: c.span(s), Op: "return"}
		switch len(s.Results) {
		case 0:
		case 1:
			r.X = c.expr(s.Results[0])
		default:
			r.X = c.tuple(s.Results, c.span(s))
		}
		return []lang.Stmt{r}
	case *ast.IfStmt:
		return c.with(s, s.Init, c.branch(s))
	case *ast.ForStmt:
		l := lang.Loop{Span: c.span(s), Init: c.one(s.Init), Step: c.one(s.Post), Body: c.stmts(s.Body.List)}
		if s.Cond != nil {
			l.Test = c.expr(s.Cond)
		}
		return []lang.Stmt{l}
	case *ast.RangeStmt:
		return []lang.Stmt{c.rangeOver(s)}
	case *ast.SwitchStmt:
		return c.with(s, s.Init, c.choice(s))
	case *ast.TypeSwitchStmt:
		return c.typeSwitch(s)
	case *ast.SelectStmt:
		return []lang.Stmt{c.selection(s)}
	case *ast.BlockStmt:
		return []lang.Stmt{lang.Block{Span: c.span(s), Body: c.stmts(s.List)}}
	case *ast.LabeledStmt:
		return c.stmt(s.Stmt)
	case *ast.BranchStmt:
		return []lang.Stmt{lang.Jump{Span: c.span(s), Op: s.Tok.String()}}
	case *ast.DeferStmt:
		return []lang.Stmt{lang.ExprStmt{Span: c.span(s), X: c.expr(s.Call)}}
	case *ast.GoStmt:
		return []lang.Stmt{lang.ExprStmt{Span: c.span(s), X: c.expr(s.Call)}}
	case *ast.SendStmt:
		send := lang.Operation{Span: c.span(s), Op: "<-", Operands: []lang.Expr{c.expr(s.Chan), c.expr(s.Value)}}
		return []lang.Stmt{lang.ExprStmt{Span: c.span(s), X: send}}
	}
	return nil
}

func (c *converter) one(s ast.Stmt) []lang.Stmt {
	if s == nil {
		return nil
	}
	return c.stmt(s)
}

// with puts the statement before a condition into a block with it.
func (c *converter) with(at ast.Node, init ast.Stmt, s lang.Stmt) []lang.Stmt {
	if init == nil {
		return []lang.Stmt{s}
	}
	return []lang.Stmt{lang.Block{Span: c.span(at), Body: append(c.stmt(init), s)}}
}

func (c *converter) assign(s *ast.AssignStmt) lang.Stmt {
	a := lang.Assign{Span: c.span(s), Op: s.Tok.String()}
	if s.Tok == token.DEFINE {
		a.Op, a.Declares = "=", "var"
	}
	if len(s.Lhs) == 1 {
		a.Targets = []lang.Expr{c.expr(s.Lhs[0])}
	} else {
		a.Targets = []lang.Expr{c.tuple(s.Lhs, c.span(s))}
	}
	if len(s.Rhs) == 1 {
		a.Value = c.expr(s.Rhs[0])
	} else {
		a.Value = c.tuple(s.Rhs, c.span(s))
	}
	return a
}

func (c *converter) branch(s *ast.IfStmt) lang.Stmt {
	out := lang.If{Span: c.span(s), Test: c.expr(s.Cond), Then: c.stmts(s.Body.List)}
	switch e := s.Else.(type) {
	case *ast.BlockStmt:
		out.Else = c.stmts(e.List)
	case *ast.IfStmt:
		out.Else = c.stmt(e)
	}
	return out
}

func (c *converter) rangeOver(s *ast.RangeStmt) lang.Stmt {
	l := lang.Loop{Span: c.span(s), Iter: c.expr(s.X), Body: c.stmts(s.Body.List)}
	switch {
	case s.Key != nil && s.Value != nil:
		l.Target = c.tuple([]ast.Expr{s.Key, s.Value}, c.span(s.Key))
	case s.Key != nil:
		l.Target = c.expr(s.Key)
	default:
		l.Target = lang.Name{Span: c.span(s), ID: "_"}
	}
	return l
}

func (c *converter) choice(s *ast.SwitchStmt) lang.Stmt {
	out := lang.Switch{Span: c.span(s)}
	if s.Tag != nil {
		out.Subject = c.expr(s.Tag)
	}
	for _, clause := range s.Body.List {
		k, ok := clause.(*ast.CaseClause)
		if !ok {
			continue
		}
		part := lang.Case{Span: c.span(k), Body: c.stmts(k.Body)}
		for _, x := range k.List {
			part.Patterns = append(part.Patterns, c.expr(x))
		}
		out.Cases = append(out.Cases, part)
	}
	return out
}

func (c *converter) typeSwitch(s *ast.TypeSwitchStmt) []lang.Stmt {
	out := lang.Switch{Span: c.span(s)}
	for _, clause := range s.Body.List {
		if k, ok := clause.(*ast.CaseClause); ok {
			out.Cases = append(out.Cases, lang.Case{Span: c.span(k), Body: c.stmts(k.Body)})
		}
	}
	before := append(c.one(s.Init), c.one(s.Assign)...)
	return []lang.Stmt{lang.Block{Span: c.span(s), Body: append(before, out)}}
}

func (c *converter) selection(s *ast.SelectStmt) lang.Stmt {
	out := lang.Switch{Span: c.span(s)}
	for _, clause := range s.Body.List {
		if k, ok := clause.(*ast.CommClause); ok {
			out.Cases = append(out.Cases, lang.Case{Span: c.span(k), Body: append(c.one(k.Comm), c.stmts(k.Body)...)})
		}
	}
	return out
}

func (c *converter) expr(x ast.Expr) lang.Expr {
	switch x := x.(type) {
	case nil:
		return nil
	case *ast.Ident:
		return c.name(x)
	case *ast.BasicLit:
		return c.literal(x)
	case *ast.SelectorExpr:
		return lang.Attr{Span: c.span(x), X: c.expr(x.X), Name: x.Sel.Name}
	case *ast.CallExpr:
		return c.call(x)
	case *ast.ParenExpr:
		return c.expr(x.X)
	case *ast.StarExpr:
		return c.expr(x.X)
	case *ast.TypeAssertExpr:
		return c.expr(x.X)
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			return c.expr(x.X)
		}
		return lang.Operation{Span: c.span(x), Op: x.Op.String(), Operands: []lang.Expr{c.expr(x.X)}}
	case *ast.BinaryExpr:
		return c.binary(x)
	case *ast.IndexExpr:
		return lang.Index{Span: c.span(x), X: c.expr(x.X), Keys: []lang.Expr{c.expr(x.Index)}}
	case *ast.IndexListExpr:
		return c.expr(x.X)
	case *ast.SliceExpr:
		out := lang.Index{Span: c.span(x), X: c.expr(x.X), Keys: []lang.Expr{c.expr(x.Low), c.expr(x.High)}}
		if x.Max != nil {
			out.Keys = append(out.Keys, c.expr(x.Max))
		}
		return out
	case *ast.FuncLit:
		return c.function(x.Type, x.Body, x)
	case *ast.CompositeLit:
		return c.composite(x)
	case *ast.KeyValueExpr:
		return c.expr(x.Value)
	}
	if t := c.typ(x); t != nil { // the conversion to a type
		return t
	}
	return lang.Name{Span: c.span(x)}
}

func (c *converter) call(x *ast.CallExpr) lang.Expr {
	out := lang.Call{Span: c.span(x), Func: c.expr(x.Fun)}
	for i, a := range x.Args {
		v := c.expr(a)
		if x.Ellipsis.IsValid() && i == len(x.Args)-1 {
			v = lang.Spread{Span: c.span(a), X: v}
		}
		out.Args = append(out.Args, lang.Arg{Value: v})
	}
	return out
}

// binary is an operator. A chain of one operator is one Operation.
func (c *converter) binary(x *ast.BinaryExpr) lang.Expr {
	var operands []lang.Expr
	at := x
	for {
		operands = append(operands, c.expr(at.Y))
		left, ok := at.X.(*ast.BinaryExpr)
		if !ok || left.Op != x.Op || x.Op != token.ADD && x.Op != token.LAND && x.Op != token.LOR {
			break
		}
		at = left
	}
	operands = append(operands, c.expr(at.X))
	slices.Reverse(operands)
	return lang.Operation{Span: c.span(x), Op: x.Op.String(), Operands: operands}
}

// composite is a literal of a type.
func (c *converter) composite(x *ast.CompositeLit) lang.Expr {
	switch t := x.Type.(type) {
	case *ast.MapType:
		return c.dict(x)
	case nil:
		if len(x.Elts) > 0 {
			if _, keyed := x.Elts[0].(*ast.KeyValueExpr); keyed {
				return c.dict(x)
			}
		}
	case *ast.ArrayType:
	default:
		out := lang.Call{Span: c.span(x), Func: c.typ(t)}
		if out.Func == nil {
			out.Func = lang.Name{Span: c.span(x)}
		}
		for _, e := range x.Elts {
			arg := lang.Arg{}
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if k, ok := kv.Key.(*ast.Ident); ok {
					arg.Name = k.Name
				}
				e = kv.Value
			}
			arg.Value = c.expr(e)
			out.Args = append(out.Args, arg)
		}
		return out
	}
	list := lang.Collection{Span: c.span(x), Kind: lang.List}
	for _, e := range x.Elts {
		list.Items = append(list.Items, lang.Item{Value: c.expr(e)})
	}
	return list
}

func (c *converter) dict(x *ast.CompositeLit) lang.Expr {
	out := lang.Collection{Span: c.span(x), Kind: lang.Dict}
	_, isMap := x.Type.(*ast.MapType)
	for _, e := range x.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		var key lang.Expr
		if k, word := kv.Key.(*ast.Ident); word && !isMap {
			key = lang.Const{Span: c.span(k), Kind: lang.String, Text: k.Name}
		} else {
			key = c.expr(kv.Key)
		}
		out.Items = append(out.Items, lang.Item{Key: key, Value: c.expr(kv.Value)})
	}
	return out
}
