package taint

import (
	"regexp"
	"slices"
	"strings"
)

// statementWords tell a statement of SQL.
var statementWords = regexp.MustCompile(`(?i)\b(?:select\b[\s\S]*\bfrom|insert\s+into|update\b[\s\S]*\bset|delete\s+from|drop\s+(?:table|view|database|index|schema)|alter\s+table|create\s+(?:table|view|index|database|schema|user)|where\b|order\s+by|pragma\s|truncate\s+table|describe\s|explain\s|show\s+(?:tables|columns|create)|from\s+|group\s+by|limit\s|values\s*\()`)

// schemePrefix is the beginning of a URL.
var schemePrefix = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// scheme is the beginning of a URL without its slashes too: "file:".
var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:(?://)?$`)

// The marks of parts in the text before another part: one that is not known, and one
// that is tainted itself.
const unknownPart, taintedPart = "\x00", "\x01"

// sum is a + b: a longer text, and in Python a longer list where one of them is a list.
func (f *frame) sum(parts []*value) *value {
	if f.src.Language != "Python" || !slices.ContainsFunc(parts, func(p *value) bool { return p.list }) {
		return f.concat(parts)
	}
	out := &value{list: true}
	for _, p := range parts {
		out.spread(p)
	}
	return out
}

// commandLine are the words of a command line: those that it is known to begin with, and the rest.
func commandLine(v *value) *value {
	out := &value{list: true}
	words := strings.Fields(v.text)
	if !v.known && len(words) > 0 && !strings.HasSuffix(v.text, " ") {
		words = words[:len(words)-1] // what follows may belong to it
	}
	for _, w := range words {
		out.items = append(out.items, constant(w))
	}
	if !v.known {
		out.items = append(out.items, v.plain().with(func(t *taint) {
			if t.safe&command == 0 { // not quoted: it may become several words
				t.safe &^= argument
			}
		}))
	}
	return out
}

// concat is a text that is made of parts.
func (f *frame) concat(parts []*value) *value {
	if len(parts) == 1 {
		return parts[0]
	}
	out := &value{known: true}
	var before strings.Builder
	var constants strings.Builder
	filled := 0
	for _, p := range parts {
		if p.text != "" || p.tainted() || !p.known {
			filled++
		}
		if p.known {
			constants.WriteString(p.text)
		} else {
			constants.WriteByte(' ')
		}
	}
	isSQL := statementWords.MatchString(constants.String()) || slices.ContainsFunc(parts, func(p *value) bool {
		return slices.ContainsFunc(p.taints, func(t taint) bool { return t.sql })
	})
	for _, p := range parts {
		taints := p.flat()
		for _, t := range taints {
			t = inText(t, before.String(), filled > 1).within(p)
			t.sql = t.sql || isSQL
			out.taints = addTaints(out.taints, []taint{t})
		}
		out.known = out.known && p.known
		switch {
		case len(taints) > 0 && p.text != "" && !p.known: // begins with a constant
			before.WriteString(p.text + taintedPart)
		case len(taints) > 0:
			before.WriteString(taintedPart)
		case p.known:
			before.WriteString(p.text)
		default:
			before.WriteString(p.text + unknownPart)
		}
	}
	last := parts[len(parts)-1]
	out.end = last.ending()
	out.text = before.String()
	if i := strings.IndexAny(out.text, unknownPart+taintedPart); i >= 0 {
		out.text = out.text[:i]
	}
	return out
}

// inText is a taint within a longer text, behind what stands before it.
func inText(t taint, before string, embedded bool) taint {
	t.embedded = t.embedded || embedded
	if embedded {
		t.safe |= selector
	}
	if before == "" {
		return t
	}
	t.safe |= argument | selector
	rest := schemePrefix.ReplaceAllString(before, "")
	hasScheme := rest != before
	if strings.ContainsAny(rest, "/?#"+unknownPart) || !hasScheme && !strings.HasPrefix(before, taintedPart) {
		t.safe |= request
	}
	if strings.HasPrefix(before, taintedPart) {
		return t // behind what the caller chose itself
	}
	t.safe |= noRoot
	if strings.ContainsAny(before, "/\\"+unknownPart) {
		t.joined = true
		if t.safe&noDots != 0 {
			t.safe |= pathname
		}
	}
	return t
}

// formatted is a template of texts with values in it.
func (f *frame) formatted(format *value, values []*value) *value {
	parts := []*value{}
	rest := format.text
	if !format.known {
		parts = append(parts, format)
	}
	if len(values) == 1 && values[0].list {
		values = values[0].items
	} else if len(values) == 1 && len(values[0].fields) > 0 {
		values = []*value{values[0].plain()}
	}
	for _, v := range values {
		at := verb.FindStringIndex(rest)
		if at == nil {
			break
		}
		parts = append(parts, constant(rest[:at[0]]))
		if rest[at[0]:at[1]][0] == '%' && strings.ContainsAny(rest[at[1]-1:at[1]], "dfxXeEgGicbo") {
			v = nothing // a number
		}
		parts = append(parts, v.plain())
		rest = rest[at[1]:]
	}
	if at := verb.FindStringIndex(rest); at != nil && len(values) == 1 && len(parts) > 0 {
		rest = verb.ReplaceAllString(rest, " ") // by name, or the same again
	}
	return f.concat(append(parts, constant(rest)))
}

// verb is a place in a format: %s, %(name)s, {}, {0}, {name!r:>3}.
var verb = regexp.MustCompile(`%(?:\([^)]*\))?[-+ #0-9.*\[\]]*[A-Za-z]|\{[^{}]*\}`)
