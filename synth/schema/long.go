package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// leastLong is the length that a text must be allowed for a long one to be tried: shorter ones
	// lie at the bounds that Boundary draws.
	leastLong = 2_000
	// longItems is how many items a long list has.
	longItems = 300
)

// Long are copies of arguments, each with another parameter long: a free text, a list of free
// items, or the path of a long document. Texts come before lists, and what is required before
// what is not.
func (g *Generator) Long(args json.RawMessage, text string) []json.RawMessage {
	v, err := decode(args)
	base, isObject := v.(map[string]any)
	if err != nil || !isObject {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	o := g.shapeOf(g.root, first{}).obj
	if o == nil {
		return nil
	}
	var ranks [4][]json.RawMessage
	for i := range o.props {
		p := &o.props[i]
		long, isText := g.long(p, base[p.name], text)
		if long == nil {
			continue
		}
		given := maps.Clone(base)
		given[p.name] = long
		rank := 0
		if !isText {
			rank = 2
		}
		if !p.required {
			rank++
		}
		if g.judge(g.top, given) {
			ranks[rank] = append(ranks[rank], appendJSON(nil, given))
		}
	}
	var out []json.RawMessage
	for _, list := range ranks {
		out = append(out, list...)
	}
	return out
}

// long is a long value of a parameter, nil where none makes sense; have is its present one.
func (g *Generator) long(p *property, have any, text string) (value any, isText bool) {
	if sh := g.shapeOf(p.node, fitting{g, text}); sh.freeText() && sh.str.max >= leastLong {
		return g.longString(p.meaning, sh.str, text), true
	}
	list, _ := have.([]any)
	sh := g.shapeOf(p.node, fitting{g, list})
	if sh.dead || sh.isFixed || sh.types&tArray == 0 || len(sh.arr.prefix) > 0 || sh.arr.maximum < longItems {
		return nil, false
	}
	return longList(g.shapeOf(sh.arr.rest, fitting{g, sentences[0]}), p.meaning, list, text), false
}

// freeText says that any text is allowed, but for its length.
func (sh *shape) freeText() bool {
	return !sh.dead && !sh.isFixed && sh.types&tString != 0 && len(sh.str.patterns)+len(sh.str.formats) == 0
}

// longString is the long text, the path of the long document, or nil where neither has the meaning.
func (g *Generator) longString(m *meaning, t *textual, text string) any {
	switch m.kind {
	case kFile:
		if file := g.opts.Hints.Long; file != "" && !removes(words(g.opts.Tool)) {
			return file
		}
	case kNone, kProse, kMarkdown, kHTML, kXML, kCSS, kCode:
		if rs := []rune(text); len(rs) > t.max {
			return string(rs[:t.max])
		}
		return text
	}
	return nil
}

// longList is a list of many items: lines of the text, or the items that it has, again and again;
// nil where neither makes sense.
func longList(item *shape, m *meaning, have []any, text string) any {
	free := item.freeText() && slices.Contains([]kind{kNone, kProse, kTag, kName, kTitle}, m.kind)
	if free {
		have = nil
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && utf8.RuneCountInString(line) <= item.str.max {
				have = append(have, line)
			}
		}
	}
	if len(have) == 0 || !free && item.types&tString != 0 {
		return nil
	}
	out := make([]any, longItems)
	for i := range out {
		out[i] = have[i%len(have)]
	}
	return out
}
