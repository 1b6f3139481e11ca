package answers

import (
	"encoding/json"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// scope is the code behind an assignment, and the names that hold parts of the answer.
type scope struct {
	text string
	// python says that the code is Python, and not JavaScript.
	python bool
	// bound are the names that were not followed yet, given counts all of them.
	bound []binding
	given int
}

// binding is a name that holds a part of the answer from a place on.
type binding struct {
	name string
	from int
	of   *shape
}

const (
	step = `(?:\.get\(\s*(?:"[\w@:. -]{1,60}"|'[\w@:. -]{1,60}')\s*(?:,[^()\n]{0,60})?\)|\s*\??\.\s*` + identifier + `|\s*(?:\?\.)?\[\s*(?:"[\w@:. -]{1,60}"|'[\w@:. -]{1,60}'|-?\d{1,3}|` + position + `)\s*\])`
	// position is a name that is used for a place in a list.
	position = `(?:[ij]|idx|pos|index|[\w$]{1,40}(?:_index|_idx|Index|Idx))`
	begins   = `\b(?:const|let|var)\s+|\n[ \t]*`
)

var (
	steps    = lazyregexp.New(`^(?:` + step + `)`)
	getting  = lazyregexp.New(`^\.get\(\s*["']([^"']+)["']\s*(?:,\s*([^()\n]{0,60}))?\)$`)
	quoted   = lazyregexp.New(`^\s*(?:\?\.)?\[\s*["']([^"']+)["']\s*\]$`)
	indexed  = lazyregexp.New(`^\s*(?:\?\.)?\[\s*(?:-?\d|` + position + `\s*\])`)
	compared = lazyregexp.New(`^\s*(!==?|===?)\s*("[^"\n]{1,80}"|'[^'\n]{1,80}'|-?\d{1,9}\b|true\b|True\b)`)
	eachOf   = lazyregexp.New(`^\s*\(\s*(?:async\s*)?(?:function\s*)?\(?\s*(` + identifier + `|\{[^{}]{1,300}\})`)
	loopOf   = lazyregexp.New(`(?:\bfor\s*\(\s*(?:const|let|var)\s+(` + identifier + `|\{[^{}]{1,300}\})\s+of\s+|\bfor\s+(` + identifier + `)\s+in\s+)(?:enumerate\()?$`)
	aliasOf  = lazyregexp.New(`(?:` + begins + `)(` + identifier + `|\{[^{}]{1,300}\})\s*(?::[^=\n]{1,80})?=\s*(?:\(?\s*)$`)
	// loopOverEntries names the values of an object's entries.
	loopOverEntries = lazyregexp.New(`\bfor\s+(?:` + identifier + `\s*,\s*)?(` + identifier + `)\s+in\s+$|\bfor\s*\(\s*(?:const|let|var)\s+(?:\[\s*` + identifier + `\s*,\s*)?(` + identifier + `)\s*\]?\s+of\s+Object\.(?:entries|values)\($`)
	// instanceOf is behind a value whose type Python asks for.
	instanceOf = lazyregexp.New(`^\s*,\s*\(?\s*(list|dict|str|int|float)\b`)
	// orNoneOf is behind a value for which an empty list or object stands in, before what is done with either.
	orNoneOf = lazyregexp.New(`^\s*(?::|or|\|\||\?\?)\s*(\[\s*\]|\{\s*\})\s*\)`)
	orList   = lazyregexp.New(`^\s*(?:or|\|\||\?\?)\s*\[`)
)

// instances are the kinds of Python's types.
var instances = map[string]kind{"list": list, "dict": object, "str": text, "int": number, "float": number}

// methods say what a value is by what is called on it.
var methods = map[string]kind{
	"map": list, "forEach": list, "filter": list, "find": list, "some": list, "every": list, "reduce": list, "flatMap": list, "sort": list, "join": list, "push": list,
	"length": list, "toFixed": number, "toPrecision": number, "toLowerCase": text, "toUpperCase": text, "split": text, "trim": text, "replace": text, "substring": text,
	"startsWith": text, "endsWith": text, "padStart": text, "padEnd": text, "charAt": text, "lower": text, "upper": text, "strip": text, "startswith": text, "encode": text,
	"keys": object, "values": object, "items": unknown, "slice": unknown, "toString": unknown, "toLocaleString": unknown, "includes": unknown, "get": unknown, "append": list,
	"then": unknown, "catch": unknown, "json": unknown, "text": unknown, "ok": unknown, "headers": unknown, "hasOwnProperty": object,
}

// bind gives a name, or the names that are taken apart, parts of the answer.
func (s *scope) bind(names string, of *shape) { s.bindAt(names, of, 0) }

func (s *scope) bindAt(names string, of *shape, from int) {
	if of == nil || names == "" || s.given >= maxAliases { // a member that is renamed to nothing has no name
		return
	}
	inner, apart := strings.CutPrefix(names, "{")
	if !apart {
		s.given++
		s.bound = append(s.bound, binding{names, from, of})
		return
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(inner, "}"), ",") {
		part, _, _ = strings.Cut(part, "=")
		member, as, renamed := strings.Cut(part, ":")
		member = strings.TrimSpace(member)
		if !renamed {
			as = member
		}
		if member != "" && !strings.HasPrefix(member, "...") {
			s.bindAt(strings.TrimSpace(as), of.member(member), from)
		}
	}
}

// read follows every name through the text; what it finds may give parts to further names.
func (s *scope) read() {
	for len(s.bound) > 0 {
		b := s.bound[0]
		s.bound = s.bound[1:]
		s.follow(b)
	}
}

// follow finds where a name is used.
func (s *scope) follow(b binding) {
	for at := b.from; ; {
		start, end := nextName(s.text, b.name, at)
		if start < 0 {
			return
		}
		at = end
		s.use(b.of, start, end)
	}
}

// nextName is where a name that is neither a member nor a part of a longer one stands next, from a place on; start is
// negative where it does not.
func nextName(text, name string, at int) (start, end int) {
	for at < len(text) {
		i := strings.Index(text[at:], name)
		if i < 0 {
			break
		}
		start, end = at+i, at+i+len(name)
		at = end
		if (start == 0 || text[start-1] != '.' && !inName(text[start-1])) && (end == len(text) || !inName(text[end])) {
			return start, end
		}
	}
	return -1, -1
}

// inName reports whether a byte may be of a name.
func inName(b byte) bool {
	return b == '_' || b == '$' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}

// use reads the chain of members behind a name.
func (s *scope) use(of *shape, start, end int) {
	for of != nil {
		m := steps.FindStringIndex(s.text[end:min(len(s.text), end+200)])
		if m == nil {
			break
		}
		one := s.text[end : end+m[1]]
		end += m[1]
		switch {
		case getting.MatchString(one):
			g := getting.FindStringSubmatch(one)
			of = of.member(g[1])
			of.is(kindOf(g[2]))
		case quoted.MatchString(one):
			of = of.member(quoted.FindStringSubmatch(one)[1])
		case indexed.MatchString(one):
			of = of.of()
		default:
			name := strings.Trim(one, " \t\r\n?.")
			if s.python && (name == "items" || name == "values") && strings.HasPrefix(s.text[end:], "()") {
				s.entries(of, start)
				return
			}
			if k, ok := methods[name]; ok && (name != "items" || strings.HasPrefix(s.text[end:], "(")) {
				s.method(of, k, end)
				return
			}
			if strings.HasPrefix(s.text[end:], "(") {
				return // a method of its own
			}
			of = of.member(name)
		}
	}
	if of != nil {
		s.end(of, start, end)
	}
}

// entryName is that of an entry of an object whose names are not known.
const entryName = "main"

// entries gives the value of an object's entries the name that a loop over them has.
func (s *scope) entries(of *shape, start int) {
	of.is(object)
	if m := loopOverEntries.FindStringSubmatch(s.text[max(0, start-320):start]); m != nil && (of.kind == object || of.kind == unknown) {
		s.bindAt(m[1]+m[2], of.member(entryName), strings.LastIndexByte(s.text[:start], '\n')+1)
	}
}

// method notes what a method says of the value, and gives a list's elements their name.
func (s *scope) method(of *shape, k kind, end int) {
	of.is(k)
	if k != list || of.kind != list {
		return
	}
	if m := eachOf.FindStringSubmatch(s.text[end:min(len(s.text), end+400)]); m != nil {
		s.bindAt(m[1], of.of(), end)
	}
}

// end looks at what is done with the value that a chain leads to.
func (s *scope) end(of *shape, start, end int) {
	before, after := s.text[max(0, start-320):start], s.text[end:min(len(s.text), end+100)]
	if orList.MatchString(after) || strings.HasSuffix(before, "Array.isArray(") {
		of.is(list)
	}
	if strings.HasSuffix(before, "Object.entries(") || strings.HasSuffix(before, "Object.values(") {
		s.entries(of, start)
		return
	}
	if strings.HasSuffix(before, "isinstance(") {
		if m := instanceOf.FindStringSubmatch(after); m != nil {
			of.is(instances[m[1]])
		}
		return
	}
	if m := orNoneOf.FindStringSubmatchIndex(after); m != nil {
		of.is(kindOf(after[m[2]:m[3]]))
		s.use(of, start, end+m[1])
		return
	}
	if run := s.runOf(before); run != "" {
		of.runs = run
	}
	if m := compared.FindStringSubmatch(after); m != nil {
		if of.value == nil && (m[1][0] == '!' || of.kind == unknown && fine(m[2])) {
			of.value = literal(m[2])
		}
		return
	}
	if strings.HasSuffix(before, "of ") || strings.HasSuffix(before, "in ") || strings.HasSuffix(before, "enumerate(") {
		if m := loopOf.FindStringSubmatch(before); m != nil {
			// A comprehension uses the name before it.
			s.bindAt(m[1]+m[2], of.of(), strings.LastIndexByte(s.text[:start], '\n')+1)
		}
		return
	}
	if !strings.ContainsRune(before[max(0, len(before)-6):], '=') {
		return
	}
	if m := aliasOf.FindStringSubmatch(before); m != nil {
		s.bindAt(m[1], of, end)
	}
}

// kindOf is the kind of a default value.
func kindOf(s string) kind {
	switch s = strings.TrimSpace(s); {
	case strings.HasPrefix(s, "["):
		return list
	case strings.HasPrefix(s, "{"):
		return object
	case s != "" && s[0] >= '0' && s[0] <= '9':
		return number
	case strings.HasPrefix(s, `"`), strings.HasPrefix(s, "'"):
		return text
	}
	return unknown
}

// fine says that a value that is compared with is that of an answer without a fault.
func fine(value string) bool {
	switch strings.ToLower(strings.Trim(value, `"'`)) {
	case "ok", "success", "succeeded", "true", "200", "completed", "complete", "done", "finished", "ready", "active":
		return true
	}
	return false
}

// literal is a value of the source as JSON.
func literal(s string) json.RawMessage {
	if s[0] == '"' || s[0] == '\'' {
		out, err := json.Marshal(s[1 : len(s)-1])
		if err != nil {
			return nil
		}
		return out
	}
	return json.RawMessage(strings.ToLower(s))
}
