package lang

import (
	"strconv"
	"strings"
)

// maxFolded bounds the bytes of a constant that is calculated, and maxRoom those of all
// of a file's, with their parts.
const (
	maxFolded = 64 << 10
	maxRoom   = 16 << 20
)

// Fold returns the value of an expression of literals alone.
func Fold(x Expr) (Const, bool) {
	b := &bindings{module: newTable(), of: map[Node]*table{}, room: maxRoom}
	return b.fold(x, nil)
}

// fold returns the value of an expression of literals, and of names that are bound once,
// to such an expression.
func (b *bindings) fold(x Expr, in *Scope) (Const, bool) {
	b.budget = maxSteps
	return b.value(x, in, 0)
}

// value is fold within a question that has begun. Literals cost nothing.
func (b *bindings) value(x Expr, in *Scope, links int) (Const, bool) {
	if c, ok := x.(Const); ok {
		return c, true
	}
	if b.budget--; b.budget < 0 || b.room < 0 || links > maxLinks {
		return Const{}, false
	}
	v, ok := b.calculated(x, in, links)
	b.room -= len(v.Text)
	return v, ok
}

func (b *bindings) calculated(x Expr, in *Scope, links int) (Const, bool) {
	switch x := x.(type) {
	case Name:
		if list, ok := b.lookup(x.ID, in); ok && len(list) == 1 && list[0].x != nil && list[0].key == "" && !list[0].instance {
			return b.value(list[0].x, list[0].in, links+1)
		}
	case Template:
		return b.joined(x.Parts, "", in, links)
	case Operation:
		switch {
		case x.Op == "+":
			return b.joined(x.Operands, "", in, links)
		case x.Op == "%" && len(x.Operands) == 2:
			return b.formatted(x, in, links)
		}
	case Call:
		return b.method(x, in, links)
	}
	return Const{}, false
}

// joined joins the values of expressions, which are all strings or all bytes.
func (b *bindings) joined(list []Expr, between string, in *Scope, links int) (Const, bool) {
	var text strings.Builder
	var kind ConstKind
	for i, x := range list {
		c, ok := b.value(x, in, links+1)
		if !ok || c.Kind != String && c.Kind != Bytes || kind != "" && c.Kind != kind || text.Len()+len(c.Text) > maxFolded {
			return Const{}, false
		}
		kind = c.Kind
		if i > 0 {
			text.WriteString(between)
		}
		text.WriteString(c.Text)
	}
	return Const{Kind: kind, Text: text.String()}, kind != ""
}

// formatted is "…%s…" % values, with %s and %d alone.
func (b *bindings) formatted(x Operation, in *Scope, links int) (Const, bool) {
	format, ok := b.value(x.Operands[0], in, links+1)
	if !ok || format.Kind != String {
		return Const{}, false
	}
	values := []Expr{x.Operands[1]}
	if c, ok := x.Operands[1].(Collection); ok {
		if c.Kind != Tuple {
			return Const{}, false
		}
		values = values[:0]
		for _, it := range c.Items {
			values = append(values, it.Value)
		}
	}
	var text strings.Builder
	rest := format.Text
	for {
		before, after, found := strings.Cut(rest, "%")
		text.WriteString(before)
		switch {
		case !found:
			return Const{Kind: String, Text: text.String()}, len(values) == 0 && text.Len() <= maxFolded
		case strings.HasPrefix(after, "%"):
			text.WriteByte('%')
		case (strings.HasPrefix(after, "s") || strings.HasPrefix(after, "d")) && len(values) > 0:
			v, ok := b.value(values[0], in, links+1)
			if !ok || v.Kind != String && v.Kind != Number || text.Len()+len(v.Text) > maxFolded {
				return Const{}, false
			}
			text.WriteString(v.Text)
			values = values[1:]
		default:
			return Const{}, false
		}
		rest = after[1:]
	}
}

// method is a call of join, format or concat with constants, or chr(number).
func (b *bindings) method(c Call, in *Scope, links int) (Const, bool) {
	if n, ok := c.Func.(Name); ok && n.ID == "chr" && len(c.Args) == 1 {
		if v, ok := b.value(c.Args[0].Value, in, links+1); ok && v.Kind == Number {
			if r, err := strconv.ParseUint(v.Text, 0, 21); err == nil {
				return Const{Kind: String, Text: string(rune(r))}, true
			}
		}
		return Const{}, false
	}
	f, ok := c.Func.(Attr)
	if !ok {
		return Const{}, false
	}
	var args []Expr
	for _, a := range c.Args {
		if a.Name != "" {
			return Const{}, false
		}
		args = append(args, a.Value)
	}
	switch f.Name {
	case "join":
		return b.join(f.X, args, in, links)
	case "concat":
		return b.joined(append([]Expr{f.X}, args...), "", in, links)
	case "format":
		return b.braces(f.X, args, in, links)
	}
	return Const{}, false
}

// join is "between".join(list), or list.join("between") of JavaScript.
func (b *bindings) join(x Expr, args []Expr, in *Scope, links int) (Const, bool) {
	if len(args) != 1 {
		return Const{}, false
	}
	separator := x
	list, ok := args[0].(Collection)
	if !ok {
		if list, ok = x.(Collection); !ok {
			return Const{}, false
		}
		separator = args[0]
	}
	between, ok := b.value(separator, in, links+1)
	if !ok || len(between.Text)*len(list.Items) > maxFolded {
		return Const{}, false
	}
	items := make([]Expr, len(list.Items))
	for i, it := range list.Items {
		items[i] = it.Value
	}
	return b.joined(items, between.Text, in, links)
}

// braces is "…{}…{0}…".format(values).
func (b *bindings) braces(x Expr, args []Expr, in *Scope, links int) (Const, bool) {
	format, ok := b.value(x, in, links+1)
	if !ok || format.Kind != String {
		return Const{}, false
	}
	var text strings.Builder
	rest, next := format.Text, 0
	for {
		before, after, found := strings.Cut(rest, "{")
		text.WriteString(before)
		if !found {
			return Const{Kind: String, Text: text.String()}, text.Len() <= maxFolded && !strings.Contains(format.Text, "}}")
		}
		field, tail, found := strings.Cut(after, "}")
		n := next
		if field == "" {
			next++
		} else if i, err := strconv.Atoi(field); err == nil {
			n = i
		} else {
			return Const{}, false
		}
		if !found || n < 0 || n >= len(args) {
			return Const{}, false
		}
		v, ok := b.value(args[n], in, links+1)
		if !ok || v.Kind != String && v.Kind != Number || text.Len()+len(v.Text) > maxFolded {
			return Const{}, false
		}
		text.WriteString(v.Text)
		rest = tail
	}
}
