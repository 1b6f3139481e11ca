package synth

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// addResources takes resources and templates into the drive.
func (d *driver) addResources(s *wire.Surface) {
	for _, r := range s.Resources {
		if isTarget(d.resources, r.URI) || len(d.resources) >= maxResources {
			continue
		}
		d.resources = append(d.resources, &target{what: WhatResource, name: r.URI, calls: 1, cover: Coverage{Name: r.URI}})
	}
	for _, t := range s.Templates[:min(len(s.Templates), maxTemplates)] {
		if isTarget(d.resources, t.URITemplate) || len(d.resources) >= maxResources+maxTemplates {
			continue
		}
		tm := parseTemplate(t.URITemplate)
		to := &target{what: WhatResource, name: t.URITemplate, calls: 2, cover: Coverage{Name: t.URITemplate}, expand: tm.expand}
		args := make([]wire.PromptArgument, 0, len(tm.names))
		for _, name := range tm.names {
			args = append(args, wire.PromptArgument{Name: name, Required: true})
		}
		d.generate(to, args)
		d.resources = append(d.resources, to)
	}
}

// addPrompts takes prompts into the drive: once with what is required, once with all.
func (d *driver) addPrompts(s *wire.Surface) {
	for _, p := range s.Prompts {
		if isTarget(d.prompts, p.Name) || len(d.prompts) >= maxPrompts {
			continue
		}
		to := &target{what: WhatPrompt, name: p.Name, calls: 2, cover: Coverage{Name: p.Name}}
		d.generate(to, p.Arguments)
		if len(p.Arguments) == 0 {
			to.calls = 1
		}
		d.prompts = append(d.prompts, to)
	}
}

// isTarget reports whether a list has a target of this name.
func isTarget(list []*target, name string) bool {
	return slices.ContainsFunc(list, func(t *target) bool { return t.name == name })
}

// maxAgain bounds the resources and the prompts that are read once more at the end.
const maxAgain = 32

// usesAgain reads resources and prompts once more when all calls were made: what came
// up meanwhile, and what may say something else by now.
func (d *driver) usesAgain() {
	for _, list := range [][]*target{d.resources, d.prompts} {
		for i, t := range list {
			for n := max(t.calls-t.cover.Calls, 1); n > 0 && i < maxAgain; n-- {
				if !d.more() {
					return
				}
				if t.cover.Timeouts < maxTimeouts {
					d.call(t, 1)
				}
			}
		}
	}
}

const maxArguments = 100

// generate makes a generator for named strings.
func (d *driver) generate(to *target, args []wire.PromptArgument) {
	type property struct {
		Type        string `json:"type"`
		Description string `json:"description,omitempty"`
		MinLength   int    `json:"minLength"`
	}
	props := map[string]property{}
	required := []string{}
	for _, a := range args[:min(len(args), maxArguments)] {
		if _, twice := props[a.Name]; twice {
			continue
		}
		props[a.Name] = property{Type: "string", Description: a.Description, MinLength: 1}
		if a.Required {
			required = append(required, a.Name)
		}
	}
	raw, err := json.Marshal(map[string]any{"type": "object", "properties": props, "required": required, "additionalProperties": false})
	if err == nil {
		to.gen, err = schema.New(raw, schema.Options{Tool: to.name, Hints: d.cfg.Hints, Object: true})
	}
	if err != nil {
		to.cover.Problem = err.Error()
	}
}

// template is a URI template (RFC 6570) cut at its expressions.
type template struct {
	parts []part
	names []string
}

// part is literal text, or an expression with its operator and names.
type part struct {
	text     string
	operator byte
	names    []string
}

func parseTemplate(s string) *template {
	t := &template{}
	for s != "" {
		open := strings.IndexByte(s, '{')
		end := -1
		if open >= 0 {
			end = strings.IndexByte(s[open:], '}')
		}
		if open < 0 || end < 0 || len(t.parts) > maxArguments {
			t.parts = append(t.parts, part{text: s})
			break
		}
		if open > 0 {
			t.parts = append(t.parts, part{text: s[:open]})
		}
		t.add(s[open+1 : open+end])
		s = s[open+end+1:]
	}
	return t
}

func (t *template) add(expression string) {
	p := part{operator: ' '}
	if expression != "" && strings.IndexByte("+#./;?&", expression[0]) >= 0 {
		p.operator, expression = expression[0], expression[1:]
	}
	for _, name := range strings.Split(expression, ",") {
		name, _, _ = strings.Cut(strings.TrimSuffix(name, "*"), ":")
		if name != "" && len(t.names) < maxArguments {
			p.names = append(p.names, name)
			t.names = append(t.names, name)
		}
	}
	t.parts = append(t.parts, p)
}

// expand fills the expressions with values by name.
func (t *template) expand(args json.RawMessage) string {
	var values map[string]string
	if json.Unmarshal(args, &values) != nil {
		values = nil
	}
	var b strings.Builder
	for _, p := range t.parts {
		if p.operator == 0 {
			b.WriteString(p.text)
			continue
		}
		first, sep, named := operators(p.operator)
		for i, name := range p.names {
			if i == 0 {
				b.WriteString(first)
			} else {
				b.WriteString(sep)
			}
			v := values[name]
			if strings.HasSuffix(b.String(), "/") {
				v = strings.TrimPrefix(v, "/")
			}
			if p.operator != '+' && p.operator != '#' {
				v = url.PathEscape(v)
			}
			if named {
				v = name + "=" + v
			}
			b.WriteString(v)
		}
	}
	return b.String()
}

func operators(op byte) (first, sep string, named bool) {
	switch op {
	case '#':
		return "#", ",", false
	case '.':
		return ".", ".", false
	case '/':
		return "/", "/", false
	case ';':
		return ";", ";", true
	case '?':
		return "?", "&", true
	case '&':
		return "&", "&", true
	}
	return "", ",", false
}
