package detect

import (
	"bytes"
	"hash/maphash"
	"regexp"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// taint finds what arguments should not hold: delimiters of prompts, and
// characters that nobody sees.
type taint struct{}

func (taint) name() string { return "semantic_taint" }

// delimiters are the reserved spellings with which models' prompts mark roles.
var delimiters = regexp.MustCompile(`(?i)<\|\s*(?:system|assistant|user|im_start|im_end|im_sep|start_header_id|end_header_id|eot_id|begin_of_text|endoftext)\s*\|>` +
	`|\[\s*(?:/\s*)?(?:SYSTEM|INST)\s*\]|<<\s*(?:/\s*)?SYS\s*>>|<\s*(?:start|end)_of_turn\s*>`)

func (taint) event(c *context) {
	if !c.IsCall() || c.own {
		return
	}
	args := c.Args
	if args == nil || bytes.IndexByte(args, '<') < 0 && bytes.IndexByte(args, '[') < 0 && text.Quick(args) {
		return
	}
	found := false
	eachString(args, func(key, s string) {
		if found {
			return
		}
		what, how := taintOf(s)
		if found = what != ""; found {
			c.add(Hallucination, what, 3, []any{"tool", name(c.Asked.Tool)}, "the argument %s of the call of %s holds %s", quoted(key), quoted(c.Asked.Tool), how)
			c.ofTool()
		}
	})
}

// taintOf names what is wrong with one argument. Joiners where a script or an
// emoji needs them are not.
func taintOf(s string) (what, how string) {
	if len(s) > 1<<20 {
		s = s[:1<<20]
	}
	if delimiters.MatchString(s) {
		return "role_switch_delimiter", "a delimiter of a model's prompt"
	}
	for _, h := range text.Scan(s) {
		if h.Rule == text.Hidden && strings.HasPrefix(h.Kind, "zero-width") {
			return "zero_width_obfuscation", "characters of no width"
		}
		if h.Rule == text.Hidden && h.Kind == "tag character" {
			return "zero_width_obfuscation", "characters of text that is not shown"
		}
	}
	return "", ""
}

// declarations finds text in what the server declares that is not for the user.
type declarations struct {
	seed maphash.Seed
	seen map[uint64]bool
}

func (*declarations) name() string { return "declared_text" }

// declaring are the methods whose answers a model or a user reads as declarations.
var declaring = map[string]bool{"initialize": true, "server/discover": true, "tools/list": true, "resources/list": true, "resources/templates/list": true, "prompts/list": true}

// maxSeen bounds the declarations that are remembered as looked at.
const maxSeen = 1 << 16

func (d *declarations) event(c *context) {
	if c.Kind != wire.Response || !c.FromServer() || !declaring[c.Method] || c.Result == nil || text.Quick(c.Result) {
		return
	}
	if d.seen == nil {
		d.seed, d.seen = maphash.MakeSeed(), map[uint64]bool{}
	}
	whole := true
	wire.Walk(c.Result, func(key, value []byte) {
		switch string(key) {
		case "tools", "resources", "resourceTemplates", "prompts":
			whole = false
			wire.WalkArray(value, func(_ int, v []byte) { d.entry(c, strings.TrimSuffix(string(key), "s"), v) })
		}
	})
	if whole {
		d.entry(c, "server", c.Result)
	}
}

// entry looks at one declaration, once.
func (d *declarations) entry(c *context, what string, v []byte) {
	h := maphash.Bytes(d.seed, v)
	if d.seen[h] || len(d.seen) >= maxSeen {
		return
	}
	d.seen[h] = true
	if text.Quick(v) {
		return
	}
	owner := "the server"
	extra := []any{}
	if raw, ok := wire.Member(v, "name"); ok && what != "server" {
		s, _ := wire.Text(raw)
		owner = "the " + what + " " + quoted(s)
		extra = append(extra, what, name(s))
	}
	told := map[string]bool{}
	look := func(place, s string) {
		for _, hit := range text.Scan(s) {
			sub, severity, how := "tool_poisoning", 3, "speaks to the model behind the user's back"
			if hit.Rule == text.Hidden {
				sub, severity, how = "hidden_text", 2, "holds characters that a reader cannot see"
				if hit.Kind == "tag character" {
					severity = 3
				}
			}
			if told[sub+place] {
				continue
			}
			told[sub+place] = true
			c.add(Divergence, sub, severity, append([]any{"place", name(place)}, extra...), "%s: its %s %s: %s", owner, name(place), how, hit.Text)
		}
	}
	var walk func(place string, v []byte)
	walk = func(place string, v []byte) {
		switch v[0] {
		case '"':
			if s, ok := wire.Text(v); ok {
				look(place, s)
			}
		case '{':
			wire.Walk(v, func(k, v []byte) {
				if place == "" {
					walk(string(k), v)
					return
				}
				// Names of properties are read as well.
				look(place, string(k))
				walk(place, v)
			})
		case '[':
			wire.WalkArray(v, func(_ int, v []byte) { walk(place, v) })
		}
	}
	walk("", bytes.TrimSpace(v))
}

// results finds text in results that speaks to the model, or that is not shown.
type results struct{}

func (*results) name() string { return "result_text" }

// longRun is how many unseen characters in a row are more than an accident of typesetting.
const longRun = 16

func (*results) event(c *context) {
	answers := c.Kind == wire.Response && c.FromServer() && c.Asked != nil
	if !answers || c.Method != wire.MethodCall && c.Method != "resources/read" && c.Method != "prompts/get" {
		return
	}
	body := c.Result
	if body == nil {
		body = c.Fault
	}
	if body == nil || text.Quick(body) {
		return
	}
	whose := "the answer to " + name(c.Method)
	extra := []any{}
	if c.Asked.Tool != "" {
		whose = "the result of " + quoted(c.Asked.Tool)
		extra = append(extra, "tool", name(c.Asked.Tool))
	}
	// Of each kind the worst place stands for all.
	type worst struct {
		severity  int
		how, text string
	}
	var order []string
	of := map[string]worst{}
	eachString(body, func(key, s string) {
		if key == "data" || key == "blob" {
			return // not text
		}
		for _, h := range text.Scan(s) {
			sub, severity, how := judgeResult(h)
			if sub == "" || c.sent.hasText(h.Rule) || severity <= of[sub].severity {
				continue
			}
			if of[sub].severity == 0 {
				order = append(order, sub)
			}
			of[sub] = worst{severity, how, h.Text}
		}
	})
	for _, sub := range order {
		c.add(Divergence, sub, of[sub].severity, extra, "%s %s: %s", whose, of[sub].how, of[sub].text)
	}
}

// judgeResult weighs a place in a result. What a server passes on from the world
// holds colours, soft breaks and joiners; letters that only a model sees it holds not.
func judgeResult(h text.Hit) (sub string, severity int, how string) {
	switch {
	case h.Rule == text.Poisoning && strings.HasPrefix(h.Text, "in tag characters"):
		return "hidden_text_in_result", 3, "holds orders in characters that only a model reads"
	case h.Rule == text.Poisoning:
		return "poisoned_result", 2, "speaks to the model behind the user's back"
	case h.Kind == "tag character":
		return "hidden_text_in_result", 2, "holds text in characters that only a model reads"
	case h.Kind == "bidirectional control" && h.N == 1 && strings.Contains(h.Text, "U+202E"), h.N >= longRun && h.Kind != "terminal escape" && h.Kind != "control character":
		return "hidden_text_in_result", 1, "holds characters that hide or turn text around"
	}
	return "", 0, ""
}
