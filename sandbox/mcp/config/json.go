package config

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// readJSON reads JSON with comments and trailing commas.
func (p *parser) readJSON(data []byte) *node {
	if offset, deep := tooDeep(data); deep {
		p.fault(&position{offset: offset}, "nests deeper than %d levels", maxDepth)
		return nil
	}
	v, err := hujson.Parse(data)
	if err != nil {
		p.syntaxJSON(err)
		return nil
	}
	return fromJSON(v)
}

var hujsonError = regexp.MustCompile(`(?s)^hujson: line (\d+), column (\d+): (.*)$`)

// syntaxJSON records a syntax error at its place. Its text can hold a whole
// literal of the file, which may be a key.
func (p *parser) syntaxJSON(err error) {
	m := hujsonError.FindStringSubmatch(err.Error())
	if m == nil {
		p.fault(nil, "is not JSON")
		return
	}
	line, _ := strconv.Atoi(m[1])
	column, _ := strconv.Atoi(m[2])
	what := m[3]
	if what, _, _ = strings.Cut(what, ": "); !strings.HasPrefix(m[3], "invalid literal") {
		what = m[3]
	}
	p.fault(&position{line: line, column: column}, "%s", what)
}

func fromJSON(v hujson.Value) *node {
	n := &node{pos: position{offset: v.StartOffset}}
	switch t := v.Value.(type) {
	case *hujson.Object:
		n.kind = object
		for _, m := range t.Members {
			key, _ := m.Name.Value.(hujson.Literal)
			n.members = append(n.members, member{key.String(), position{offset: m.Name.StartOffset}, fromJSON(m.Value)})
		}
	case *hujson.Array:
		n.kind = array
		for _, e := range t.Elements {
			n.items = append(n.items, fromJSON(e))
		}
	case hujson.Literal:
		switch t.Kind() {
		case '"':
			n.kind = str
		case 'n':
			return n
		default:
			n.kind = scalar
		}
		n.text = t.String()
	}
	return n
}

// tooDeep finds where brackets outside strings and comments nest too deep: the
// parser recurses without a bound.
func tooDeep(data []byte) (offset int, deep bool) {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '/':
			i = skipComment(data, i)
		case '{', '[':
			if depth++; depth > maxDepth {
				return i, true
			}
		case '}', ']':
			depth--
		}
	}
	return 0, false
}

// skipComment returns the offset of the last byte of the comment that starts
// at i, or i if none does.
func skipComment(data []byte, i int) int {
	if i+1 >= len(data) {
		return i
	}
	switch data[i+1] {
	case '/':
		for i < len(data) && data[i] != '\n' {
			i++
		}
	case '*':
		for i += 3; i < len(data) && (data[i] != '/' || data[i-1] != '*'); i++ {
		}
	}
	return i
}
