package javascript

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// factsOf says of a tree what testdata/typescript.cjs says of the file: imports, calls,
// definitions and constants, each with its place.
func factsOf(file *lang.File, src []byte) []string {
	f := facts{src: src}
	f.walk(reflect.ValueOf(file.Body))
	return f.list
}

type facts struct {
	src  []byte
	list []string
}

func (f *facts) add(at lang.Pos, what, text string) {
	f.list = append(f.list, fmt.Sprintf("%d:%d %s %s", at.Line(), at.Column(), what, text))
}

// walk visits all nodes below a value.
func (f *facts) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			f.walk(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			f.walk(v.Index(i))
		}
	case reflect.Struct:
		switch n := v.Interface().(type) {
		case lang.Span:
			return
		case lang.Item:
			if c, ok := n.Key.(lang.Const); ok && !f.quoted(c) {
				f.walk(reflect.ValueOf(n.Value))
				return
			}
		case lang.Template:
			for _, part := range n.Parts {
				if c, ok := part.(lang.Const); ok && !f.quoted(c) {
					f.add(c.Start, "string", c.Text)
				} else {
					f.walk(reflect.ValueOf(part))
				}
			}
			return
		case lang.Arg:
			if c, ok := n.Value.(lang.Const); ok && n.Name != "" && c.Kind == lang.String {
				f.add(c.Start, "string", f.markup(c))
				return
			}
		case lang.Call:
			what := "call"
			if n.New {
				what = "new"
			}
			f.add(n.Start, what, dotted(n.Func))
			if c, ok := n.Func.(lang.Const); ok && !f.quoted(c) {
				f.walk(reflect.ValueOf(n.Args))
				return
			}
		default:
			f.node(v.Interface())
		}
		for i := range v.NumField() {
			if k := v.Field(i).Kind(); k == reflect.Interface || k == reflect.Slice || k == reflect.Struct || k == reflect.Pointer {
				f.walk(v.Field(i))
			}
		}
	}
}

// quoted tells a literal from the name of a property or of an element.
func (f *facts) quoted(c lang.Const) bool {
	return c.Kind != lang.String || strings.IndexByte("\"'`", f.src[c.Start.Offset()]) >= 0
}

func (f *facts) node(n any) {
	switch n := n.(type) {
	case lang.Function:
		f.add(n.Start, "def", n.Name)
	case lang.Class:
		f.add(n.Start, "def", n.Name)
	case lang.Import:
		types := ""
		if n.Types {
			types = "types "
		}
		var names []string
		for _, name := range n.Names {
			names = append(names, name.Name+":"+name.As)
		}
		f.add(n.Start, "import", types+n.Module+" "+strings.Join(names, ","))
	case lang.Const:
		text := n.Text
		switch n.Kind {
		case lang.Number:
		case lang.Regexp:
			text, _ = lang.SplitRegexp(text)
		case lang.String:
			if !f.quoted(n) {
				text = f.markup(n)
			}
		default:
			return
		}
		f.add(n.Start, string(n.Kind), text)
	}
}

// markup returns the text of JSX; "" for one with entities, which the other side keeps.
func (f *facts) markup(c lang.Const) string {
	if bytes.IndexByte(f.src[c.Start.Offset():c.End.Offset()], '&') >= 0 {
		return ""
	}
	return c.Text
}

// dotted returns a.b.c for such an expression, "" for another one.
func dotted(x lang.Expr) string {
	switch x := x.(type) {
	case lang.Name:
		return x.ID
	case lang.Const:
		if x.Kind == lang.Null && x.Text == "undefined" {
			return x.Text
		}
	case lang.Attr:
		if inner := dotted(x.X); inner != "" {
			return inner + "." + x.Name
		}
	}
	return ""
}
