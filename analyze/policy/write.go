package policy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// Marshal writes the policy as a file that Parse reads as the same policy. Its
// texts may be a server's: each is quoted where YAML could read it as anything else.
func (p *Policy) Marshal() []byte {
	w := &writer{}
	w.line(0, "schema: %s", Schema)
	if s := p.Server; !s.Allow.empty() || !s.Deny.empty() {
		w.line(0, "server:")
		w.entry(1, s)
	}
	if len(p.Tools) > 0 {
		w.line(0, "tools:")
		for _, name := range slices.Sorted(maps.Keys(p.Tools)) {
			w.line(1, "%s:", quote(name))
			w.entry(2, p.Tools[name])
		}
	}
	if len(p.Environment) > 0 {
		w.line(0, "environment:")
		for _, name := range slices.Sorted(maps.Keys(p.Environment)) {
			w.line(1, "%s: %s", quote(name), quoteAlways(p.Environment[name]))
		}
	}
	if len(p.Services) > 0 {
		w.list(0, "services", p.Services)
	}
	if len(p.Defaults) > 0 {
		w.line(0, "defaults:")
		for _, d := range p.Defaults {
			var values []string
			for _, v := range d.Values {
				values = append(values, quoteAlways(v))
			}
			w.line(1, "%s: [%s]", d.Flag, strings.Join(values, ", "))
		}
	}
	if len(p.AcceptOpaque) > 0 {
		w.list(0, "accept_opaque", p.AcceptOpaque)
	}
	if len(p.Rules) > 0 {
		w.line(0, "rules:")
	}
	for _, e := range p.Rules {
		if e.Node != nil {
			w.line(1, "- %s", flow(e.Node))
		} else {
			w.line(1, "- %s", quote(e.File))
		}
	}
	if len(p.AcceptUnrun) > 0 {
		w.line(0, "accept_unrun:")
	}
	for _, a := range p.AcceptUnrun {
		w.line(1, "- function: %s", quote(a.Function))
		w.line(2, "reason: %s", quote(a.Reason))
		w.line(2, "expires: %q", day(a.Expires))
	}
	if len(p.AcceptGaps) > 0 {
		w.line(0, "accept_gaps:")
	}
	for _, a := range p.AcceptGaps {
		if a.Note != "" {
			w.line(1, "# %s", comment(a.Note))
		}
		w.line(1, "- code: %s", quote(string(a.Code)))
		if a.Tool != "" {
			w.line(2, "tool: %s", quote(a.Tool))
		}
		w.line(2, "reason: %s", quote(a.Reason))
		w.line(2, "expires: %q", a.Until())
	}
	if len(p.Suppress) > 0 {
		w.line(0, "suppress:")
	}
	for _, s := range p.Suppress {
		if s.Note != "" {
			w.line(1, "# %s", comment(s.Note))
		}
		w.line(1, "- fingerprint: %q", s.Fingerprint)
		w.line(2, "reason: %s", quote(s.Reason))
		w.line(2, "owner: %s", quote(s.Owner))
		w.line(2, "expires: %q", day(s.Expires))
	}
	return []byte(w.b.String())
}

// empty reports that no list was given.
func (l Lists) empty() bool {
	return l.Files == nil && l.Hosts == nil && l.Commands == nil && l.Env == nil
}

type writer struct{ b strings.Builder }

func (w *writer) line(depth int, format string, a ...any) {
	w.b.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(&w.b, format+"\n", a...)
}

func (w *writer) entry(depth int, e Entry) {
	w.lists(depth, "allow", e.Allow)
	w.lists(depth, "deny", e.Deny)
	if len(e.Arguments) > 0 {
		w.line(depth, "arguments:")
		for _, name := range slices.Sorted(maps.Keys(e.Arguments)) {
			w.line(depth+1, "%s: %s", quote(name), quote(e.Arguments[name].Expression))
		}
	}
	if e.Allow.empty() && e.Deny.empty() && len(e.Arguments) == 0 {
		w.line(depth, "allow: {}")
	}
}

func (w *writer) lists(depth int, name string, l Lists) {
	if l.empty() {
		return
	}
	w.line(depth, "%s:", name)
	w.list(depth+1, "files", l.Files)
	w.list(depth+1, "hosts", l.Hosts)
	w.list(depth+1, "commands", l.Commands)
	w.list(depth+1, "env", l.Env)
}

func (w *writer) list(depth int, name string, l List) {
	switch {
	case l == nil:
		return
	case len(l) == 0:
		w.line(depth, "%s: []", name)
		return
	}
	w.line(depth, "%s:", name)
	for _, it := range l {
		note := ""
		if it.Note != "" {
			note = "  # " + comment(it.Note)
		}
		w.line(depth+1, "- %s%s", quote(it.Text), note)
	}
}

// bare is a text that YAML reads as nothing but itself.
var bare = regexp.MustCompile(`^[A-Za-z/~$][A-Za-z0-9/_.$~-]*$`)

// words of YAML that are no text.
var notText = regexp.MustCompile(`(?i)^(?:true|false|null|yes|no|on|off|y|n|~)$`)

// quoteAlways is quote for a value that may be empty.
func quoteAlways(s string) string {
	if s == "" {
		return `""`
	}
	return quote(s)
}

// quote writes a text in double quotes unless it is harmless bare.
func quote(s string) string {
	if bare.MatchString(s) && !notText.MatchString(s) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// flow writes a plain node in one line.
func flow(n *yaml.Node) string {
	var parts []string
	switch {
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, quoteAlways(n.Content[i].Value)+": "+flow(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			parts = append(parts, flow(c))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case n.ShortTag() != "!!str" && literal.MatchString(n.Value):
		return n.Value
	}
	return quoteAlways(n.Value)
}

// literal is a number or a word that YAML reads as itself in every style.
var literal = regexp.MustCompile(`^(?:true|false|null|-?[0-9]+(?:\.[0-9]+)?)$`)

// comment is a text that does not leave its line.
func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}
