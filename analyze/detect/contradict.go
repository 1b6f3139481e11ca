package detect

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// contradictions finds results whose structured content says something else than their text. MCP
// wants the same in both: a person reads one, and a program takes the other.
type contradictions struct{}

func (contradictions) name() string { return "contradicting_result" }

// The bounds of what is compared: a result, and its values.
const (
	maxComparedLen = 1 << 20
	maxLeaves      = 4000
	maxDepth       = 32
	maxTold        = 3
)

func (contradictions) event(c *context) {
	if c.IsCallResult() && len(c.Result) <= maxComparedLen && wire.IndexName(c.Result, "structuredContent") >= 0 {
		compareSides(c)
	}
}

// compareSides compares the two sides of one result.
func compareSides(c *context) {
	var texts []string
	var structured json.RawMessage
	wire.Walk(c.Result, func(key, value []byte) {
		switch string(key) {
		case "structuredContent":
			structured = value
		case "content":
			texts = contentTexts(value)
		}
	})
	if len(texts) == 0 || len(structured) == 0 || structured[0] == 'n' {
		return
	}
	r := newReply(texts, structured, c.given)
	told := map[string]bool{}
	for _, x := range slices.Concat(r.byPlace(), r.byIdentifier(), r.byLabel()) {
		if told[x.key] || len(told) >= maxTold {
			continue
		}
		told[x.key] = true
		c.add(Divergence, "contradicting_result", x.severity, []any{"tool", name(c.Asked.Tool), "place", name(x.key)},
			"the result of %s has %s in structuredContent, under %s, where its text has %s", quoted(c.Asked.Tool), x.structured, quoted(x.key), x.text)
		c.identify("the text and the structuredContent of %s differ", quoted(c.Asked.Tool))
		c.ofTool()
	}
}

// contentTexts are the texts of a result's content, those of embedded resources and the
// addresses of links among them.
func contentTexts(content []byte) (out []string) {
	wire.WalkArray(content, func(_ int, item []byte) {
		wire.Walk(item, func(key, value []byte) {
			switch string(key) {
			case "text", "uri":
				if s, ok := wire.Text(value); ok {
					out = append(out, s)
				}
			case "resource":
				for _, member := range []string{"text", "uri"} {
					if v, ok := wire.Member(value, member); ok {
						if s, ok := wire.Text(v); ok {
							out = append(out, s)
						}
					}
				}
			}
		})
	})
	return out
}

// contradiction is one difference: key is where it stands in the structured content.
type contradiction struct {
	key, text, structured string
	severity              int
}

// leaf is a scalar of a JSON value, and where it stands: keys, and "#3" for an index.
type leaf struct {
	path  []string
	value any // string, json.Number, bool or nil
}

// key is the name under which a leaf stands.
func (l *leaf) key() string {
	for _, p := range slices.Backward(l.path) {
		if !strings.HasPrefix(p, "#") {
			return p
		}
	}
	return ""
}

// text is the value as a text.
func (l *leaf) text() string {
	if l.value == nil {
		return ""
	}
	return fmt.Sprint(l.value)
}

// leaves are the scalars of a value in the order of their places, and lengths those of its arrays.
func leaves(v any) (out []leaf, lengths map[string]int) {
	lengths = map[string]int{}
	var walk func(v any, path []string)
	walk = func(v any, path []string) {
		if len(out) >= maxLeaves || len(path) > maxDepth {
			return
		}
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(v[k], append(slices.Clip(path), k))
			}
		case []any:
			lengths[joined(path)] = len(v)
			for i, e := range v {
				walk(e, append(slices.Clip(path), fmt.Sprintf("#%d", i)))
			}
		default:
			out = append(out, leaf{path, v})
		}
	}
	walk(v, nil)
	return out, lengths
}

func joined(path []string) string { return strings.Join(path, "\x00") }

// decoded reads a whole JSON value; numbers keep their digits.
func decoded(s string) (v any, ok bool) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil, false
	}
	return v, len(strings.TrimSpace(s[d.InputOffset():])) == 0
}

// reply is a result with both its sides.
type reply struct {
	structured any
	leaves     []leaf
	// parsed are the texts that are JSON, and plain the others.
	parsed []any
	plain  []string
	// shown is all of the text, taken all of the structured content, and given what the call
	// gave: each in lower case, and packed without what formatting adds.
	shown, taken, given sides
}

// sides are two forms of a text.
type sides struct{ lower, packed string }

func sidesOf(s string) sides { return sides{strings.ToLower(s), packed(s)} }

// holds reports whether a value stands there, however it is formatted.
func (s *sides) holds(value string) bool {
	p := packed(value)
	return p != "" && strings.Contains(s.packed, p)
}

func newReply(texts []string, structured, args []byte) *reply {
	r := &reply{shown: sidesOf(strings.Join(texts, "\n")), given: sidesOf(joinStrings(args))}
	r.structured, _ = decoded(string(structured))
	r.leaves, _ = leaves(r.structured)
	var all strings.Builder
	for i := range r.leaves {
		all.WriteString(r.leaves[i].text() + "\n")
	}
	r.taken = sidesOf(all.String())
	for _, s := range texts {
		if t := strings.TrimSpace(s); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
			if v, ok := decoded(t); ok {
				r.parsed = append(r.parsed, v)
				continue
			}
		}
		r.plain = append(r.plain, s)
	}
	return r
}

// joinStrings are the strings of arguments and their raw form, which has the numbers.
func joinStrings(args []byte) string {
	var b strings.Builder
	b.Write(args)
	eachString(args, func(_, s string) { b.WriteString("\n" + s) })
	return b.String()
}
