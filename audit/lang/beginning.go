package lang

import (
	"slices"
	"strings"
)

// Texts tells what the texts of a file begin with, as far as constants say it.
type Texts struct{ b *bindings }

// TextsOf collects what the names of a file are bound to.
func TextsOf(f *File) *Texts { return &Texts{bind(f)} }

// Beginning is the constant text that the value of an expression begins with, and whether it is all of it.
// A name or an attribute counts where one expression is bound to it.
func (t *Texts) Beginning(x Expr, in *Scope) (text string, isAll bool) {
	t.b.budget = maxSteps
	return t.b.beginning(x, in, 0)
}

func (b *bindings) beginning(x Expr, in *Scope, links int) (string, bool) {
	if x == nil || links > maxLinks {
		return "", false
	}
	if v, ok := b.value(x, in, links); ok {
		return v.Text, v.Kind == String
	}
	if b.budget--; b.budget < 0 {
		return "", false
	}
	switch x := x.(type) {
	case Name:
		list, _ := b.lookup(x.ID, in)
		return b.onlyBeginning(list, links)
	case Attr:
		return b.attribute(x, in, links)
	case Assign:
		return b.beginning(x.Value, in, links+1)
	case Template:
		return b.sequence(x.Parts, in, links)
	case Operation:
		return b.operationBeginning(x, in, links)
	case Call:
		return b.callBeginning(x, in, links)
	}
	return "", false
}

// onlyBeginning is that of what a name is bound to, where it is one expression.
func (b *bindings) onlyBeginning(list []binding, links int) (string, bool) {
	if len(list) != 1 || list[0].x == nil || list[0].key != "" || list[0].instance {
		return "", false
	}
	return b.beginning(list[0].x, list[0].in, links+1)
}

// attribute is what an attribute of the instance, of its class, or of an object literal begins with.
func (b *bindings) attribute(x Attr, in *Scope, links int) (string, bool) {
	n, ok := x.X.(Name)
	if !ok {
		return "", false
	}
	if n.ID == "self" || n.ID == "this" || n.ID == "cls" {
		c := in.InClass()
		if c == nil {
			return "", false
		}
		return b.onlyBeginning(slices.Concat(b.fields[c.Name+"."+x.Name], b.table(c).names[x.Name]), links)
	}
	list, _ := b.lookup(n.ID, in)
	if len(list) != 1 {
		return "", false
	}
	object, ok := list[0].x.(Collection)
	if !ok || object.Kind != Dict {
		return "", false
	}
	for _, it := range object.Items {
		if k, ok := it.Key.(Const); ok && k.Text == x.Name {
			return b.beginning(it.Value, list[0].in, links+1)
		}
	}
	return "", false
}

// sequence is what texts in a row begin with.
func (b *bindings) sequence(list []Expr, in *Scope, links int) (string, bool) {
	var text strings.Builder
	for _, x := range list {
		part, isAll := b.beginning(x, in, links+1)
		if text.Len()+len(part) > maxFolded {
			return text.String(), false
		}
		text.WriteString(part)
		if !isAll {
			return text.String(), false
		}
	}
	return text.String(), true
}

func (b *bindings) operationBeginning(x Operation, in *Scope, links int) (string, bool) {
	switch n := len(x.Operands); {
	case x.Op == "+":
		return b.sequence(x.Operands, in, links)
	case x.Op == "%" && n == 2:
		values := []Expr{x.Operands[1]}
		if c, ok := x.Operands[1].(Collection); ok && c.Kind == Tuple && len(c.Items) > 0 {
			values = []Expr{c.Items[0].Value}
		}
		return b.formatBeginning(x.Operands[0], "%", values, in, links)
	case (x.Op == "/" || x.Op == "await") && n > 0:
		text, _ := b.beginning(x.Operands[0], in, links+1)
		return text, false
	case x.Op == "or" || x.Op == "||" || x.Op == "??":
		for _, o := range x.Operands {
			if text, isAll := b.beginning(o, in, links+1); text != "" {
				return text, isAll
			}
		}
	}
	return "", false
}

// formatBeginning is what a format begins with, up to what is filled in: the first value where that comes first.
func (b *bindings) formatBeginning(format Expr, mark string, values []Expr, in *Scope, links int) (string, bool) {
	text, _ := b.beginning(format, in, links+1)
	before, _, isFilled := strings.Cut(text, mark)
	if before == "" && isFilled && len(values) > 0 {
		before, _ = b.beginning(values[0], in, links+1)
		rest := strings.TrimLeft(strings.TrimLeft(text, mark), "sv0}")
		if rest, _, _ = strings.Cut(rest, mark); rest != "" {
			before += rest
		}
	}
	return before, false
}

// Functions by their last names: of trimming the text that they are called on, of taking a base as
// the first argument, and of taking a default as the second.
var (
	trimming   = []string{"strip", "rstrip", "trim", "trimEnd", "toString", "replace", "removesuffix"}
	withBase   = []string{"urljoin", "JoinPath", "String", "str", "Request", "Url", "parse"}
	defaulting = []string{"get", "getenv"}
)

func (b *bindings) callBeginning(x Call, in *Scope, links int) (string, bool) {
	var args []Expr
	for _, a := range x.Args {
		if a.Name == "" {
			args = append(args, a.Value)
		}
	}
	name, on := "", Expr(nil)
	switch f := x.Func.(type) {
	case Name:
		name = f.ID
	case Attr:
		name, on = f.Name, f.X
	}
	switch n := len(args); {
	case on != nil && slices.Contains(trimming, name):
		return b.beginning(on, in, links+1)
	case on != nil && name == "format":
		return b.formatBeginning(on, "{", args, in, links)
	case on != nil && name == "concat":
		return b.sequence(append([]Expr{on}, args...), in, links)
	case name == "Sprintf" && n > 0:
		return b.formatBeginning(args[0], "%", args[1:], in, links)
	case name == "URL" && n > 1, slices.Contains(defaulting, name) && n == 2:
		return b.beginning(args[1], in, links+1)
	case (name == "URL" || slices.Contains(withBase, name)) && n > 0:
		return b.beginning(args[0], in, links+1)
	}
	return "", false
}
