package python

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// factLister lists what testdata/facts.py lists.
type factLister struct {
	facts []string
	// exact is set where the other side knows the places within f-strings.
	exact     bool
	templates []lang.Span
	// special are places of nodes that ast has no node for, with what stands there.
	special map[lang.Span]string
}

// What a special place holds.
const (
	bound   = "a name that is bound"
	literal = "a string of a template"
	format  = "a format"
	inWith  = "the target of a with"
	result  = "the body of a lambda"
)

// factsOf lists the facts of a file as testdata/facts.py does, sorted.
func factsOf(f *lang.File, exact bool) []string {
	l := &factLister{exact: exact, special: map[lang.Span]string{}}
	lang.Walk(f, l.visit)
	slices.Sort(l.facts)
	return l.facts
}

func escapedFact(s string) string {
	if len(s) > 100 {
		return fmt.Sprintf("%d:%08x", len(s), crc32.ChecksumIEEE([]byte(s)))
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c > 32 && c < 127 && c != '%' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}

func numberFact(text string) string {
	s := strings.ToLower(strings.ReplaceAll(text, "_", ""))
	bits := func(s string) string {
		f, _ := strconv.ParseFloat(s, 64)
		return fmt.Sprintf("%x", binary.BigEndian.AppendUint64(nil, math.Float64bits(f)))
	}
	if n, ok := strings.CutSuffix(s, "j"); ok {
		return "number j" + bits(n)
	}
	if !strings.HasPrefix(s, "0x") && strings.ContainsAny(s, ".e") {
		return "number " + bits(s)
	}
	if strings.Trim(s, "0") == "" {
		s = "0"
	}
	n, ok := new(big.Int).SetString(s, 0)
	if !ok {
		return "number?" + text
	}
	return fmt.Sprintf("number %x", n)
}

func constFact(c lang.Const) string {
	switch c.Kind {
	case lang.Null:
		return "null"
	case lang.Number:
		return numberFact(c.Text)
	case lang.Bool:
		return "bool " + c.Text
	}
	return string(c.Kind) + " " + escapedFact(c.Text)
}

func dottedFact(x lang.Expr) string {
	switch x := x.(type) {
	case lang.Name:
		return x.ID
	case lang.Attr:
		return dottedFact(x.X) + "." + x.Name
	}
	return "?"
}

func (l *factLister) inTemplate(s lang.Span) bool {
	return slices.ContainsFunc(l.templates, func(t lang.Span) bool {
		return t.Start.Offset() <= s.Start.Offset() && s.End.Offset() <= t.End.Offset() && t != s
	})
}

func (l *factLister) add(kind string, s lang.Span, words ...string) {
	place := fmt.Sprintf("%d:%d-%d:%d", s.Start.Line(), s.Start.Column(), s.End.Line(), s.End.Column())
	if !l.exact && l.inTemplate(s) {
		place = "-"
	}
	l.facts = append(l.facts, strings.Join(append([]string{kind, place}, words...), " "))
}

func paramFacts(params []lang.Param) []string {
	var out []string
	for _, p := range params {
		s := p.Name
		if p.Rest {
			s = "*" + s
		}
		if p.Annotation != nil {
			s += ":"
		}
		if p.Default != nil {
			s += "="
		}
		out = append(out, s)
	}
	return out
}

func statementFact(n lang.Node) string {
	switch n.(type) {
	case lang.Return:
		return "return"
	case lang.Jump:
		return "jump"
	case lang.Loop:
		return "loop"
	case lang.If:
		return "if"
	case lang.With:
		return "with"
	case lang.Switch:
		return "switch"
	case lang.Try:
		return "try"
	case lang.ExprStmt:
		return "expr"
	case *lang.Class:
		return "class"
	}
	return ""
}

func (l *factLister) visit(n lang.Node, in *lang.Scope) bool {
	if kind := statementFact(n); kind != "" && (kind != "return" || l.special[n.Place()] != result) {
		l.add("stmt", n.Place(), kind)
	}
	switch n := n.(type) {
	case lang.Import:
		l.imports(n)
	case lang.Jump:
		for _, x := range n.Operands {
			if n.Op != "del" {
				l.special[x.Place()] = bound
			}
		}
	case lang.Try:
		for _, h := range n.Handlers {
			if h.Name != nil {
				l.special[h.Name.Place()] = bound
			}
		}
	case lang.With:
		for _, x := range n.Items {
			if a, ok := x.(lang.Assign); ok && a.Op == "=" {
				l.special[a.Span] = inWith
			}
		}
	case lang.Assign:
		l.assign(n)
	case *lang.Function:
		l.function(n, in)
	case *lang.Class:
		l.class(n, in)
	default:
		l.expression(n)
	}
	return true
}

func (l *factLister) expression(n lang.Node) {
	switch n := n.(type) {
	case lang.Call:
		words := []string{dottedFact(n.Func), strconv.Itoa(len(n.Args))}
		for _, a := range n.Args {
			if a.Name != "" {
				words = append(words, a.Name)
			}
		}
		l.add("call", n.Span, words...)
	case lang.Name:
		if l.special[n.Span] == bound {
			l.facts = append(l.facts, "bind "+n.ID)
			return
		}
		l.add("name", n.Span, n.ID)
	case lang.Attr:
		l.add("attr", n.Span, n.Name)
	case lang.Index:
		l.add("index", n.Span)
	case lang.Const:
		if l.special[n.Span] == literal {
			l.facts = append(l.facts, "const - "+constFact(n))
			return
		}
		l.add("const", n.Span, constFact(n))
	case lang.Template:
		if l.special[n.Span] != format {
			l.add("template", n.Span)
			l.templates = append(l.templates, n.Span)
		}
		for _, x := range n.Parts {
			if c, ok := x.(lang.Const); ok && c.Kind == lang.String {
				l.special[c.Span] = literal
			}
		}
	case lang.Operation:
		if n.Op != "format" {
			return
		}
		if c, ok := n.Operands[0].(lang.Const); ok && c.Kind == lang.String {
			l.special[c.Span] = literal
		}
		l.special[n.Operands[1].Place()] = format
	}
}

func (l *factLister) assign(a lang.Assign) {
	switch {
	case a.Value == nil && a.Annotation == nil:
		l.special[a.Targets[0].Place()] = bound
	case a.Op != ":=" && l.special[a.Span] != inWith:
		l.add("stmt", a.Span, "assign")
	}
}

func (l *factLister) imports(n lang.Import) {
	words := []string{n.Module}
	for _, name := range n.Names {
		words = append(words, name.Name+"="+name.As)
	}
	if n.Names == nil {
		words = append(words, "-")
	}
	l.add("import", n.Span, words...)
}

func (l *factLister) function(f *lang.Function, in *lang.Scope) {
	params := paramFacts(f.Params)
	if f.Name == "" {
		l.add("lambda", f.Span, params...)
		l.special[f.Body[0].Place()] = result
		return
	}
	kind := "function"
	if f.Async {
		kind = "async"
	}
	l.add("stmt", f.Span, "function")
	l.add("def", f.Span, append([]string{kind, in.Qualified(f.Name)}, append(params, "doc", escapedFact(f.Doc))...)...)
}

func (l *factLister) class(c *lang.Class, in *lang.Scope) {
	var keywords []string
	for _, b := range c.Bases {
		if s, ok := b.Value.(lang.Spread); ok && s.X.Place().Start.Offset()-s.Start.Offset() >= 2 {
			keywords = append(keywords, "*")
		} else if b.Name != "" {
			keywords = append(keywords, b.Name)
		}
	}
	l.add("def", c.Span, append([]string{"class", in.Qualified(c.Name)}, append(keywords, "doc", escapedFact(c.Doc))...)...)
}
